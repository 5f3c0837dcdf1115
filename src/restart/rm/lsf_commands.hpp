// LSF's commands, run as they are: no shell is between. Sources: facts measured on an engine with LSF's
// commands, and IBM Spectrum LSF 10.1, Command reference.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace restart {

class LsfCommands {
public:
    static constexpr std::size_t most_at_once = 200; // jobs or hosts that one of them names

    // `folder` holds the commands; empty: they are looked for on PATH.
    explicit LsfCommands(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // What the command says, its words to standard error included, but for notices that mbatchd is busy.
    // Errors carry LSF's own words behind the command's name: Code::not_found for a job or host that it does
    // not know or a job that is over, Code::denied, Code::unavailable when mbatchd does not answer in time or
    // says that it should be asked again, else Code::unfit. A list of what is not there ("No unfinished job
    // found") is no error, but "".
    // `with`: variables, "NAME=VALUE", which bsub makes the job's.
    base::Expected<std::string> run(std::vector<std::string> words, std::vector<std::string> with = {}) const;

    // Whether this LSF has such a command, now.
    bool has(const std::string& name) const;

private:
    std::filesystem::path folder_;
};

} // namespace restart
