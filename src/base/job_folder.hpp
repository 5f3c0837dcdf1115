// RUN/job-ID, of an array's element RUN/job-ID-INDEX: the files of one job on this host, which live as long
// as the job's batch step, or what holds them in its place, and no longer.
//
// A process that puts files there holds a lock on the folder, which the kernel releases when the process
// ends; the next process that looks removes folders without a holder. Races: a folder that is removed between
// its creation and its locking is created again; two runs of a job can hold it together, and the last one to
// end removes it.
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
    // Errors (Code::io) as private_folder(), for `run` and for the folder itself.
    static Expected<JobFolder> hold(const std::string& run, JobId job);

    const std::string& path() const { return path_; }

    // Releases the folder, and removes it with its content when no other process holds it.
    void remove();

private:
    JobFolder(std::string path, UniqueFd held) : path_(std::move(path)), held_(std::move(held)) {}
    std::string path_;
    UniqueFd held_;
};

// Removes the folders under `run` that no process holds; returns their number. Does nothing where `run` is
// not private.
std::size_t remove_left_job_folders(const std::string& run);

} // namespace base
