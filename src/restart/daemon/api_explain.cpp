// The timelines of one job and of one host, and why a job runs where it does or waits.
#include "restart/daemon/api.hpp"

#include "base/hostlist.hpp"
#include "restart/core/facts/former_hosts.hpp"
#include "restart/daemon/situation.hpp"
#include "restart/daemon/views.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

// "12_3", "12+1": Slurm's names of a part of an array or of a heterogeneous job.
bool is_job_name(std::string_view text) {
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    return digits > 0 && digits + 1 < text.size() && (text[digits] == '_' || text[digits] == '+') &&
           text.find_first_not_of("0123456789", digits + 1) == std::string_view::npos;
}

// The id of the record with this name, a component's own, or that of the tasks that wait together with this
// one.
std::optional<base::JobId> find_named(const State& state, const std::string& name) {
    for (const auto& [id, job] : state.jobs) {
        if (job.rm.name == name) return id;
        for (const auto& component : job.rm.components)
            if (component.name == name) return component.id;
        const auto tasks = job.rm.name.find("_[");
        if (tasks == std::string::npos || job.rm.name.compare(0, tasks + 1, name, 0, tasks + 1) != 0)
            continue;
        auto waiting = job.rm.name;
        if (const auto limit = waiting.find('%'); limit != std::string::npos)
            waiting.erase(limit, waiting.size() - limit - 1);
        if (const auto names = base::expand_hostlist(waiting);
            names && std::find(names->begin(), names->end(), name) != names->end())
            return id;
    }
    return {};
}

} // namespace

Api::Answer Api::explain(const HttpRequest& request, const Asker& asker) {
    const auto job = request.query.find("job");
    const auto host = request.query.find("host");
    if ((job == request.query.end()) == (host == request.query.end()))
        return Refusal{400, "input", "give either job=NUMBER or host=NAME"};
    const auto seat = explaining_.take(asker.name);
    if (!seat) return Refusal{429, "busy", "other explanations are being worked out: ask again in a moment"};
    return job != request.query.end() ? explain_job(job->second, asker) : explain_host(host->second, asker);
}

Api::Answer Api::explain_job(const std::string& named, const Asker& asker) {
    const auto number = base::JobId::parse(named);
    if (!number && !is_job_name(named))
        return Refusal{400, "input", "job: a job's number or name (12, 12_3, 12+1) is wanted"};
    NoteFilter filter;
    filter.view = asker.view;
    const bool fresh = driver_.refresh(rm_patience); // a job submitted just now is known
    std::optional<base::JobId> placed;               // a heterogeneous job's components are placed one by one
    bool seen = false;                               // it is in the queue, and shown
    driver_.look([&](const State& state, const DriverStatus&) {
        placed = number ? number : find_named(state, named);
        filter.job = placed;
        if (const auto* found = placed ? state.find_job(*placed) : nullptr) {
            filter.job = found->rm.id;
            seen = asker.view.sees_job(owner_of(found->rm));
        }
    });
    const bool some_hidden = !asker.view.all && asker.view.hides.jobs;
    const auto no_such = [&]() -> Answer {
        return Refusal{404, "not_found", no_such_job(shortened(named), asker.view, words())};
    };
    if (!filter.job) {
        if (some_hidden) return no_such();
        return Refusal{404, "not_found",
                       fmt::format("no job {} is in the queue: of one that has ended, give its own number, "
                                   "which squeue -o %A and sacct -o JobIDRaw tell",
                                   shortened(named))};
    }
    const auto notes = driver_.notes(filter);
    if (!notes) return refusal_of(notes.error());
    auto placement = seen ? placement_of(*placed, fresh, asker.view) : boost::json::object();
    auto story = driver_.look([&](const State& state, const DriverStatus& status) {
        return restart::explain_job(state, status, *filter.job, std::move(placement), *notes, asker.view);
    });
    if (fresh && (!story.job || story.job->state == "ended"))
        if (auto over = ended(*filter.job, asker.view)) story.ended = std::move(over);
    if (story.job || story.ended || !notes->empty()) return HttpResponse{200, story.to_json()};
    if (some_hidden) return no_such();
    if (!fresh)
        return Refusal{503, "unavailable",
                       fmt::format("job {} is not in the journal, and the resource manager does not answer",
                                   to_string(*filter.job))};
    return Refusal{
        404, "not_found",
        fmt::format("job {} is neither in this cluster's queue nor in the journal", to_string(*filter.job))};
}

Api::Answer Api::explain_host(const std::string& host, const Asker& asker) {
    if (host.empty()) return Refusal{400, "input", "host: a host's name is wanted"};
    NoteFilter filter;
    filter.view = asker.view;
    filter.host = host;
    const auto notes = driver_.notes(filter);
    if (!notes) return refusal_of(notes.error());
    const auto story = driver_.look([&](const State& state, const DriverStatus& status) {
        return restart::explain_host(state, status, host, *notes, asker.view);
    });
    if (story.host || !notes->empty()) return HttpResponse{200, story.to_json()};
    return Refusal{
        404, "not_found",
        fmt::format("host {} is neither in the resource manager nor in the journal", shortened(host))};
}

// What the resource manager still remembers of a job that has ended.
std::optional<EndedJobStatus> Api::ended(base::JobId job, const View& view) {
    const auto queue = driver_.queue(rm_patience);
    if (!queue) return {};
    for (const auto& one : (*queue)->ended)
        if (one.id == job && view.sees_job(one.owner)) return one.status;
    return {};
}

// Why the job runs where it does or waits, computed for this answer.
boost::json::object Api::placement_of(base::JobId job, bool rm_answers, const View& view) {
    if (!rm_answers)
        return placement_unknown(
            "why it waits or is where it is cannot be said: the resource manager does not answer");
    const auto placing = driver_.placing();
    if (!placing)
        return placement_unknown("why it waits or is where it is cannot be said without a fabric file "
                                 "([placement] fabric, railtopo discover)");
    const auto queue = driver_.queue(rm_patience);
    if (!queue) return placement_unknown(queue.error().text);
    // Where restartd chooses the hosts itself, only it knows the previous ones.
    const auto had = driver_.look([&](const State& state, const DriverStatus&) {
        const auto* known = state.find_job(job);
        return known != nullptr && is_gang(known->rm) ? hosts_before(*known) : std::vector<std::string>();
    });
    const auto situation = situation_of(**queue, *placing, job, view, had);
    if (!situation) return placement_unknown("it neither waits for hosts nor holds any");
    if (view.sees_hosts()) return placement_json(*situation, *placing);
    const auto sentence = sentence_of(*situation, *placing);
    return placement_unknown(fmt::format("{}{}what hosts do is not shown to you ({})", sentence,
                                         sentence.empty() ? "" : "; ", words().private_nodes));
}

} // namespace restart
