// Gangs of a resource manager that leaves their places to restartd.
#include "world.hpp"

#include <algorithm>

using restart::JobPhase;

base::JobId World::submit_gang(std::uint32_t hosts) {
    const auto id = submit({});
    auto& job = jobs_.at(id);
    job.rm.phase = JobPhase::pending;
    job.rm.node_count = hosts;
    job.rm.start = {};
    job.rm.queue = job.rm.home = "gang";
    return id;
}

void World::plan(base::JobId job, const std::vector<std::string>& hosts) {
    restart::PlannedGang gang;
    gang.id = job;
    gang.epoch = jobs_.at(job).rm.restarts;
    gang.hosts = hosts;
    send(restart::GangsPlanned{{gang}});
}

std::optional<base::Error> World::carry_out(const restart::PlaceJob& action) {
    auto* job = find_job(action.job.id);
    if (job == nullptr) return base::Error{base::Code::not_found, "no such job"};
    if (job->rm.phase != JobPhase::pending) return base::Error{base::Code::unfit, "not PEND"};
    job->given = action.hosts;
    job->rm.queue = "gangrun";
    job->released_at = now_;
    return {};
}

std::optional<base::Error> World::carry_out(const restart::ParkJob& action) {
    auto* job = find_job(action.job.id);
    if (job == nullptr) return base::Error{base::Code::not_found, "no such job"};
    job->rm.queue = action.queue;
    job->rm.resumed = job->rm.held = false;
    return {};
}

void World::schedule_gang(Job& job, std::set<std::string>& busy) {
    if (job.rm.phase != JobPhase::pending || job.held || job.rm.queue == job.rm.home ||
        now_ < job.released_at + base::duration_from_seconds(gang_start_delay))
        return;
    const bool free = std::none_of(job.given.begin(), job.given.end(), [&](const std::string& name) {
        const auto& node = hosts_.at(name).node;
        return busy.contains(name) || node.drain || node.down || node.not_responding;
    });
    if (!free || job.given.empty()) return;
    busy.insert(job.given.begin(), job.given.end());
    job.rm.nodes = job.given;
    job.rm.phase = JobPhase::running;
    job.rm.start = now_;
}
