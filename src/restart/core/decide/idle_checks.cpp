// Idle checks from their order to their results. What the resource manager shows decides, not what was
// ordered: a job that exists is followed, even if an earlier journal ordered it, and one that is gone has
// ended. A check's result alone moves nothing (detect/agreed_checks.hpp).
//
// A check gives way to anything that needs its host: a waiting job that could use it (RmJob::wanted), a
// fault, a drain, maintenance. Then its job is ended, even while restartd may not act: the job is our own.

#include "restart/core/facts/idle_check.hpp"

#include "restart/core/act/gate.hpp"
#include "restart/core/detect/check_signs.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/detect/odd_bits.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace restart {
namespace {

constexpr base::Duration starts_within{30'000}; // an idle host's job; else the host is taken
constexpr base::Duration results_within{10'000}, read_within{10'000};
// Until a host is checked again: when its check was ended; when it could not begin; when it had no results,
// then twice as long each time.
constexpr base::Duration after_end{600'000}, after_refusal{3'600'000}, after_failure{1'200'000},
    longest_pause{24 * 3'600'000};
// No others begin this soon after a refusal, which may have the same reason for all.
constexpr base::Duration rest{300'000};

constexpr std::size_t most_named = 3;

void enter(StepContext& ctx, IdleCheck& check, IdleCheckStage stage) {
    check.stage = stage;
    check.since = ctx.now;
    ctx.changed();
}

void order(StepContext& ctx, IdleCheck& check, std::string_view name, decltype(Action::what) what,
           IdleCheckStage stage) {
    ++check.number;
    enter(ctx, check, stage);
    ctx.emit({idle_check_action(name, check), std::move(what)});
}

// From the results of the check's own job: the parts that are bad, and those that are unusual for the first
// time.
struct Findings {
    std::vector<std::string> bad, signs;
};

Findings findings_of(const StepContext& ctx, const std::string& name, const HostState& host,
                     const IdleCheck& check) {
    const auto& state = ctx.state;
    Findings found;
    for (const auto& odd : odd_bits(state, ctx.now))
        if (odd.host == name)
            found.bad.push_back(fmt::format("{} {}: other bits than those of {} hosts", odd.component,
                                            product_bits, odd.others));
    const auto medians = check_medians(state);
    for (const auto& known : host.checks) {
        const auto& last = known.readings.back();
        if (!last.by_us || last.job != check.job) continue;
        const auto part = fmt::format("{} {}", known.component, known.check);
        if (last.verdict == CheckVerdict::bad) {
            found.bad.push_back(part + (last.says.empty() ? "" : ": " + last.says));
            continue;
        }
        const auto signs = check_signs(known, medians).phrases;
        if (!signs.empty() && check_signs(known, medians, 1).phrases.empty())
            found.signs.push_back(fmt::format("{}: {}", part, fmt::join(signs, ", ")));
    }
    return found;
}

void note_list(StepContext& ctx, const std::string& name, std::string_view what,
               std::vector<std::string> parts) {
    if (parts.empty()) return;
    const auto more = parts.size() > most_named ? parts.size() - most_named : 0;
    parts.resize(parts.size() - more);
    ctx.note_host(NoteKind::signal, name,
                  fmt::format("an idle check finds {}: {}{}", what, fmt::join(parts, "; "),
                              more == 0 ? "" : fmt::format("; and {} more", more)));
}

// It brought no results: one more time in a row.
void fail(StepContext& ctx, IdleCheck& check, base::Duration first_pause) {
    check.not_before = ctx.now + std::min(longest_pause, first_pause * (1 << std::min(check.failures, 8U)));
    ++check.failures;
}

void finish(StepContext& ctx, const std::string& name, const HostState& host, IdleCheck& check) {
    enter(ctx, check, IdleCheckStage::none);
    if (check.told) {
        check.done = ctx.now;
        check.failures = 0;
        auto found = findings_of(ctx, name, host, check);
        note_list(ctx, name, "bad", std::move(found.bad));
        note_list(ctx, name, "a first sign of decay", std::move(found.signs));
        return;
    }
    if (check.cut_short) {
        check.not_before = ctx.now + after_end;
        return;
    }
    fail(ctx, check, after_failure);
    if (check.failures == 1)
        ctx.note_host(NoteKind::outcome, name, "an idle check has ended without results");
}

// Its job is gone, or was not read yet.
void miss(StepContext& ctx, const std::string& name, const HostState& host, IdleCheck& check) {
    switch (check.stage) {
    case IdleCheckStage::none:
    case IdleCheckStage::ordered: return;
    case IdleCheckStage::given:
        if (ctx.now - check.since >= read_within) finish(ctx, name, host, check);
        return;
    case IdleCheckStage::seen:
    case IdleCheckStage::ending: enter(ctx, check, IdleCheckStage::over); break;
    case IdleCheckStage::over: break;
    }
    if (check.told || check.cut_short || ctx.now - check.since >= results_within)
        finish(ctx, name, host, check);
}

std::string why_ended(const StepContext& ctx, const std::string& name, const IdleCheck& check,
                      const RmJob& job) {
    if (job.wanted) return "a job waits for hosts";
    if (ctx.policy.idle_checks.every == base::Duration{}) return "idle checks are switched off";
    if (job.phase == JobPhase::pending && ctx.now - check.since >= starts_within) return "it does not start";
    const auto& host = ctx.state.hosts.at(name);
    if (fault_holds(ctx.state, host)) return "the host has a fault";
    if (has_drain(ctx.state, name)) return "the host is drained";
    return maintenance_of(ctx.state, name);
}

void follow(StepContext& ctx, const std::string& name, HostState& host, const RmJob& job) {
    if (!host.idle_check) host.idle_check.emplace(); // from an earlier journal
    auto& check = *host.idle_check;
    if (check.acts()) return;
    if (check.stage != IdleCheckStage::seen || check.job != job.id) {
        enter(ctx, check, IdleCheckStage::seen);
        check.told = check.cut_short = false;
    }
    check.job = job.id;
    check.uid = job.uid;
    if (job.phase == JobPhase::completing) return;
    if (const auto why = why_ended(ctx, name, check, job); !why.empty()) {
        if (!std::exchange(check.cut_short, true))
            ctx.note_host(NoteKind::decision, name, fmt::format("its idle check is ended: {}", why));
        order(ctx, check, name, EndCheck{target(job.id, job.name, job.restarts, name)},
              IdleCheckStage::ending);
    }
}

bool is_due(const StepContext& ctx, const HostState& host) {
    const auto& check = host.idle_check;
    return !check || (!check->under_way() && ctx.now >= check->not_before &&
                      (!check->done || ctx.now - *check->done >= ctx.policy.idle_checks.every));
}

// Those whose last check, whatever its result, was longest ago come first.
void begin(StepContext& ctx) {
    const auto& policy = ctx.policy.idle_checks;
    if (policy.every == base::Duration{} || ctx.now < ctx.state.no_idle_checks_before ||
        gate(ctx.state, ctx.policy, ctx.now, std::string_view()))
        return;
    const auto under_way = static_cast<std::uint64_t>(
        std::count_if(ctx.state.hosts.begin(), ctx.state.hosts.end(), [](const auto& entry) {
            return entry.second.idle_check && entry.second.idle_check->under_way();
        }));
    if (under_way >= policy.max_at_once) return;
    std::vector<std::pair<base::Time, std::string_view>> due;
    for (const auto& [name, host] : ctx.state.hosts)
        if (is_due(ctx, host) && why_not_tried(ctx.state, ctx.policy, ctx.now, name).empty())
            due.emplace_back(host.idle_check ? host.idle_check->since : base::Time{}, name);
    const auto most = std::min<std::size_t>(due.size(), policy.max_at_once - under_way);
    std::partial_sort(due.begin(), due.begin() + static_cast<std::ptrdiff_t>(most), due.end());
    due.resize(most);
    for (const auto& [last, name] : due) {
        auto& kept = ctx.state.hosts.find(name)->second.idle_check;
        if (!kept) kept.emplace();
        kept->job = {};
        kept->told = kept->cut_short = false;
        order(ctx, *kept, name,
              CheckHost{std::string(name), policy.level, policy.partition, policy.account, policy.qos},
              IdleCheckStage::ordered);
    }
}

} // namespace

void tend_idle_checks(StepContext& ctx) {
    std::map<std::string_view, const RmJob*> jobs; // by host
    for (const auto& [id, job] : ctx.state.jobs)
        if (!job.rm.checks.empty()) jobs.emplace(job.rm.checks, &job.rm);
    for (auto& [name, host] : ctx.state.hosts) {
        if (const auto job = jobs.find(name); job != jobs.end())
            follow(ctx, name, host, *job->second);
        else if (host.idle_check)
            miss(ctx, name, host, *host.idle_check);
    }
    begin(ctx);
}

bool take_idle_check_outcome(StepContext& ctx, const ActionDone& done) {
    if (!done.action.starts_with("c-")) return false;
    const auto name = std::string_view(done.action).substr(2, done.action.rfind('/') - 2);
    const auto found = ctx.state.hosts.find(name);
    if (found == ctx.state.hosts.end() || !found->second.idle_check) return true;
    auto& check = *found->second.idle_check;
    if (!check.acts() || idle_check_action(name, check) != done.action) return true;
    if (done.error && done.error->code == base::Code::unavailable) ctx.state.rm_answers = false;
    const bool begins = check.stage == IdleCheckStage::ordered;
    if (!begins || !done.error) { // the next snapshot shows the result
        enter(ctx, check, begins ? IdleCheckStage::given : IdleCheckStage::seen);
        return true;
    }
    enter(ctx, check, IdleCheckStage::none);
    check.not_before = ctx.now + after_end;
    if (done.obsolete || done.error->code == base::Code::unavailable) return true;
    ctx.state.no_idle_checks_before = ctx.now + rest;
    fail(ctx, check, after_refusal);
    if (check.failures == 1)
        ctx.note_host(
            NoteKind::action, std::string(name),
            fmt::format("its idle check could not be begun: {}", state_text(done.error->text, 300)));
    return true;
}

void forget_idle_check_orders(StepContext& ctx) {
    for (auto& [name, host] : ctx.state.hosts)
        if (host.idle_check && host.idle_check->acts())
            enter(ctx, *host.idle_check,
                  host.idle_check->stage == IdleCheckStage::ordered ? IdleCheckStage::given
                                                                    : IdleCheckStage::seen);
}

} // namespace restart
