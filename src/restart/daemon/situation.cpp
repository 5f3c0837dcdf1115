#include "restart/daemon/situation.hpp"

#include "base/hostlist.hpp"
#include "sched/explain.hpp"
#include "sched/explain_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace restart {
namespace {

// How many gangs are before a waiting one, and why, if the resource manager's order shows it; "" for the
// first. Their owners are not named.
std::string order_of(const RmQueue& queue, const QueueJob& job) {
    if (!job.standing) return {};
    std::size_t higher = 0, by_share = 0, earlier = 0;
    for (const auto& other : queue.jobs) {
        if (other.id == job.id) break;
        if (!other.standing) continue;
        if (other.standing->priority > job.standing->priority)
            ++higher;
        else if (other.standing->listed > job.standing->listed)
            ++by_share;
        else
            ++earlier;
    }
    if (higher + by_share + earlier == 0) return {};
    std::vector<std::string> parts;
    if (higher > 0) parts.push_back(fmt::format("{} in queues of a higher priority", higher));
    if (by_share > 0)
        parts.push_back(
            fmt::format("{} submitted later by users who have had less of their shares (PRIORITY of "
                        "bqueues -r)",
                        by_share));
    if (earlier > 0) parts.push_back(fmt::format("{} that LSF lists earlier", earlier));
    auto text =
        fmt::format("{} {} before it in LSF's order: {}", higher + by_share + earlier,
                    higher + by_share + earlier == 1 ? "gang waits" : "gangs wait", fmt::join(parts, ", "));
    if (job.standing->share)
        text += fmt::format("; its user's priority in queue {} is {:.3f}", job.partitions.front(),
                            *job.standing->share);
    return text;
}

class Maker {
public:
    Maker(const RmQueue& queue, const sched::Placing& placing, const QueueJob& job, const View& view,
          const std::vector<std::string>& had)
        : queue_(queue), placing_(placing), job_(job), view_(view), had_(had) {}

    Situation make() {
        out_.job = &job_;
        out_.circumstances.now = queue_.read;
        take_nodes();
        take_holders();
        take_request();
        take_universe();
        if (!job_.constraint.empty())
            out_.notes.push_back(fmt::format("which hosts have the features it asks for ({}) is not "
                                             "considered here",
                                             job_.constraint));
        note_small();
        if (auto order = order_of(queue_, job_); !order.empty()) out_.notes.push_back(std::move(order));
        return std::move(out_);
    }

private:
    std::vector<std::uint32_t> known(const std::vector<std::string>& names) const {
        std::vector<std::uint32_t> hosts;
        for (const auto& name : names)
            if (const auto host = placing_.find_host(name)) hosts.push_back(*host);
        std::sort(hosts.begin(), hosts.end());
        hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
        return hosts;
    }

    void take_nodes() {
        out_.snapshot.states.assign(placing_.fabric.hosts.size(), sched::HostState::down);
        auto& why = out_.circumstances.remarks.why;
        why.resize(placing_.fabric.hosts.size());
        for (const auto& node : queue_.nodes) {
            const auto host = placing_.find_host(node.name);
            if (!host) continue;
            auto state = node.state;
            if (node.not_responding && !node.heard && state < sched::HostState::drained)
                state = sched::HostState::down;
            if (state == sched::HostState::drained || state == sched::HostState::down) {
                if (view_.sees_hosts()) why[*host] = sched::remark_of(node.reason);
            } else if (node.reserved && job_.reservation.empty()) {
                state = sched::HostState::drained;
                why[*host] = "a reservation";
            } else if (state == sched::HostState::mixed && node.cpus_idle < job_.cpus_per_node) {
                state = sched::HostState::busy;
            }
            out_.snapshot.states[*host] = state;
            out_.snapshot.weaken(*host, node.health);
        }
    }

    void take_holders() {
        for (const auto& other : queue_.jobs)
            if (other.phase != QueuePhase::waiting && other.id != job_.id)
                out_.circumstances.holders.push_back(
                    {other.id, other.ends, known(other.nodes), view_.sees_job(other.owner)});
    }

    void take_request() {
        auto& request = out_.request;
        request.nodes = job_.least;
        request.most = job_.most;
        if (job_.restarts == 0) request.spare_floor = placing_.spare_floor;
        request.shared = !job_.exclusive;
        const bool waits = job_.phase == QueuePhase::waiting;
        const auto until = waits ? queue_.read : job_.start;
        const auto waited =
            job_.eligible > base::Time{} && until > job_.eligible ? until - job_.eligible : base::Duration{};
        request.had = known(job_.had.empty() ? had_ : job_.had);
        const auto wish = sched::apply_hints(job_.hints, waited, request);
        if (waits && wish) out_.circumstances.wish_ends = queue_.read + *wish;
        request.required = known(job_.required);
        if (request.required.size() < job_.required.size())
            out_.notes.push_back("hosts it requires are not in the fabric file");
        if (!job_.preempted.empty()) out_.notes.push_back("preemption: " + job_.preempted);
        out_.hosts = known(job_.nodes);
        if (out_.hosts.size() < job_.nodes.size())
            out_.notes.push_back(fmt::format("{} of its {} hosts are not in the fabric file",
                                             job_.nodes.size() - out_.hosts.size(), job_.nodes.size()));
        if (job_.waits_for == WaitsFor::hosts) out_.circumstances.turn = job_.why;
        if (job_.waits_for == WaitsFor::other) out_.circumstances.held = job_.why;
    }

    // Where Railyard has not chosen, health was not considered.
    void note_small() {
        const auto& request = out_.request;
        if (!queue_.leaves_small || job_.phase != QueuePhase::placed || job_.nodes.size() != 1 ||
            out_.hosts.size() != 1 || !job_.required.empty() || request.spare_floor > 0 ||
            request.span != sched::Span::any)
            return;
        const auto host = out_.hosts.front();
        const auto& health = out_.snapshot.health;
        if (host >= health.size() || health[host] >= 1) return;
        out_.notes.push_back(fmt::format(
            "{} is of reduced health ({:.2f}, railctl explain {}), which the resource manager does "
            "not know: it alone chooses for jobs of one node without flags, unless [placement] "
            "pack is \"all\"",
            job_.nodes.front(), health[host], job_.nodes.front()));
    }

    // What is outside the partitions or excluded by the user.
    void take_universe() {
        std::vector<std::uint8_t> inside(placing_.fabric.hosts.size(), 0);
        bool found = false;
        for (const auto& name : job_.partitions) {
            const auto partition = queue_.partitions.find(name);
            if (partition == queue_.partitions.end()) continue;
            found = true;
            for (const auto host : known(partition->second))
                inside[host] = 1;
        }
        if (!found) inside.assign(inside.size(), 1);
        // Required and held hosts are inside, whatever the partition says now.
        for (const auto* hosts : {&out_.request.required, &out_.hosts})
            for (const auto host : *hosts)
                inside[host] = 1;
        const auto excluded = known(job_.excluded);
        bool any_excluded = false;
        for (const auto host : excluded) {
            any_excluded = any_excluded || inside[host] != 0;
            if (!std::binary_search(out_.request.required.begin(), out_.request.required.end(), host))
                inside[host] = 0;
        }
        const auto partitions = fmt::format("not in partition {}", fmt::join(job_.partitions, " or "));
        const auto outside = std::count(inside.begin(), inside.end(), 0);
        if (static_cast<std::size_t>(outside) > excluded.size() || !any_excluded)
            out_.circumstances.remarks.excluded =
                any_excluded ? "excluded by the request or " + partitions : partitions;
        for (std::uint32_t host = 0; host < inside.size(); ++host)
            if (inside[host] == 0) out_.request.excluded.push_back(host);
    }

    const RmQueue& queue_;
    const sched::Placing& placing_;
    const QueueJob& job_;
    const View& view_;
    const std::vector<std::string>& had_;
    Situation out_;
};

} // namespace

std::optional<Situation> situation_of(const RmQueue& queue, const sched::Placing& placing, base::JobId job,
                                      const View& view, const std::vector<std::string>& had) {
    const auto found =
        std::find_if(queue.jobs.begin(), queue.jobs.end(), [&](const QueueJob& j) { return j.id == job; });
    if (found == queue.jobs.end()) return {};
    return Maker(queue, placing, *found, view, had).make();
}

std::string sentence_of(const Situation& situation, const sched::Placing& placing) {
    if (situation.job->phase != QueuePhase::waiting) return {};
    auto forecast = sched::outlook(placing.fabric, placing.placer, situation.snapshot, situation.request,
                                   situation.circumstances);
    return forecast ? std::move(forecast->sentence) : std::string();
}

boost::json::object placement_unknown(std::string_view sentence) {
    return {{"kind", "unknown"}, {"sentence", sentence}};
}

boost::json::object placement_json(const Situation& situation, const sched::Placing& placing) {
    const auto& [job, snapshot, request, circumstances, hosts, notes] = situation;
    boost::json::object out;
    if (job->phase == QueuePhase::leaving) return placement_unknown("its processes are being ended");
    if (job->phase == QueuePhase::placed) {
        if (hosts.empty()) return placement_unknown("none of its hosts are in the fabric file");
        out = sched::to_json(placing.fabric, placing.placer.index(),
                             sched::explain_allocation(placing.fabric, placing.placer, snapshot, request,
                                                       hosts, sched::explaining(placing.placer)));
    } else {
        auto told = circumstances; // in the comment that time would differ at each look
        if (job->start > told.now) told.expected_start = job->start;
        const auto forecast = sched::outlook(placing.fabric, placing.placer, snapshot, request, told);
        if (!forecast) return placement_unknown(forecast.error().text);
        out = sched::to_json(placing.fabric, *forecast, told.now);
        out["expected_start"] = told.expected_start ? boost::json::value(base::iso_time(*told.expected_start))
                                                    : boost::json::value(nullptr);
    }
    boost::json::array sentences;
    for (const auto& note : notes)
        sentences.emplace_back(note);
    out["notes"] = std::move(sentences);
    return out;
}

} // namespace restart
