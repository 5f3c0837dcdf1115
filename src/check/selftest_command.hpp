// railcheck selftest: shows that each of the rules and the checks finds its fault.
#pragma once

#include "base/cli.hpp"

#include <string>
#include <vector>

namespace check {

class SelftestCommand {
public:
    void add_options(base::Words& words);
    // The exit status.
    int run(const base::Cli& cli) const;

private:
    int run_checks(const base::Cli& cli) const;

    struct Options {
        std::string config, rules, nvml, ibsim, only;
        std::vector<std::string> libraries;
        bool as_json = false, checks = false;
    } options_;
};

} // namespace check
