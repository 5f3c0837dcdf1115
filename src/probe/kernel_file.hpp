// Small files of the kernel (sysfs, /proc): a line or a number a file, made anew at each read.
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

// For reading; none when it cannot be opened.
base::UniqueFd open_file(const std::filesystem::path& path);

// The first line from the file's beginning, at most 128 bytes; none when it is empty or cannot be read
// (ENODEV: its device is gone).
std::optional<std::string> first_line(int fd);
std::optional<std::string> first_line(const std::filesystem::path& path);

// At most `most` bytes of the file; empty when it cannot be read.
std::string start_of(const std::filesystem::path& path, std::size_t most);

// The whole text as a number without a sign; none when it is anything else.
std::optional<std::uint64_t> whole_number(std::string_view text);

// The names in a directory, in natural order; none when it cannot be read.
std::vector<std::string> entries(const std::filesystem::path& directory);

// A directory that is listed again and again. It is kept open, and where nothing has changed a look allocates
// nothing. sysfs does not tell of changes: neither by a time of the directory nor by inotify.
class KeptFolder {
public:
    explicit KeptFolder(std::filesystem::path path) : path_(std::move(path)) {}

    // Lists it; whether the names are others than in the last look. A directory that cannot be read, or has
    // gone, has none; one that is made anew at its path is found again.
    bool look();
    // In natural order, as of the last look; none before the first.
    const std::vector<std::string>& names() const { return names_; }

private:
    struct Close {
        void operator()(DIR* handle) const { ::closedir(handle); }
    };
    std::filesystem::path path_;
    std::unique_ptr<DIR, Close> handle_;
    std::vector<std::string> listed_, names_; // as the kernel lists them, and in order
};

// Whether reports and drain reasons can carry a device's name as it is: 1 to 60 letters, digits, '-', '_' and
// '.'.
bool is_name(std::string_view name);

} // namespace probe
