// railcheck net: which hosts, HCAs, cables, leaves and rails are slow between hosts. Manual: railcheck(8).
#pragma once

#include "base/cli.hpp"
#include "base/expected.hpp"
#include "check/net/gathering.hpp"
#include "check/net/verdict.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace check::net {

struct NetOptions { // as typed
    std::string config, fabric, hosts, devices, transports, secret;
    std::string time = "50ms", patience = "5s", join = "30s", whole = "10m";
    int rank = -1, port = 0;
    std::uint32_t rounds = 0, again = 0, seed = 1;
    int least = 5; // percent
    bool judge_latency = false, quick = false, verbs = false;
    std::vector<std::string> libraries; // libibverbs
};

struct NetOutcome {
    Gathered gathered;
    Verdict verdict;
    std::vector<std::string> units{}; // of each host, its unit's name; empty: unknown
};

// Takes part on this host, one process on each. On the first host returns the result, elsewhere nothing.
// `progress` gets a phrase now and then. Errors: Code::usage and Code::input for options and files,
// Code::unavailable when there is nothing to measure with, or the first host cannot be reached.
base::Expected<std::optional<NetOutcome>>
measure_net(const NetOptions& options, const std::function<void(const std::string&)>& progress);

class NetCommand {
public:
    void add_options(base::Words& words);
    // The exit status: 1 if something is slow or a host was lost.
    int run(const base::Cli& cli) const;

private:
    NetOptions options_;
    std::string svg_; // the output file
    bool as_json_ = false;
};

} // namespace check::net
