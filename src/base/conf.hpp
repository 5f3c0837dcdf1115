// railyard.conf(5): TOML, checked whole against the key table (keys.hpp) before anything is used.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/keys.hpp"
#include "base/may_be_valueless.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace base {

// A checked configuration: every key has a value, its own or the default. Copy it, swap it whole at reload.
class Conf {
public:
    // All defaults.
    Conf();

    // Errors (Code::input) say "FILE:LINE: …" for text that is not TOML, unknown tables and keys (with the
    // nearest known name), values of the wrong type and bad units; Code::io when the file cannot be read.
    static Expected<Conf> from_file(const std::filesystem::path& path);
    static Expected<Conf> from_text(std::string_view text, std::string_view file_name);

    // Asking for a key that is not in the table, or as another type, is a bug and aborts.
    const std::string& text(std::string_view table, std::string_view name) const;
    bool boolean(std::string_view table, std::string_view name) const;
    std::uint64_t count(std::string_view table, std::string_view name) const;
    double number(std::string_view table, std::string_view name) const;
    Duration duration(std::string_view table, std::string_view name) const;
    const std::vector<std::string>& text_list(std::string_view table, std::string_view name) const;

    // The file these values came from; empty for defaults.
    const std::filesystem::path& file() const { return file_; }

    // Every key with its value and, as comments, its meaning: a file that from_text reads back.
    std::string print() const;

private:
    friend struct ConfReader;
    struct Empty {};
    explicit Conf(Empty) {}
    using Value = std::variant<std::string, bool, std::uint64_t, double, Duration, std::vector<std::string>,
                               MayBeValueless>;
    const Value& get(std::string_view table, std::string_view name, KeyType type) const;

    std::map<std::string, Value, std::less<>> values_; // by "table.name"
    std::filesystem::path file_;
};

// The file to read: `option` if not empty, else $RAILYARD_CONF, else SYSCONFDIR/railyard/railyard.conf.
std::filesystem::path conf_path(const std::string& option);

// Reads it. The last may be absent (all defaults); a file that was named must exist.
Expected<Conf> load_conf(const std::string& option);

} // namespace base
