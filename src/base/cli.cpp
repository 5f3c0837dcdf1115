#include "base/cli.hpp"

#include <railyard_config.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <iostream>

namespace base {

Cli::Cli(std::string name, std::string about, std::string manual)
    : app_(std::move(about)), name_(std::move(name)) {
    app_.name(name_);
    app_.set_version_flag("--version", fmt::format("{} (railyard) {}", name_, PACKAGE_VERSION),
                          "Print the version and exit");
    app_.set_help_flag("--help", "Print this help and exit");
    app_.footer(fmt::format("Exit status: 0 done, 1 a finding or a request that does not fit, 2 wrong usage "
                            "or unreadable input.\n"
                            "Manual: {}",
                            manual));
    app_.get_formatter()->column_width(34);
}

bool Cli::parse(int argc, char** argv, int& status) {
    try {
        app_.parse(argc, argv);
        return true;
    } catch (const CLI::Success& done) { // --help and --version
        app_.exit(done, std::cout, std::cerr);
        status = finish_output(*this, exit_done);
    } catch (const CLI::ParseError& wrong) {
        fmt::print(stderr, "{}: {}\n{}: see {} --help\n", name_, wrong.what(), name_, name_);
        status = exit_usage;
    }
    return false;
}

int Cli::fail(const Error& error) const {
    fmt::print(stderr, "{}: {}\n", name_, error.text);
    const bool usage = error.code == Code::usage || error.code == Code::input ||
                       error.code == Code::not_found || error.code == Code::io;
    return usage ? exit_usage : exit_finding;
}

int finish_output(const Cli& cli, int status) {
    std::cout.flush();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout)
        return cli.fail(system_error("standard output", errno != 0 ? errno : EIO));
    return status;
}

} // namespace base
