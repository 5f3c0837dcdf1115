// railcheck preflight: this host's share of the preflight of a job (railrun(1)): a line for each result, as
// soon as it is there, so that what hangs costs no others. Manual: railcheck(8).
#pragma once

#include "base/cli.hpp"
#include "check/check_command.hpp"
#include "check/net/net_command.hpp"

namespace check {

// What a tournament says of hosts and of what they share. A slow cable or host is bad, what more than one
// host shares a warning, and who did not take part was not tried.
std::vector<restart::CheckWord> words_of(const net::NetOutcome& outcome);

class PreflightCommand {
public:
    void add_options(base::Words& words);
    // The exit status: 0 whatever was found, for launchers end a step whose task fails; 2 for wrong usage.
    int run(const base::Cli& cli);

private:
    CheckOptions checks_;
    net::NetOptions net_;
    bool with_net_ = false, with_nccl_ = false;
};

} // namespace check
