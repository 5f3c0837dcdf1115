// The text of slurm.conf and of the files it includes: settings found as Slurm finds them, and changed so
// that every other byte, comments too, stays as it is. Pure.
#pragma once

#include "base/expected.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart::enable {

struct TextFile {
    std::string path;
    std::string text;
    bool operator==(const TextFile&) const = default;
};

// A changed setting, for display.
struct SettingChange {
    std::string file, key;
    std::string before, after; // empty: the setting did not exist, or no longer exists
    bool operator==(const SettingChange&) const = default;
};

class SlurmText {
public:
    // `files`: slurm.conf itself first.
    explicit SlurmText(std::vector<TextFile> files) : files_(std::move(files)) {}

    const std::vector<TextFile>& files() const { return files_; }

    // The value that Slurm uses, the last one; none when no file sets it. Keys are compared without case,
    // quotes are removed.
    std::optional<std::string> value(std::string_view key) const;
    // Every value of a key that may be repeated, such as SlurmctldHost, in order.
    std::vector<std::string> values(std::string_view key) const;

    // Sets the value, or removes the setting when `value` is empty. A new setting gets its own line in
    // slurm.conf, before the nodes. None: no change needed. Errors (Code::unfit): the setting is at several
    // places, continues on a second line, or its line is so complex that others would change with it.
    base::Expected<std::optional<SettingChange>> set(std::string_view key, const std::string& value);

private:
    std::vector<TextFile> files_;
};

// The names after "Include" in a text, as written.
std::vector<std::string> includes(std::string_view text);

// The settings of each line that begins with a key such as NodeName: pairs of key and value, in their order.
using LineSettings = std::vector<std::pair<std::string, std::string>>;
std::vector<LineSettings> lines_of(const std::vector<TextFile>& files, std::string_view first_key);

} // namespace restart::enable
