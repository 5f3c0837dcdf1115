#include "base/file.hpp"
#include "base/unique_fd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace base {
namespace {

Expected<void> write_all(int fd, std::string_view bytes, const std::string& name) {
    while (!bytes.empty()) {
        const auto n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return system_error(name, errno);
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
}

} // namespace

Expected<std::string> read_file(const std::filesystem::path& path, std::size_t most) {
    const bool standard_input = path == "-";
    const std::string name = standard_input ? "standard input" : path.string();
    UniqueFd opened;
    int fd = STDIN_FILENO;
    if (!standard_input) {
        opened = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!opened) return system_error(name, errno);
        fd = opened.get();
    }
    std::string bytes;
    struct stat info {};
    if (::fstat(fd, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return Error{Code::io, name + ": is a directory"};
        if (S_ISREG(info.st_mode)) bytes.reserve(std::min(most, static_cast<std::size_t>(info.st_size)) + 1);
    }
    char block[65536];
    for (;;) {
        const auto n = ::read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return system_error(name, errno);
        if (n == 0) return bytes;
        if (bytes.size() + static_cast<std::size_t>(n) > most)
            return Error{Code::input, fmt::format("{}: larger than {} bytes", name, most)};
        bytes.append(block, static_cast<std::size_t>(n));
    }
}

FileStamp stamp_of(const std::filesystem::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return {};
    return {info.st_mtim.tv_sec, info.st_mtim.tv_nsec, static_cast<std::uint64_t>(info.st_size), info.st_ino,
            info.st_dev};
}

Expected<void> write_file(const std::filesystem::path& path, std::string_view bytes, unsigned mode) {
    // Symbolic links are followed: the target is replaced and the link remains.
    std::error_code ignored;
    auto target = std::filesystem::canonical(path, ignored);
    if (ignored) target = path;
    struct stat old {};
    if (::stat(target.c_str(), &old) == 0) {
        if (!S_ISREG(old.st_mode)) { // a pipe or terminal is written to, not replaced
            UniqueFd fd(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
            if (!fd) return system_error(target.string(), errno);
            return write_all(fd.get(), bytes, target.string());
        }
        mode = old.st_mode & 07777;
    }
    std::string temporary = target.string() + ".XXXXXX";
    UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!fd) return system_error(target.string(), errno);
    const auto fail = [&](Error error) {
        ::unlink(temporary.c_str());
        return error;
    };
    if (auto done = write_all(fd.get(), bytes, target.string()); !done) return fail(std::move(done).error());
    if (::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0 ||
        ::rename(temporary.c_str(), target.c_str()) != 0)
        return fail(system_error(target.string(), errno));
    const auto parent = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
    UniqueFd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory) ::fsync(directory.get());
    return {};
}

Expected<bool> write_file_if_changed(const std::filesystem::path& path, std::string_view bytes,
                                     unsigned mode) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) {
        const auto old = read_file(path);
        if (old && *old == bytes) return false;
    }
    if (auto done = write_file(path, bytes, mode); !done) return std::move(done).error();
    return true;
}

} // namespace base
