#include "sched/lsf/asked.hpp"
#include "sched/lsf/dispatch.hpp"
#include "sched/lsf/timeline.hpp"
#include "sched/say/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sched::lsf {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::Time;
using Kind = Verdict::Kind;

// "at 14:20", "when jobs 3 and 4 have ended", "when hosts become free".
std::string when(const Reservation& reservation, Time now) {
    if (reservation.at) return "at " + base::moment(*reservation.at, now);
    std::vector<std::string> jobs;
    for (const auto job : reservation.unlimited)
        jobs.push_back(to_string(job));
    if (jobs.empty()) return "when jobs without a run limit have ended";
    return fmt::format("when {} {} {} ended, which {} no run limit", jobs.size() == 1 ? "job" : "jobs",
                       listed(jobs), jobs.size() == 1 ? "has" : "have", jobs.size() == 1 ? "has" : "have");
}

// In the format of bsub -W: "1:20".
std::string limit_text(base::Duration limit) {
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(limit).count();
    return fmt::format("{}:{:02}", minutes / 60, minutes % 60);
}

std::string ahead(const Plan& plan, Time now) {
    std::vector<std::string> parts;
    for (const auto& reservation : plan.reservations)
        parts.push_back(fmt::format("job {} before it in the queue starts {}", to_string(reservation.job),
                                    when(reservation, now)));
    return parts.empty() ? "jobs before it in the queue have not been placed"
                         : fmt::format("{}", fmt::join(parts, ", "));
}

std::string would_delay(const Queue& queue, const Plan& plan) {
    auto text = fmt::format("fits now, but {}, and would then start later", ahead(plan, queue.now));
    std::optional<Time> first;
    for (const auto& reservation : plan.reservations)
        if (reservation.at && (!first || *reservation.at < *first)) first = reservation.at;
    if (plan.reservations.empty()) return text;
    if (!first) return text + "; with a run limit (bsub -W) it need not wait for that";
    if (const auto most = *first - queue.now; most >= std::chrono::minutes(1))
        text += fmt::format("; with a run limit of at most {} (bsub -W) it need not wait for that",
                            limit_text(most));
    return text;
}

// The sentence about hosts; gangs started in this pass count as holding theirs.
Expected<std::string> about_hosts(const topo::Fabric& fabric, const Placer& placer, const Queue& queue,
                                  const Options& options, const Plan& plan, const WaitingGang& gang,
                                  const Remarks& remarks) {
    Timeline timeline(queue, options);
    Circumstances circumstances;
    circumstances.now = queue.now;
    circumstances.remarks = remarks;
    for (const auto& job : queue.holding)
        circumstances.holders.push_back(job.holder);
    for (const auto& start : plan.starts) {
        const auto started = std::find_if(queue.waiting.begin(), queue.waiting.end(),
                                          [&](const WaitingGang& other) { return other.job == start.job; });
        timeline.start(start.placement.hosts, started == queue.waiting.end() ? 0 : started->slots,
                       start.ends.value_or(Time::max()));
        circumstances.holders.push_back({start.job, start.ends, start.placement.hosts});
    }
    if (gang.hints.span && gang.hints.span_wait)
        if (const auto ends = gang.eligible + *gang.hints.span_wait; ends > queue.now)
            circumstances.wish_ends = ends;
    auto request = asked(gang, options, queue.now);
    auto forecast =
        outlook(fabric, placer, timeline.at(queue.now, queue.now, gang.slots, {}), request, circumstances);
    if (!forecast) return std::move(forecast).error();
    return std::move(forecast->sentence);
}

} // namespace

Expected<std::string> why_waits(const topo::Fabric& fabric, const Placer& placer, const Queue& queue,
                                const Options& options, const Plan& plan, base::JobId job,
                                const Remarks& remarks) {
    const auto at = std::find_if(plan.verdicts.begin(), plan.verdicts.end(),
                                 [&](const Verdict& verdict) { return verdict.job == job; });
    const auto i = static_cast<std::size_t>(at - plan.verdicts.begin());
    if (i >= queue.waiting.size() || queue.waiting[i].job != job)
        return Error{Code::usage, fmt::format("job {} does not wait in a parking queue", to_string(job))};
    switch (at->kind) {
    case Kind::starts: return std::string("starts now");
    case Kind::placed: return std::string("has its hosts");
    case Kind::refused: return at->text;
    case Kind::would_delay: return would_delay(queue, plan);
    case Kind::not_looked_at:
        return std::string("waits for its turn: many jobs wait, and the next pass begins with it");
    case Kind::reserved:
    case Kind::no_room:
    case Kind::hosts_away:
    case Kind::never: break;
    }
    auto text = about_hosts(fabric, placer, queue, options, plan, queue.waiting[i], remarks);
    if (!text) return text;
    if (at->kind == Kind::reserved && plan.reservations.size() == 1)
        return *text + "; it is the first that waits: no job that starts before it makes it later";
    if (at->kind == Kind::no_room && !plan.reservations.empty()) return *text + "; " + ahead(plan, queue.now);
    return text;
}

} // namespace sched::lsf
