// railcheck selftest: each rule is shown to find its fault.
#pragma once

#include "base/cli.hpp"

#include <string>

namespace check {

class SelftestCommand {
public:
    void add_options(base::Words& words);
    // The exit status.
    int run(const base::Cli& cli) const;

private:
    struct Options {
        std::string config, rules, nvml, ibsim, only;
        bool as_json = false;
    } options_;
};

} // namespace check
