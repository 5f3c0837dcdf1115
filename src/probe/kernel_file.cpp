#include "probe/kernel_file.hpp"

#include "base/hostlist.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fcntl.h>

namespace probe {
namespace {

namespace fs = std::filesystem;

ssize_t read_start(int fd, char* into, std::size_t most) {
    ssize_t n = 0;
    do
        n = ::pread(fd, into, most, 0);
    while (n < 0 && errno == EINTR);
    return n;
}

} // namespace

base::UniqueFd open_file(const fs::path& path) {
    return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::optional<std::string> first_line(int fd) {
    std::array<char, 128> text{};
    const auto n = read_start(fd, text.data(), text.size());
    if (n <= 0) return std::nullopt;
    const std::string_view all(text.data(), static_cast<std::size_t>(n));
    return std::string(all.substr(0, all.find('\n')));
}

std::optional<std::string> first_line(const fs::path& path) {
    const auto fd = open_file(path);
    if (!fd) return std::nullopt;
    return first_line(fd.get());
}

std::string start_of(const fs::path& path, std::size_t most) {
    std::string text;
    if (const auto fd = open_file(path)) {
        text.resize(most);
        const auto n = read_start(fd.get(), text.data(), most);
        text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    }
    return text;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string> entries(const fs::path& directory) {
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::directory_iterator at(directory, failed), end; !failed && at != end; at.increment(failed))
        names.push_back(at->path().filename().string());
    std::sort(names.begin(), names.end(), base::natural_less);
    return names;
}

bool KeptFolder::look() {
    if (!handle_)
        handle_.reset(::opendir(path_.c_str()));
    else
        ::rewinddir(handle_.get());
    bool changed = false;
    std::size_t count = 0;
    while (const auto* entry = handle_ ? ::readdir(handle_.get()) : nullptr) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (count == listed_.size()) listed_.emplace_back();
        if (listed_[count] != name) {
            listed_[count] = name;
            changed = true;
        }
        ++count;
    }
    // The handle of a removed directory stays empty for ever: the next look opens the path again.
    if (count == 0) handle_.reset();
    listed_.resize(count);
    if (!changed && count == names_.size()) return false;
    names_ = listed_;
    std::sort(names_.begin(), names_.end(), base::natural_less);
    return true;
}

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= 60 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
               c == '_' || c == '.';
    });
}

} // namespace probe
