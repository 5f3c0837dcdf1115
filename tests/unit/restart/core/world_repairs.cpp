// Repairs in a World: what a rung does to a host, and its boot.
#include "world.hpp"

#include "base/hostlist.hpp"
#include "restart/core/facts/kept_out.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

// Nothing may be done to a host that a job runs on.
std::optional<base::Error> World::carry_out(const restart::RepairHost& action) {
    auto& host = hosts_.at(action.host);
    for (const auto& [id, job] : jobs_)
        CHECK(std::find(job.rm.nodes.begin(), job.rm.nodes.end(), action.host) == job.rm.nodes.end());
    if (!restart::is_our_drain(host.node)) return base::Error{base::Code::denied, "not ours"};
    if (action.rung == restart::Rung::check) return check_verdict;
    if (by_program(action.rung) && program_error) return program_error;
    if (const auto mends = mended_by.find(action.host);
        mends != mended_by.end() && mends->second == action.rung)
        host.findings.clear();
    if (!restart::boots(action.rung)) return {};
    if (action.rung == restart::Rung::reboot) {
        if (!host.agent) return {}; // nothing there takes the request
        host.node.reason = action.reason;
    }
    boot(action.host);
    return {};
}

// Nothing may run on it but what lets it go.
std::optional<base::Error> World::carry_out(const restart::FreeHost& action) {
    auto& host = hosts_.at(action.host);
    for (const auto& [id, job] : jobs_) {
        const auto& nodes = job.rm.nodes;
        if (std::find(nodes.begin(), nodes.end(), action.host) == nodes.end()) continue;
        const bool named = std::find(action.jobs.begin(), action.jobs.end(), id) != action.jobs.end();
        if (!named || !job.rm.no_kill) return base::Error{base::Code::denied, "a job would end"};
        CHECK(job.run);
        CHECK(nodes.front() != action.host);
        const auto ranks = base::expand_hostlist(job.run->hosts);
        REQUIRE(ranks);
        CHECK(std::find(ranks->begin(), ranks->end(), action.host) == ranks->end());
    }
    if (!host.node.drain || restart::owner_of(host.node.reason).empty())
        return base::Error{base::Code::denied, "not ours"};
    host.node.down = true;
    host.node.automatic = false;
    end_jobs_on(action.host);
    return {};
}

void World::boot(const std::string& name) {
    auto& host = hosts_.at(name);
    host.agent = false;
    host.node.away = host.node.rebooting = true;
    if (!never_boots.contains(name)) host.boots_at = now_ + base::duration_from_seconds(boot_time);
}

void World::end_boot(const std::string& name) {
    auto& host = hosts_.at(name);
    if (host.boots_at) host.boots_at = now_;
    finish_boot(name, host);
}

void World::finish_boot(const std::string& name, Host& host) {
    if (!host.boots_at || now_ < *host.boots_at) return;
    host.boots_at.reset();
    ++host.boots;
    host.node.away = host.node.rebooting = false;
    start_agent(name);
}
