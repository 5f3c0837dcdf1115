// What each subcommand that checks the host shares: options, facts about the host, output and exit status.
#pragma once

#include "base/cli.hpp"
#include "check/check.hpp"

#include <memory>
#include <string>
#include <vector>

namespace check {

struct CheckOptions { // as typed
    std::string config, rules, fabric, host, nvml, sysfs, deadline;
    std::vector<std::string> libraries;
    int level = 1;
    bool as_json = false;
};

// Of --config and so on. Errors: a file that cannot be read, an invalid time.
base::Expected<Request> request_of(const CheckOptions& options);

class CheckCommand {
public:
    // Runs the checks of these rows, one after the other.
    explicit CheckCommand(std::vector<CheckRow> rows);

    void add_options(base::Words& words);
    // Prints what was found; the exit status: exit_status() of all results, 2 when the configuration cannot
    // be read, 128 and the signal's number when interrupted.
    int run(const base::Cli& cli);

private:
    std::vector<CheckRow> rows_;
    std::vector<std::unique_ptr<Check>> checks_;
    CheckOptions options_;
};

} // namespace check
