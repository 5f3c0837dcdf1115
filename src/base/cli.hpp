// What every program's command line shares, on top of CLI11: --help, --version, exit statuses and the form
// of errors on standard error: "railtopo: fabric.json:12: what is wrong: the way out".
#pragma once

#include "base/expected.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace base {

enum Exit { exit_done = 0, exit_finding = 1, exit_usage = 2 };

class Cli {
public:
    // `name` as typed, `about` one sentence. `manual` names the page: "railtopo(1)".
    Cli(std::string name, std::string about, std::string manual);

    CLI::App& app() { return app_; }
    CLI::App* operator->() { return &app_; }

    // Parses; true = go on. Otherwise `status` is the exit status: 0 after --help or --version, 2 after a
    // message on wrong usage.
    bool parse(int argc, char** argv, int& status);

    // Prints "name: text" on standard error and returns the status for the error: 2 for usage, input, io and
    // not_found, else 1.
    int fail(const Error& error) const;

private:
    CLI::App app_;
    std::string name_;
};

// Ends a program whose standard output must have arrived: flushes it and returns `status`, or exit_usage
// with a message when it could not be written (a full disk).
int finish_output(const Cli& cli, int status);

} // namespace base
