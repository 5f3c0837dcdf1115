// Small kernel files (sysfs, /proc): one line or number per file, generated at each read.
#pragma once

#include "base/unique_fd.hpp"

#include <cstdint>
#include <dirent.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace probe {

// Opens for reading; empty if it cannot be opened.
base::UniqueFd open_file(const std::filesystem::path& path);

// The first line of the file, at most 128 bytes; none if it is empty or cannot be read (ENODEV: its device is
// gone).
std::optional<std::string> first_line(int fd);
std::optional<std::string> first_line(const std::filesystem::path& path);

// At most `most` bytes of the file; empty when it cannot be read.
std::string start_of(const std::filesystem::path& path, std::size_t most);

// The whole text as an unsigned number; none if it is anything else.
std::optional<std::uint64_t> whole_number(std::string_view text);

// The names in a directory, in natural order; none when it cannot be read.
std::vector<std::string> entries(const std::filesystem::path& directory);

// A directory that is listed repeatedly. It is kept open, and a look allocates nothing if nothing has
// changed. sysfs reports no changes: neither by the directory's mtime nor by inotify.
class KeptFolder {
public:
    explicit KeptFolder(std::filesystem::path path) : path_(std::move(path)) {}

    // Lists it; whether the names have changed since the last look. A directory that is gone or unreadable
    // has none; one created again at its path is found.
    bool look();
    // In natural order, as of the last look; none before the first.
    const std::vector<std::string>& names() const { return names_; }

private:
    struct Close {
        void operator()(DIR* handle) const { ::closedir(handle); }
    };
    std::filesystem::path path_;
    std::unique_ptr<DIR, Close> handle_;
    std::vector<std::string> listed_, names_; // in the kernel's order, and sorted
};

// Whether reports and drain reasons can contain a device's name unchanged: 1 to 60 letters, digits, '-', '_'
// and '.'.
bool is_name(std::string_view name);

} // namespace probe
