// --warm: spares read the program and the newest checkpoint into their page cache in advance, so that a
// launch that uses one does not wait for the file system. A step with one low-priority process per spare does
// it: last in line for CPU and disk, with a limit on what it reads.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/run/process.hpp"
#include "restart/run/seats.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace restart::run {

// The files that words of a command name, directly or, as a shell would look them up, on `path`; absolute,
// without duplicates. Directories and other non-regular files are left out.
std::vector<std::string> files_named(const std::vector<std::string>& words, const std::string& path);

struct ReadAhead {
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
    bool whole = true; // not stopped by the limit
};

// Reads files, and all files below directories, in the order of names, up to `most` bytes and a quarter of
// the available memory. Unreadable files are skipped. This process becomes last in line for CPU and disk.
ReadAhead read_ahead(const std::vector<std::string>& paths, std::uint64_t most);

// Starts the step on the spares, again for each newer checkpoint, one at a time.
class Warmer {
public:
    // `files`: of the program. `self`: railrun's path on every host.
    Warmer(std::vector<std::string> files, std::string self, std::uint64_t most);

    // Call it from time to time; not while a launch is being ended or started.
    void look(const Hosts& spares, const std::optional<std::filesystem::path>& newest);
    // Ends the step, and waits briefly for its end: a launch must not compete with it.
    void stop();

private:
    std::vector<std::string> files_;
    std::string self_;
    std::uint64_t most_;
    Process step_;
    std::optional<std::pair<Hosts, std::optional<std::filesystem::path>>> done_; // done, or in progress
};

} // namespace restart::run
