#include "base/job_folder.hpp"

#include "base/private_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace base {
namespace {

UniqueFd open_folder(const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::vector<std::string> entries(const std::string& path) {
    std::vector<std::string> names;
    DIR* folder = ::opendir(path.c_str());
    if (folder == nullptr) return names;
    while (const auto* entry = ::readdir(folder))
        if (std::string_view(entry->d_name) != "." && std::string_view(entry->d_name) != "..")
            names.emplace_back(entry->d_name);
    ::closedir(folder);
    return names;
}

bool lock(int fd, int how) {
    int done = 0;
    do
        done = ::flock(fd, how);
    while (done != 0 && errno == EINTR);
    return done == 0;
}

// Whether the open folder is still the one at `path`, and owned by us.
bool stands_at(int fd, const std::string& path) {
    struct stat held {};
    struct stat there {};
    return ::fstat(fd, &held) == 0 && ::lstat(path.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino && held.st_uid == ::geteuid();
}

// Removes files only: no subfolders are created there.
bool remove_unheld(int fd, const std::string& path) {
    if (!lock(fd, LOCK_EX | LOCK_NB) || !stands_at(fd, path)) return false;
    for (const auto& name : entries(path))
        ::unlinkat(fd, name.c_str(), 0);
    return ::rmdir(path.c_str()) == 0;
}

bool is_job_folder(std::string_view name) {
    constexpr std::string_view prefix = "job-";
    return name.starts_with(prefix) && name.size() > prefix.size() &&
           std::all_of(name.begin() + prefix.size(), name.end(),
                       [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
}

} // namespace

Expected<JobFolder> JobFolder::hold(const std::string& run, JobId job) {
    if (auto safe = private_folder(run); !safe) return std::move(safe).error();
    auto path = fmt::format("{}/job-{}", run, job.number());
    if (job.index() != 0) path += fmt::format("-{}", job.index());
    // A process that removes the folder holds the lock for a moment. Retrying is enough: no step of the job
    // starts in the meantime.
    for (int tries = 0; tries < 100; ++tries) {
        if (auto safe = private_folder(path, 0711); !safe) return std::move(safe).error();
        auto fd = open_folder(path);
        if (!fd) continue;
        if (!lock(fd.get(), LOCK_SH | LOCK_NB))
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        else if (stands_at(fd.get(), path))
            return JobFolder(std::move(path), std::move(fd));
    }
    return Error{Code::io,
                 path + ": is locked, or removed again and again; files for jobs cannot be put there"};
}

void JobFolder::remove() {
    if (held_) remove_unheld(held_.get(), path_);
    held_ = UniqueFd();
}

std::size_t remove_left_job_folders(const std::string& run) {
    std::size_t removed = 0;
    struct stat there {};
    if (::lstat(run.c_str(), &there) != 0 || !private_folder(run)) return removed;
    for (const auto& name : entries(run)) {
        if (!is_job_folder(name)) continue;
        const auto path = fmt::format("{}/{}", run, name);
        if (const auto fd = open_folder(path); fd && remove_unheld(fd.get(), path)) ++removed;
    }
    return removed;
}

} // namespace base
