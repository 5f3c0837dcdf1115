// RUN/job-ID, or RUN/job-ID-INDEX for an array element: the files of one job on this host. They exist only
// while the job's batch step, or another holder in its place, is running.
//
// A process that puts files there holds a lock on the folder, which the kernel releases when the process
// ends; the next process that looks removes folders without a holder. Races: if a folder is removed after it
// was created but before it is locked, it is created again. Two runs of a job can hold it at the same time;
// the last one to end removes it.
#pragma once

#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "base/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace base {

class JobFolder {
public:
    // Errors (Code::io): those of private_folder(), for `run` and for the folder itself.
    static Expected<JobFolder> hold(const std::string& run, JobId job);

    const std::string& path() const { return path_; }

    // Releases the folder, and removes it with its contents if no other process holds it.
    void remove();

private:
    JobFolder(std::string path, UniqueFd held) : path_(std::move(path)), held_(std::move(held)) {}
    std::string path_;
    UniqueFd held_;
};

// Removes the folders under `run` that no process holds; returns how many. Does nothing if `run` is not
// private.
std::size_t remove_left_job_folders(const std::string& run);

} // namespace base
