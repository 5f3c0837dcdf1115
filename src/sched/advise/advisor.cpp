#include "sched/advise/advisor.hpp"

#include "base/hostlist.hpp"
#include "sched/advise/world.hpp"
#include "sched/ask/spare_floor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <malloc.h>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace sched {
namespace {

// However many jobs wait, the searches for them take at most a tenth of the scheduler's time.
constexpr std::uint64_t budgets_a_second = 20;

// If so few hosts of the fabric, or so few of the nodes, are in both the fabric and the node table, the
// fabric belongs to another cluster: keeping it would only waste memory.
constexpr std::size_t least_share_of_nodes = 10, least_share_of_hosts = 200; // one in this many

} // namespace

Advisor::Advisor(std::string manager, Log log)
    : log_(std::move(log)), manager_(std::move(manager)),
      no_memory_(fmt::format("out of memory: {} decides alone until there is more", manager_)),
      files_({.manager = manager_,
              .log = log_,
              .fabric = [this](topo::Fabric&& fabric,
                               const base::Conf& conf) { return use(std::move(fabric), conf); },
              .health = [this](base::HealthMap&& health) { avoid(std::move(health)); },
              .spares = [this](const std::optional<base::SpareFloor>& floor) { keep_free(floor); },
              .saved = [this](base::SavedMap&& saved) { know(std::move(saved)); }}) {}

// These four run on the thread of `files_`, which calls again after an exception.
bool Advisor::use(topo::Fabric&& fabric, const base::Conf& conf) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto why = why_foreign(fabric); !why.empty()) {
            log_(PlacementFiles::Level::error, why);
            return false;
        }
    }
    const auto floor = spare_floor_of(conf.placement, conf.checkpoint, fabric);
    auto shared = std::make_shared<const Placing>(std::move(fabric), floor);
    packs_all_ = conf.placement.pack == "all";
    const std::lock_guard lock(mutex_);
    configured_floor_ = {floor, conf.placement.spare_risk};
    usual_budget_ = static_cast<std::uint64_t>(conf.placement.budget / std::chrono::nanoseconds(1));
    newest_ = std::move(shared);
    newest_->spare_floor = wanted_floor();
    map();
    return newest_ != nullptr;
}

std::string Advisor::why_foreign(const topo::Fabric& fabric) const {
    std::unordered_set<std::string_view> nodes(names_.begin(), names_.end());
    nodes.erase(std::string_view());
    if (nodes.empty()) return {}; // not set yet
    const auto both = static_cast<std::size_t>(
        std::count_if(fabric.hosts.begin(), fabric.hosts.end(),
                      [&](const topo::Host& host) { return nodes.contains(host.name); }));
    if (both * least_share_of_nodes >= nodes.size() && both * least_share_of_hosts >= fabric.hosts.size())
        return {};
    return fmt::format(
        "the fabric file is another cluster's and is not used: of its {} hosts {} are among {}'s "
        "{} nodes ([placement] fabric, railtopo discover)",
        fabric.hosts.size(), both, manager_, nodes.size());
}

void Advisor::keep_free(const std::optional<base::SpareFloor>& floor) {
    const std::lock_guard lock(mutex_);
    learned_floor_ = floor;
    if (newest_) newest_->spare_floor = wanted_floor();
}

// A learned value is only valid for the risk that it was computed for: the configuration may have changed
// since.
std::uint32_t Advisor::wanted_floor() const {
    const bool fits = learned_floor_ && learned_floor_->risk == configured_floor_.risk;
    return fits ? learned_floor_->hosts : configured_floor_.hosts;
}

void Advisor::avoid(base::HealthMap&& health) {
    const std::lock_guard lock(mutex_);
    avoided_ = std::move(health);
    map();
}

void Advisor::know(base::SavedMap&& saved) {
    const std::lock_guard lock(mutex_);
    saved_ = std::move(saved);
}

// With `mutex_` held: names → hosts. Linear in nodes and hosts. If memory runs out, it is done before the
// next answer.
void Advisor::map() {
    unmapped_ = true;
    if (!newest_ || names_.empty()) return;
    if (const auto why = why_foreign(newest_->fabric); !why.empty()) {
        newest_.reset();
        world_.reset();
        unmapped_ = false;
        log_(PlacementFiles::Level::error, why);
#ifdef __GLIBC__
        ::malloc_trim(0);
#endif
        return;
    }
    auto next = std::make_shared<World>();
    next->placing = newest_;
    next->host_of_node.assign(names_.size(), unknown_host);
    next->node_of_host.assign(newest_->fabric.hosts.size(), unknown_host);
    std::vector<std::string> strangers;
    std::size_t count = 0; // without the table's holes
    for (std::uint32_t node = 0; node < names_.size(); ++node) {
        if (names_[node].empty()) continue;
        ++count;
        if (const auto host = newest_->find_host(names_[node])) {
            next->host_of_node[node] = *host;
            next->node_of_host[*host] = node;
        } else {
            strangers.push_back(names_[node]);
        }
    }
    for (const auto& [name, host] : avoided_)
        if (const auto found = newest_->find_host(name)) {
            next->health.resize(newest_->fabric.hosts.size(), 1.0F);
            next->health[*found] = host.health;
        }
    world_ = std::move(next);
    unmapped_ = false;
    auto folded = base::fold_hostlist(strangers);
    if (folded == strangers_) return;
    strangers_ = std::move(folded);
    if (!strangers_.empty())
        log_(PlacementFiles::Level::info,
             fmt::format("{} of {} nodes are not in the fabric file and get no advice: {}", strangers.size(),
                         count, strangers_));
}

std::shared_ptr<const Advisor::World> Advisor::current() {
    const std::lock_guard lock(mutex_);
    if (unmapped_) map();
    return world_;
}

// What a request may spend now: less if others have used up the shared allowance of this second.
Budget Advisor::grant(const Placer& placer, std::int64_t now) {
    const std::lock_guard lock(mutex_);
    const auto most = Budget::of(placer.index().order.size(), usual_budget_).left();
    if (second_ != now) {
        second_ = now;
        spent_ = 0;
    }
    const auto rest = budgets_a_second * most - std::min(budgets_a_second * most, spent_);
    return Budget(std::min(most, rest));
}

void Advisor::account(std::uint64_t steps) {
    const std::lock_guard lock(mutex_);
    spent_ += steps;
}

// Logs the first time that only the best place found so far was returned.
void Advisor::note_cut() {
    if (!cut_noted_.exchange(true))
        log_(PlacementFiles::Level::info,
             "a search for nodes has spent its budget of work: it takes the best place found so far, as "
             "others "
             "will from now on, without a line for each (railplan place tells which)");
}

void Advisor::set_nodes(std::span<const char* const> names) noexcept {
    try {
        std::vector<std::string> copy(names.size());
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names[i] != nullptr) copy[i] = names[i];
        const std::lock_guard lock(mutex_);
        if (world_ && copy == names_) return;
        names_ = std::move(copy);
        unmapped_ = true;
        map();
    } catch (...) { // retried before the next answer
        log_(PlacementFiles::Level::error, no_memory_);
    }
}

std::uint32_t Advisor::spare_floor(std::span<const std::uint32_t> free_nodes) noexcept {
    std::shared_ptr<const World> world;
    try {
        world = current();
    } catch (...) { // out of memory: nothing is known
        return 0;
    }
    if (!world) return 0;
    const auto& host_of_node = world->host_of_node;
    const auto have = std::count_if(free_nodes.begin(), free_nodes.end(), [&](std::uint32_t node) {
        return node < host_of_node.size() && host_of_node[node] != unknown_host;
    });
    const auto floor = world->placing->spare_floor.load();
    return floor - std::min(floor, static_cast<std::uint32_t>(have));
}

bool Advisor::rank(std::span<const std::uint32_t> nodes, std::span<std::uint32_t> ranks) noexcept {
    try {
        const auto world = current();
        if (!world) return false;
        const auto& index = world->placing->placer.index();
        struct Placed {
            std::uint32_t position, unit, at; // `at`: which of `nodes`
        };
        std::vector<Placed> placed;
        placed.reserve(nodes.size());
        for (std::uint32_t at = 0; at < nodes.size(); ++at) {
            if (nodes[at] >= world->host_of_node.size()) return false;
            const auto host = world->host_of_node[nodes[at]];
            if (host == unknown_host) return false;
            placed.push_back({index.position[host], index.unit_of[host], at});
        }
        std::sort(placed.begin(), placed.end(),
                  [](const Placed& a, const Placed& b) { return a.position < b.position; });
        std::vector<std::uint32_t> found(nodes.size());
        std::uint32_t unit = 0, place = 0;
        for (std::size_t i = 0; i < placed.size(); ++i) {
            if (i > 0) ++place;
            if (i > 0 && placed[i].unit != placed[i - 1].unit) {
                ++unit;
                place = 0;
            }
            if (place > 0xffff || unit > 0xffff) return false;
            found[placed[i].at] = unit << 16 | place;
        }
        std::copy(found.begin(), found.end(), ranks.begin());
        return true;
    } catch (...) { // out of memory: in Slurm's own order
        return false;
    }
}

std::unique_ptr<Plan> Advisor::plan(const Question& question) noexcept {
    try {
        return make_plan(question);
    } catch (...) {
        log_(PlacementFiles::Level::error, no_memory_);
        return nullptr;
    }
}

// Nothing: no opinion.
std::optional<Ask> Advisor::ask_of(const Question& question, const World& world) {
    if (world.host_of_node.size() != question.free_at.size()) return {};
    Ask ask;
    ask.request = question.request;
    ask.span_until = question.span_until;
    if (ask.span_until <= question.now) ask.request.span = Span::any;
    ask.free_at.assign(world.placing->fabric.hosts.size(), Ask::never);
    ask.health = world.health;
    if (!question.mixed.empty()) ask.mixed.assign(ask.free_at.size(), 0);
    for (std::uint32_t node = 0; node < question.free_at.size(); ++node) {
        const auto host = world.host_of_node[node];
        const bool required = node < question.required.size() && question.required[node] != 0;
        if (host == unknown_host) {
            if (required) return {}; // whether it is within the span cannot be known
            continue;
        }
        if (required) ask.request.required.push_back(host);
        ask.free_at[host] = question.free_at[node];
        if (node < question.mixed.size()) ask.mixed[host] = question.mixed[node];
    }
    for (const auto& name : question.had)
        if (const auto host = world.placing->find_host(name)) ask.request.had.push_back(*host);
    return ask;
}

std::unique_ptr<Plan> Advisor::make_plan(const Question& question) {
    auto world = current();
    if (!world) return nullptr;
    auto ask = ask_of(question, *world);
    if (!ask || std::ranges::all_of(ask->free_at, [](auto at) { return at == Ask::never; })) return nullptr;
    return std::make_unique<Plan>(*this, std::move(world), *std::move(ask), question.now);
}

std::optional<Takeover> Advisor::preempt(const Question& question,
                                         std::span<const Preemptible> jobs) noexcept {
    try {
        return choose_preempted(question, jobs);
    } catch (...) {
        log_(PlacementFiles::Level::error, no_memory_);
        return {};
    }
}

Plan::Plan(Advisor& advisor, std::shared_ptr<const Advisor::World> world, Ask ask, std::int64_t now)
    : advisor_(advisor), world_(std::move(world)),
      attempts_(world_->placing->placer, std::move(ask), advisor.grant(world_->placing->placer, now)) {}

Plan::~Plan() {
    advisor_.account(attempts_.budget().spent());
}

std::optional<Attempt> Plan::next() noexcept {
    try {
        auto attempt = attempts_.next();
        if (!attempt) return {};
        for (auto& host : attempt->hosts)
            host = world_->node_of_host[host];
        std::sort(attempt->hosts.begin(), attempt->hosts.end());
        if (!attempt->exact) advisor_.note_cut();
        return attempt;
    } catch (...) { // out of memory: no more attempts
        failed_ = true;
        return {};
    }
}

} // namespace sched
