#include "sched/slurm/advisor.h"

#include "base/hostlist.hpp"
#include "sched/hints.hpp"
#include "sched/placing.hpp"
#include "sched/slurm/attempts.hpp"
#include "sched/slurm/placement_files.hpp"
#include "sched/spare_floor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr std::uint32_t unknown = UINT32_MAX;

// All that these functions throw, which the C code around them must not see.
constexpr const char* no_memory = "out of memory: Slurm decides alone until there is more";

// However many jobs wait, the searches for them take no more than a tenth of slurmctld's time.
constexpr std::uint64_t budgets_a_second = 20;

// One consistent view: the fabric and how Slurm's node table maps to it. Never changed once made.
struct World {
    std::shared_ptr<const sched::Placing> placing;
    std::vector<std::uint32_t> host_of_node; // unknown: not in the fabric
    std::vector<std::uint32_t> node_of_host; // unknown: not in Slurm
    std::vector<float> health;               // of each host; empty: all are sound
};

sched::Span span_of(rail_span span) {
    switch (span) {
    case RAIL_SPAN_UNIT: return sched::Span::unit;
    case RAIL_SPAN_POD: return sched::Span::pod;
    case RAIL_SPAN_FABRIC: return sched::Span::fabric;
    case RAIL_SPAN_ANY: break;
    }
    return sched::Span::any;
}

rail_span c_span(sched::Span span) {
    switch (span) {
    case sched::Span::unit: return RAIL_SPAN_UNIT;
    case sched::Span::pod: return RAIL_SPAN_POD;
    case sched::Span::fabric: return RAIL_SPAN_FABRIC;
    case sched::Span::any: break;
    }
    return RAIL_SPAN_ANY;
}

} // namespace

struct rail_advisor {
    explicit rail_advisor(rail_log to)
        : log(to),
          files({.log =
                     [to](sched::PlacementFiles::Level level, const std::string& text) {
                         to(level == sched::PlacementFiles::Level::error ? RAIL_LOG_ERROR : RAIL_LOG_INFO,
                            text.c_str());
                     },
                 .fabric = [this](topo::Fabric&& fabric,
                                  const base::Conf& conf) { use(std::move(fabric), conf); },
                 .health = [this](base::HealthMap&& health) { avoid(std::move(health)); }}) {}

    // These two on the thread of `files`, which calls again what throws.
    void use(topo::Fabric&& fabric, const base::Conf& conf) {
        const auto floor = sched::spare_floor_of(conf, fabric);
        auto shared = std::make_shared<const sched::Placing>(std::move(fabric), floor);
        const std::lock_guard lock(mutex);
        newest = std::move(shared);
        map();
    }

    void avoid(base::HealthMap&& health) {
        const std::lock_guard lock(mutex);
        avoided = std::move(health);
        map();
    }

    // With `mutex` held: names → hosts. Linear in nodes and hosts. What memory is too short for is done
    // before the next answer.
    void map() {
        unmapped = true;
        if (!newest || names.empty()) return;
        auto next = std::make_shared<World>();
        next->placing = newest;
        next->host_of_node.assign(names.size(), unknown);
        next->node_of_host.assign(newest->fabric.hosts.size(), unknown);
        std::vector<std::string> strangers;
        std::size_t count = 0; // without the table's holes
        for (std::uint32_t node = 0; node < names.size(); ++node) {
            if (names[node].empty()) continue;
            ++count;
            if (const auto host = newest->find_host(names[node])) {
                next->host_of_node[node] = *host;
                next->node_of_host[*host] = node;
            } else {
                strangers.push_back(names[node]);
            }
        }
        for (const auto& [name, host] : avoided)
            if (const auto found = newest->find_host(name)) {
                next->health.resize(newest->fabric.hosts.size(), 1.0F);
                next->health[*found] = host.health;
            }
        world = std::move(next);
        unmapped = false;
        auto folded = base::fold_hostlist(strangers);
        if (folded == told) return;
        told = std::move(folded);
        if (!told.empty())
            log(RAIL_LOG_INFO, fmt::format("{} of {} nodes are not in the fabric file and get no advice: {}",
                                           strangers.size(), count, told)
                                   .c_str());
    }

    std::shared_ptr<const World> current() {
        const std::lock_guard lock(mutex);
        if (unmapped) map();
        return world;
    }

    // What a request may spend at this moment: less when others have spent what all may in one second.
    sched::Budget grant(const sched::Placer& placer, std::int64_t now) {
        const std::lock_guard lock(mutex);
        const auto most = placer.budget().left();
        if (second != now) {
            second = now;
            spent = 0;
        }
        const auto rest = budgets_a_second * most - std::min(budgets_a_second * most, spent);
        return sched::Budget(std::min(most, rest));
    }
    void account(std::uint64_t steps) {
        const std::lock_guard lock(mutex);
        spent += steps;
    }

    // The first time that the best place found so far had to do.
    void tell_cut() {
        if (!cut_told.exchange(true))
            log(RAIL_LOG_INFO,
                "a search for nodes has spent its budget of work: it takes the best place found so far, as "
                "others will from now on, without a line for each (railplan place tells which)");
    }

    const rail_log log;
    std::mutex mutex; // guards what follows
    std::vector<std::string> names;
    std::shared_ptr<const sched::Placing> newest;
    std::shared_ptr<const World> world;
    base::HealthMap avoided;
    bool unmapped = true;    // `world` is not made of the above yet
    std::int64_t second = 0; // of which `spent` steps are
    std::uint64_t spent = 0;
    std::atomic<bool> cut_told = false;
    std::string told;            // nodes outside the fabric, as last logged
    sched::PlacementFiles files; // last: its thread uses the rest
};

struct rail_plan {
    rail_plan(rail_advisor& of, std::shared_ptr<const World> in, sched::Ask ask, std::int64_t now)
        : advisor(of), world(std::move(in)),
          attempts(world->placing->placer, std::move(ask), of.grant(world->placing->placer, now)) {}
    ~rail_plan() { advisor.account(attempts.budget().spent()); }
    rail_plan(const rail_plan&) = delete;
    rail_plan& operator=(const rail_plan&) = delete;

    rail_advisor& advisor;
    std::shared_ptr<const World> world;
    sched::Attempts attempts;
    std::vector<std::uint32_t> nodes;
    std::string why;
    bool failed = false; // memory ran out
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
    advisor->files.reload();
}

void rail_advisor_set_nodes(rail_advisor* advisor, const char* const* names, std::uint32_t count) {
    try {
        std::vector<std::string> copy(count);
        for (std::uint32_t i = 0; i < count; ++i)
            if (names[i] != nullptr) copy[i] = names[i];
        const std::lock_guard lock(advisor->mutex);
        if (advisor->world && copy == advisor->names) return;
        advisor->names = std::move(copy);
        advisor->unmapped = true;
        advisor->map();
    } catch (...) { // done before the next answer
        advisor->log(RAIL_LOG_ERROR, no_memory);
    }
}

void rail_hints_of(const char* admin_comment, const char* const* variables, std::uint32_t count,
                   rail_hints* hints) {
    *hints = {RAIL_SPAN_ANY, RAIL_NEVER, 0, 0};
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
        if (const auto told = sched::parse_comment(admin_comment != nullptr ? admin_comment : "")) {
            if (told->span) found.span_wait = told->span_wait;
            if (told->span) found.span = told->span;
            if (told->segment) found.segment = told->segment;
            if (told->spares) found.spares = told->spares;
        }
        hints->span = c_span(found.span.value_or(sched::Span::any));
        if (found.span_wait)
            hints->span_wait = std::chrono::duration_cast<std::chrono::seconds>(*found.span_wait).count();
        hints->segment = found.segment.value_or(0);
        hints->spares = found.spares.value_or(0);
    } catch (...) { // out of memory: nothing is known
        *hints = {RAIL_SPAN_ANY, RAIL_NEVER, 0, 0};
    }
}

std::uint32_t rail_advisor_spare_floor(rail_advisor* advisor, const std::uint32_t* free_nodes,
                                       std::uint32_t count) {
    std::shared_ptr<const World> world;
    try {
        world = advisor->current();
    } catch (...) { // out of memory: nothing is known
        return 0;
    }
    if (!world) return 0;
    const auto& host_of_node = world->host_of_node;
    const auto have = std::count_if(free_nodes, free_nodes + count, [&](std::uint32_t node) {
        return node < host_of_node.size() && host_of_node[node] != unknown;
    });
    const auto floor = world->placing->spare_floor;
    return floor - std::min(floor, static_cast<std::uint32_t>(have));
}

rail_plan* rail_advisor_plan(rail_advisor* advisor, const rail_question* question) {
    try {
        auto world = advisor->current();
        if (!world || world->host_of_node.size() != question->node_count) return nullptr;
        sched::Ask ask;
        ask.least = std::max(question->least, 1U);
        ask.wanted = std::max(question->wanted, ask.least);
        ask.span = span_of(question->hints.span);
        if (question->hints.span_wait != RAIL_NEVER) {
            ask.span_until = question->eligible + question->hints.span_wait;
            if (ask.span_until <= question->now) ask.span = sched::Span::any;
        }
        ask.segment = question->hints.segment;
        ask.spares = std::min(question->hints.spares, ask.least - 1);
        ask.spare_floor = question->spare_floor;
        ask.free_at.assign(world->placing->fabric.hosts.size(), sched::Ask::never);
        ask.health = world->health;
        bool any = false;
        for (std::uint32_t node = 0; node < question->node_count; ++node) {
            const auto host = world->host_of_node[node];
            const bool required = question->required != nullptr && question->required[node] != 0;
            if (host == unknown) {
                if (required) return nullptr; // whether it lies in the span cannot be known
                continue;
            }
            if (required) ask.required.push_back(host);
            ask.free_at[host] = question->free_at[node];
            any = any || question->free_at[node] != RAIL_NEVER;
        }
        if (!any) return nullptr;
        return std::make_unique<rail_plan>(*advisor, std::move(world), std::move(ask), question->now)
            .release();
    } catch (...) {
        advisor->log(RAIL_LOG_ERROR, no_memory);
        return nullptr;
    }
}

void rail_plan_free(rail_plan* plan) {
    delete plan;
}

bool rail_plan_waits(const rail_plan* plan) {
    return plan->attempts.waits();
}

bool rail_plan_next(rail_plan* plan, rail_attempt* attempt) {
    try {
        auto next = plan->attempts.next();
        if (!next) return false;
        plan->nodes.clear();
        for (const auto host : next->hosts)
            plan->nodes.push_back(plan->world->node_of_host[host]);
        std::sort(plan->nodes.begin(), plan->nodes.end());
        plan->why = std::move(next->why);
        if (!next->exact) plan->advisor.tell_cut();
        *attempt = {plan->nodes.data(), static_cast<std::uint32_t>(plan->nodes.size()), next->earliest,
                    plan->why.c_str()};
        return true;
    } catch (...) { // out of memory: no further advice
        plan->failed = true;
        return false;
    }
}

bool rail_plan_undecided(const rail_plan* plan) {
    return plan->failed || plan->attempts.undecided();
}

const char* rail_plan_unfit(const rail_plan* plan) {
    return plan->attempts.unfit().c_str();
}
