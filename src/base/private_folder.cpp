#include "base/private_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace base {
namespace {

// Whether a user other than root and us could replace the contents of this folder.
bool open_to_others(const std::filesystem::path& folder) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0) return true;
    const bool trusted = info.st_uid == 0 || info.st_uid == ::geteuid();
    return !trusted || ((info.st_mode & 022) != 0 && (info.st_mode & S_ISVTX) == 0);
}

} // namespace

Expected<void> private_folder(const std::string& path, mode_t mode) {
    const auto refuse = [&](std::string_view what) {
        return Error{Code::io, fmt::format("{}: {}; files for jobs cannot be put there", path, what)};
    };
    std::error_code failed;
    auto up = std::filesystem::path(path).parent_path();
    if (!up.empty()) std::filesystem::create_directories(up, failed);
    for (up = std::filesystem::canonical(up, failed); !failed && up.has_relative_path();
         up = up.parent_path())
        if (open_to_others(up)) return refuse(fmt::format("others can write to {}", up.string()));
    if (::mkdir(path.c_str(), mode) == 0)
        ::chmod(path.c_str(), mode); // regardless of the umask
    else if (errno != EEXIST)
        return refuse(std::strerror(errno));
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return refuse(std::strerror(errno));
    if (!S_ISDIR(info.st_mode)) return refuse("is no folder");
    if (info.st_uid != ::geteuid()) return refuse("belongs to another user");
    if ((info.st_mode & 022) != 0) return refuse("others can write to it");
    if ((info.st_mode & 0777 & ~mode) != 0) ::chmod(path.c_str(), mode); // created by an older release
    return {};
}

} // namespace base
