#include "sched/slurm/advisor.h"

#include "sched/advise/advisor.hpp"
#include "sched/slurm/admin_comment.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace {

// For everything that these functions throw, which the C code around them must not see.
constexpr const char* no_memory = "out of memory: Slurm decides alone until there is more";

// The values must be the same on both sides.
static_assert(RAIL_SPAN_ANY == static_cast<int>(sched::Span::any));
static_assert(RAIL_SPAN_UNIT == static_cast<int>(sched::Span::unit));
static_assert(RAIL_SPAN_POD == static_cast<int>(sched::Span::pod));
static_assert(RAIL_SPAN_FABRIC == static_cast<int>(sched::Span::fabric));
static_assert(RAIL_SPAN_DOMAIN == static_cast<int>(sched::Span::domain));
static_assert(RAIL_OUTER_SEGMENTS == sched::most_segments - 1);
static_assert(RAIL_NEVER == sched::Ask::never);

sched::Question question_of(const rail_question& from) {
    sched::Question question;
    auto& request = question.request;
    request.nodes = std::max(from.least, 1U);
    request.most = std::max(from.wanted, request.nodes);
    request.span = static_cast<sched::Span>(from.hints.span);
    request.segment = from.hints.segment;
    for (const auto size : from.hints.outer_segments) {
        if (size == 0) break;
        request.outer_segments.push_back(size);
    }
    request.spares = std::min(from.hints.spares, request.nodes - 1);
    request.spare_floor = from.spare_floor;
    if (from.hints.span_wait != RAIL_NEVER) question.span_until = from.eligible + from.hints.span_wait;
    question.now = from.now;
    question.free_at = std::span(from.free_at, from.node_count);
    if (from.admin_comment != nullptr && !from.hints.anew)
        question.had = sched::had_in(from.admin_comment, from.restarts);
    if (from.required != nullptr) question.required = std::span(from.required, from.node_count);
    if (from.mixed != nullptr) question.mixed = std::span(from.mixed, from.node_count);
    return question;
}

} // namespace

struct rail_advisor {
    explicit rail_advisor(rail_log to)
        : log(to), it("Slurm", [to](sched::PlacementFiles::Level level, const std::string& text) {
              to(level == sched::PlacementFiles::Level::error ? RAIL_LOG_ERROR : RAIL_LOG_INFO, text.c_str());
          }) {}

    const rail_log log;
    sched::Advisor it;
};

struct rail_plan {
    std::unique_ptr<sched::Plan> it;
    std::optional<sched::Attempt> last{}; // as passed on
};

rail_advisor* rail_advisor_open(rail_log log) {
    try {
        return new rail_advisor(log);
    } catch (...) {
        log(RAIL_LOG_ERROR, no_memory);
        return nullptr;
    }
}

void rail_advisor_close(rail_advisor* advisor) {
    delete advisor;
}

void rail_advisor_reload(rail_advisor* advisor) {
    advisor->it.reload();
}

void rail_advisor_set_nodes(rail_advisor* advisor, const char* const* names, std::uint32_t count) {
    advisor->it.set_nodes(std::span(names, count));
}

void rail_hints_of(const char* admin_comment, const char* const* variables, std::uint32_t count,
                   rail_hints* hints) {
    *hints = {RAIL_SPAN_ANY, RAIL_NEVER, 0, 0, false, {}, false};
    try {
        sched::Hints found;
        for (const auto flag : sched::hint_flags()) {
            const auto name = std::string(sched::hint_variable(flag)) + '=';
            for (std::uint32_t i = 0; i < count; ++i)
                if (std::strncmp(variables[i], name.c_str(), name.size()) == 0) {
                    static_cast<void>(sched::set_hint(found, flag, variables[i] + name.size()));
                    break;
                }
        }
        if (const auto parsed = sched::parse_comment(admin_comment != nullptr ? admin_comment : "")) {
            if (parsed->span) found.span_wait = parsed->span_wait;
            if (parsed->span) found.span = parsed->span;
            if (parsed->segment) found.outer_segments = parsed->outer_segments;
            if (parsed->segment) found.segment = parsed->segment;
            if (parsed->spares) found.spares = parsed->spares;
            if (parsed->keep) found.keep = parsed->keep;
        }
        hints->span = static_cast<rail_span>(found.span.value_or(sched::Span::any));
        if (found.span_wait)
            hints->span_wait = std::chrono::duration_cast<std::chrono::seconds>(*found.span_wait).count();
        hints->segment = found.segment.value_or(0);
        std::copy(found.outer_segments.begin(), found.outer_segments.end(), hints->outer_segments);
        hints->segmented = hints->segment > 1 || hints->outer_segments[0] > 1;
        hints->spares = found.spares.value_or(0);
        hints->anew = found.keep == false;
    } catch (...) { // out of memory: nothing is known
        *hints = {RAIL_SPAN_ANY, RAIL_NEVER, 0, 0, false, {}, false};
    }
}

bool rail_advisor_packs_all(const rail_advisor* advisor) {
    return advisor->it.packs_all();
}

std::uint32_t rail_advisor_spare_floor(rail_advisor* advisor, const std::uint32_t* free_nodes,
                                       std::uint32_t count) {
    return advisor->it.spare_floor(std::span(free_nodes, count));
}

bool rail_advisor_ranks(rail_advisor* advisor, const std::uint32_t* nodes, std::uint32_t count,
                        std::uint32_t* ranks) {
    return advisor->it.rank(std::span(nodes, count), std::span(ranks, count));
}

rail_plan* rail_advisor_plan(rail_advisor* advisor, const rail_question* question) {
    try {
        auto plan = advisor->it.plan(question_of(*question));
        return plan ? new rail_plan{std::move(plan)} : nullptr;
    } catch (...) {
        advisor->log(RAIL_LOG_ERROR, no_memory);
        return nullptr;
    }
}

namespace {

struct Owned : rail_takeover {
    sched::Takeover it;
};

} // namespace

rail_takeover* rail_advisor_preempt(rail_advisor* advisor, const rail_question* question,
                                    const rail_preemptible* jobs, std::uint32_t count) {
    try {
        std::vector<sched::Preemptible> candidates;
        candidates.reserve(count);
        for (const auto& job : std::span(jobs, count))
            candidates.push_back(
                {std::span(job.nodes, job.count), job.number, job.all_nodes, job.order, job.started});
        auto found = advisor->it.preempt(question_of(*question), candidates);
        if (!found || found->jobs.empty()) return nullptr;
        auto owned = std::make_unique<Owned>();
        owned->it = *std::move(found);
        owned->attempt = {owned->it.nodes.data(), static_cast<std::uint32_t>(owned->it.nodes.size()), 0,
                          owned->it.why.c_str()};
        owned->jobs = owned->it.jobs.data();
        owned->job_count = static_cast<std::uint32_t>(owned->it.jobs.size());
        return owned.release();
    } catch (...) {
        advisor->log(RAIL_LOG_ERROR, no_memory);
        return nullptr;
    }
}

void rail_takeover_free(rail_takeover* takeover) {
    delete static_cast<Owned*>(takeover);
}

char* rail_preemption_comment(const char* admin_comment, const char* text) {
    try {
        return ::strdup(
            sched::with_part(admin_comment != nullptr ? admin_comment : "", sched::preempted_label, text)
                .c_str());
    } catch (...) {
        return nullptr;
    }
}

void rail_plan_free(rail_plan* plan) {
    delete plan;
}

bool rail_plan_waits(const rail_plan* plan) {
    return plan->it->waits();
}

bool rail_plan_next(rail_plan* plan, rail_attempt* attempt) {
    plan->last = plan->it->next();
    if (!plan->last) return false;
    *attempt = {plan->last->hosts.data(), static_cast<std::uint32_t>(plan->last->hosts.size()),
                plan->last->earliest, plan->last->why.c_str()};
    return true;
}

bool rail_plan_undecided(const rail_plan* plan) {
    return plan->it->undecided();
}

const char* rail_plan_unfit(const rail_plan* plan) {
    return plan->it->unfit().c_str();
}
