// railcheck preflight: this host's part of the preflight of a job (railrun(1)): prints each result as soon as
// it is available, so that a check that hangs does not hide the others. Manual: railcheck(8).
#pragma once

#include "base/cli.hpp"
#include "check/check_command.hpp"
#include "check/net/net_command.hpp"

namespace check {

// Results of a tournament for hosts and for what they share. A slow cable or host is bad, slowness shared by
// several hosts a warning, and a host that did not take part was not tried.
std::vector<restart::CheckWord> words_of(const net::NetOutcome& outcome);

class PreflightCommand {
public:
    void add_options(base::Words& words);
    // The exit status: 0 whatever was found, as launchers end a step whose task fails; 2 for wrong usage.
    int run(const base::Cli& cli);

private:
    CheckOptions checks_;
    net::NetOptions net_;
    bool with_net_ = false, with_nccl_ = false;
};

} // namespace check
