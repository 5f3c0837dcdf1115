#include "restart/ctl/enable/wait.hpp"

#include "base/hostlist.hpp"
#include "restart/ctl/enable/gather.hpp"
#include "restart/ctl/enable/slurmds.hpp"
#include "restart/ctl/enable/steadfast.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace restart::enable {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration slurmd_patience = 10s;
constexpr base::Duration between = 500ms;

bool heard(const Host& host) {
    for (const char* word : {"UNKNOWN", "NOT_RESPONDING", "*"})
        if (host.state.find(word) != std::string::npos) return false;
    return !host.state.empty();
}

Host& named(std::vector<Host>& hosts, const std::string& name) {
    return *std::find_if(hosts.begin(), hosts.end(), [&](const Host& host) { return host.name == name; });
}

std::string fold(const std::vector<Host>& hosts) {
    std::vector<std::string> names;
    for (const auto& host : hosts)
        names.push_back(host.name);
    return base::fold_hostlist(names);
}

} // namespace

bool wait_until(base::Duration most, const std::function<bool()>& so, bool impatient) {
    const auto until = std::chrono::steady_clock::now() + most;
    while (!so()) {
        if (std::chrono::steady_clock::now() > until || (impatient && Steadfast::interrupted())) return false;
        std::this_thread::sleep_for(between);
    }
    return true;
}

void ask_slurmds_again(Facts& facts) {
    if (!ask_slurmds(facts.conf, facts.this_host, slurmd_patience, facts.hosts))
        for (auto& host : facts.hosts)
            host.answers = false;
}

std::size_t wait_for_restarts(Facts& facts, base::Time changed, base::Duration most, const Means& means) {
    std::vector<Host> missing; // as they were before
    for (const auto& host : facts.hosts)
        if (host.answers) missing.push_back(host);
    const auto awaited = missing.size();
    std::size_t told = SIZE_MAX;
    const auto look = [&] {
        auto now = missing;
        if (!ask_slurmds(facts.conf, facts.this_host, slurmd_patience, now)) return false;
        std::vector<Host> still;
        for (std::size_t i = 0; i < now.size(); ++i) {
            auto& host = named(facts.hosts, now[i].name);
            host.answers = now[i].answers;
            host.since = now[i].since;
            if (!host.since || (*host.since < changed && host.since == missing[i].since))
                still.push_back(missing[i]);
            else
                host.since = std::max(*host.since, changed); // its clock may be behind
        }
        missing = std::move(still);
        if (missing.size() != told && !missing.empty())
            means.say(fmt::format("{} of {} slurmds have restarted; waiting for {}", awaited - missing.size(),
                                  awaited, fold(missing)));
        told = missing.size();
        return missing.empty();
    };
    if (wait_until(most, look, true))
        means.say(fmt::format("all {} slurmds have restarted", awaited));
    else
        means.say(fmt::format("not restarted: {}", fold(missing)));
    return awaited - missing.size();
}

void wait_for_nodes(Facts& facts, base::Duration most, const Means& means) {
    std::vector<std::string> missing;
    const auto look = [&] {
        ask_nodes(facts);
        missing.clear();
        for (const auto& host : facts.hosts)
            if (host.answers && !heard(host)) missing.push_back(host.name);
        return missing.empty();
    };
    if (wait_until(most, look))
        means.say("slurmctld has heard from every node that is up");
    else
        means.say(fmt::format("slurmctld has not heard from {}", base::fold_hostlist(missing)));
}

} // namespace restart::enable
