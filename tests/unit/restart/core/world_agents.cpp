// What the agents of a simulated cluster do: they report, obey the answers, and look at other hosts.
#include "world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fmt/format.h>

using restart::JobPhase;

void World::heartbeat(const std::string& name, Host& host) {
    restart::Report report;
    report.host = name;
    report.boot_id = host.boots == 0 ? "b-" + name : fmt::format("b{}-{}", host.boots, name);
    report.findings = host.findings;
    report.fabric = host.fabric;
    report.port_names = port_names;
    report.looks = peers_look && !old_agents.contains(name);
    for (auto& seen : host.seen)
        if (seen.ready <= now_) {
            report.sights.push_back(seen.sight);
            seen.said = true;
        }
    for (const auto& [id, job] : jobs_)
        if (!mute_jobs && job.rm.phase == JobPhase::running && !job.rm.nodes.empty() &&
            job.rm.nodes.front() == name)
            report.jobs.push_back({id, job.rm.restarts, job.rm.uid, job.commit, job.run});
    for (const auto& [id, how] : host.kept) {
        auto reported = std::find_if(report.jobs.begin(), report.jobs.end(),
                                     [&, job = id](const auto& one) { return one.id == job; });
        if (reported == report.jobs.end())
            reported = report.jobs.insert(reported, {id, 0, jobs_.at(id).rm.uid, std::nullopt});
        reported->kept = how;
    }
    if (carrier) return carrier(report);
    deliver(report);
}

void World::deliver(const restart::Report& report) {
    send(restart::AgentReported{report});
    const auto reply = restart::reply_to(state_, report);
    look(report.host, hosts_.at(report.host), reply.looks);
    for (const auto& end : reply.ends) {
        told_to_end[report.host].push_back(end.why);
        hosts_.at(report.host).kept.erase(end.id);
    }
    for (const auto& answer : reply.jobs) {
        auto& job = jobs_.at(answer.id);
        if (answer.save_by && autosave && !job.saves_at) job.saves_at = now_ + base::Duration(500);
        if (!follows_orders || !answer.order || !job.run || answer.order->launch != job.run->launch) continue;
        if (!job.order) job.launches_at = now_ + base::Duration(500);
        job.order = answer.order;
    }
}

// As an agent does it: what is no longer asked for is forgotten.
void World::look(const std::string& peer, Host& host, const std::vector<restart::LookRequest>& wanted) {
    if (!host.agent) return; // its report came late
    CHECK(wanted.size() <= restart::most_looks);
    const auto is = [](const restart::LookRequest& look, const restart::Sight& sight) {
        return look.number == sight.number && look.host == sight.host;
    };
    std::erase_if(host.seen, [&](const Host::Seen& seen) {
        return std::none_of(wanted.begin(), wanted.end(),
                            [&](const auto& look) { return is(look, seen.sight); });
    });
    for (const auto& wish : wanted) {
        if (std::any_of(host.seen.begin(), host.seen.end(),
                        [&](const auto& seen) { return is(wish, seen.sight); }))
            continue;
        ++looked_at[wish.host];
        const auto dead = hosts_.at(wish.host).dead ? base::Knocked::unreached : base::Knocked::answers;
        const auto saw = sees ? sees(peer, wish.host) : dead;
        const bool soon = saw == base::Knocked::answers || saw == base::Knocked::refused;
        host.seen.push_back({{wish.number, wish.host, saw}, now_ + base::Duration(soon ? 0 : 1'200), false});
    }
}

bool World::has_news(const Host& host) const {
    return std::any_of(host.seen.begin(), host.seen.end(),
                       [&](const auto& seen) { return !seen.said && seen.ready <= now_; });
}
