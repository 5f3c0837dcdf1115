// --warm: spares read the program and the newest checkpoint into their page cache ahead, so that a launch
// that takes one does not wait for the file system. A step of one quiet process a spare does it: the last to
// get CPU and disk, with a bound on what it reads.
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

// The files that the words of a command name, as they are or, as the shell would, on `path`; absolute, each
// once. Directories and what is no regular file are left out.
std::vector<std::string> files_named(const std::vector<std::string>& words, const std::string& path);

struct ReadAhead {
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
    bool whole = true; // not stopped by the bound
};

// Reads files, and all in directories below, in the order of names, up to `most` bytes and a quarter of the
// memory that is available. What cannot be read is passed over. This process becomes the last to get CPU
// and disk.
ReadAhead read_ahead(const std::vector<std::string>& paths, std::uint64_t most);

// Starts the step on the spares, again whenever there is a newer checkpoint, one at a time.
class Warmer {
public:
    // `files`: of the program. `self`: railrun's path on every host.
    Warmer(std::vector<std::string> files, std::string self, std::uint64_t most);

    // To be called now and then; not while a launch is being ended or begun.
    void look(const Hosts& spares, const std::optional<std::filesystem::path>& newest);
    // Ends the step, and waits for that a moment: a launch must not compete with it.
    void stop();

private:
    std::vector<std::string> files_;
    std::string self_;
    std::uint64_t most_;
    Process step_;
    std::optional<std::pair<Hosts, std::optional<std::filesystem::path>>> done_; // or under way
};

} // namespace restart::run
