// LSF's commands, run directly, without a shell. Sources: measurements on an engine with LSF's commands, and
// IBM Spectrum LSF 10.1, Command reference.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace restart {

class LsfCommands {
public:
    static constexpr std::size_t most_at_once = 200; // jobs or hosts that one command names

    // `folder` has the commands; empty: they are searched on PATH.
    explicit LsfCommands(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // The command's output, including standard error except notices that mbatchd is busy. Errors carry LSF's
    // message after the command's name: Code::not_found for a job or host that it does not know or a job that
    // is over, Code::denied, Code::unavailable when mbatchd does not answer in time or asks to try again,
    // else Code::unfit. An empty list ("No unfinished job found") is not an error, but "".
    // `with`: variables, "NAME=VALUE", which bsub passes to the job.
    base::Expected<std::string> run(std::vector<std::string> words, std::vector<std::string> with = {}) const;

    // Whether this LSF has such a command, now.
    bool has(const std::string& name) const;

private:
    std::filesystem::path folder_;
};

} // namespace restart
