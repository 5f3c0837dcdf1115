#include "restart/wire/slurm_user.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <strings.h>

namespace restart {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest = 16 << 20;
constexpr int most_depth = 8; // of files that include each other

constexpr std::string_view blanks = " \t\r";

bool same_word(std::string_view a, std::string_view b) {
    return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// Removes the next word: up to a blank, or to '=' with the blanks around it; a value may be in quotes.
std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.starts_with('"')) {
        line.remove_prefix(1);
        const auto end = std::min(line.find('"'), line.size());
        const auto word = line.substr(0, end);
        line.remove_prefix(std::min(end + 1, line.size()));
        return word;
    }
    const auto end = std::min(line.find_first_of(" \t\r="), line.size());
    const auto word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
}

bool take_equals(std::string_view& line) {
    const auto at = std::min(line.find_first_not_of(blanks), line.size());
    if (at == line.size() || line[at] != '=') return false;
    line.remove_prefix(at + 1);
    return true;
}

class Reading {
public:
    bool read(const fs::path& file, int depth) {
        const auto text = base::read_file(file, largest);
        if (!text) return false;
        std::string line;
        for (std::string_view rest = *text; !rest.empty();) {
            const auto end = std::min(rest.find('\n'), rest.size());
            line += rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            if (line.ends_with('\\') && !rest.empty()) {
                line.pop_back();
                continue;
            }
            take(std::string_view(line).substr(0, line.find('#')), file, depth);
            line.clear();
        }
        return true;
    }
    const std::string& user() const { return user_; }

private:
    // As in Slurm: several on a line, the last of all counts.
    void take(std::string_view line, const fs::path& file, int depth) {
        for (bool first = true;; first = false) {
            const auto key = take_word(line);
            if (key.empty()) { // the end, or not a key
                if (!take_equals(line)) return;
                continue;
            }
            if (!take_equals(line)) {
                if (!first || !same_word(key, "include") || depth == most_depth) continue;
                read(file.parent_path() / take_word(line), depth + 1);
                return;
            }
            line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
            const bool quoted = line.starts_with('"');
            const auto value =
                quoted ? take_word(line) : line.substr(0, std::min(line.find_first_of(blanks), line.size()));
            if (!quoted) line.remove_prefix(value.size());
            if (same_word(key, "SlurmUser") && !value.empty()) user_ = value;
        }
    }

    std::string user_ = "root";
};

} // namespace

std::optional<std::string> slurm_user_in(const fs::path& conf) {
    Reading reading;
    if (!reading.read(conf, 0)) return {};
    return reading.user();
}

std::optional<std::string> known_slurm_user() {
    const char* named = std::getenv("SLURM_CONF");
    for (const fs::path conf :
         {named == nullptr ? "" : named, "/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"})
        if (!conf.empty())
            if (auto user = slurm_user_in(conf)) return user;
    return {};
}

std::string slurm_user() {
    return known_slurm_user().value_or("slurm");
}

} // namespace restart
