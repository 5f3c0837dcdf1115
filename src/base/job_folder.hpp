// RUN/job-ID: the files of one job on this host, which live as long as the job's batch step and no longer.
//
// Who puts files there holds the folder, by a lock of the process: however that ends, the lock goes, and what
// nobody holds is removed by whoever looks next. Races: a folder that is removed between its making and its
// locking is made again; two lives of a job hold it side by side, and the last to go removes it.
#pragma once

#include "base/expected.hpp"
#include "base/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace base {

class JobFolder {
public:
    // Errors (Code::io) as private_folder(), for `run` and for the folder itself.
    static Expected<JobFolder> hold(const std::string& run, std::uint32_t job);

    const std::string& path() const { return path_; }

    // Lets go of the folder, and removes it with what is in it when nobody else holds it.
    void remove();

private:
    JobFolder(std::string path, UniqueFd held) : path_(std::move(path)), held_(std::move(held)) {}
    std::string path_;
    UniqueFd held_;
};

// Removes the folders under `run` that nobody holds; how many. Nothing where `run` is not private.
std::size_t remove_left_job_folders(const std::string& run);

} // namespace base
