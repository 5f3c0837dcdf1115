// Where gangs go, for a resource manager's scheduler that asks repeatedly.
//
// An advisor keeps the fabric, the hosts' health (placement_files.hpp), and the mapping from the resource
// manager's node table to hosts. "No opinion" is always a possible answer: without a fabric, or if nothing is
// known about the nodes in question, the resource manager decides alone; this is logged once.
//
// All functions may be called from any thread and throw nothing. Node numbers are indices into the node
// table.
#pragma once

#include "base/host_health.hpp"
#include "sched/advise/attempts.hpp"
#include "sched/advise/placement_files.hpp"
#include "sched/placing.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sched {

// One job's question.
struct Question {
    Request request{};                        // its required hosts are those of `required`, and its previous
    std::vector<std::string> had{};           // hosts those named here, as far as they are in the fabric
    std::int64_t span_until = Ask::never;     // seconds; from this moment on any span is accepted
    std::int64_t now = 0;                     // seconds
    std::span<const std::int64_t> free_at{};  // by node: seconds; 0 = free now, Ask::never = not a candidate
    std::span<const std::uint8_t> required{}; // by node: non-zero = must be in; empty: none
    std::span<const std::uint8_t> mixed{};    // by node: Ask::mixed; empty: none
};

// A running job that a question's job may replace.
struct Preemptible {
    std::span<const std::uint32_t> nodes{}; // that become free when it and all other jobs on them have ended
    std::uint32_t number = 0;               // by which restartd reports when it was last saved
    std::uint32_t all_nodes = 0;            // the number of its nodes
    std::uint32_t order = 0;                // as in Preemptee
    std::int64_t started = 0;               // seconds
};

// Which jobs are preempted (preempt.hpp).
struct Takeover {
    std::vector<std::uint32_t> nodes; // ascending: free ones and the preempted jobs'
    std::vector<std::uint32_t> jobs;  // indices, ascending; empty: there is room without preemption
    std::string why;                  // a sentence
};

// Host sets to offer to the resource manager, best first. Created by an advisor, which must outlive it.
class Plan;

class Advisor {
public:
    using Log = std::function<void(PlacementFiles::Level, const std::string&)>;

    // Reads railyard.conf and the fabric file and starts to watch them. `manager`: the resource manager's
    // name in the log. Only the constructor may throw, when out of memory.
    Advisor(std::string manager, Log log);

    // Reads railyard.conf again, soon.
    void reload() noexcept { files_.reload(); }

    // The names in the node table, "" for a hole. To be called again whenever the table has changed.
    void set_nodes(std::span<const char* const> names) noexcept; // null is a hole, too

    // Whether jobs of one node get advice, too ([placement] pack).
    bool packs_all() const noexcept { return packs_all_; }

    // How many healthy nodes must stay free for restarts besides `free_nodes`, which are already free and
    // count as far as they are in the fabric; 0: none, or no fabric is known.
    std::uint32_t spare_floor(std::span<const std::uint32_t> free_nodes) noexcept;

    // The order of ranks, as far as it does not depend on the job (a ring without spares, rank_order.hpp):
    // for each node the number of its unit among theirs << 16, plus its place in it. False: no opinion, as
    // when a node is not in the fabric; `ranks` is unchanged. Costs nodes log nodes.
    bool rank(std::span<const std::uint32_t> nodes, std::span<std::uint32_t> ranks) noexcept;

    // Nothing: no opinion, or all of these jobs together do not make room. The question's `free_at` gives
    // what is free now. Costs no more than a plan.
    std::optional<Takeover> preempt(const Question& question, std::span<const Preemptible> jobs) noexcept;

    // Null: no opinion. The cost of a plan is bounded (sched/search/budget.hpp), for all its attempts
    // together, and for all plans of one second (Question::now) together.
    std::unique_ptr<Plan> plan(const Question& question) noexcept;

private:
    friend class Plan;
    struct World;

    bool use(topo::Fabric&& fabric, const base::Conf& conf); // whether it belongs to this cluster
    void avoid(base::HealthMap&& health);
    void keep_free(const std::optional<base::SpareFloor>& floor);
    void know(base::SavedMap&& saved);
    std::uint32_t wanted_floor() const;                        // with mutex_ held
    std::string why_foreign(const topo::Fabric& fabric) const; // with mutex_ held; empty: it does not
    void map();
    std::shared_ptr<const World> current();
    std::unique_ptr<Plan> make_plan(const Question& question);
    static std::optional<Ask> ask_of(const Question& question, const World& world);
    std::optional<Takeover> choose_preempted(const Question& question, std::span<const Preemptible> jobs);
    std::vector<std::int64_t> unsaved_since(std::span<const Preemptible> jobs);
    Budget grant(const Placer& placer, std::int64_t now);
    void account(std::uint64_t steps);
    void note_cut();

    const Log log_;
    const std::string manager_;
    const std::string no_memory_; // allocated in advance
    std::mutex mutex_;            // guards the following members
    std::vector<std::string> names_;
    std::shared_ptr<const Placing> newest_;
    std::shared_ptr<const World> world_;
    base::HealthMap avoided_;
    base::SavedMap saved_;
    base::SpareFloor configured_floor_;
    std::optional<base::SpareFloor> learned_floor_;
    std::uint64_t usual_budget_ = 5'000'000; // [placement] budget (Budget::of)
    bool unmapped_ = true;                   // `world_` has not been built from the above yet
    std::int64_t second_ = 0;                // that `spent_` refers to
    std::uint64_t spent_ = 0;
    std::string strangers_; // nodes outside the fabric, as last logged
    std::atomic<bool> cut_noted_ = false;
    std::atomic<bool> packs_all_ = false;
    PlacementFiles files_; // last: its thread uses the rest
};

class Plan {
public:
    Plan(Advisor& advisor, std::shared_ptr<const Advisor::World> world, Ask ask, std::int64_t now);
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    // Whether the job has to wait if no attempt is accepted: its span or segments are kept, or too few nodes
    // would stay free. Otherwise the resource manager may place it anywhere.
    bool waits() const { return attempts_.waits(); }

    // The next attempt, its hosts as node numbers, ascending; nothing if there are no more, or memory ran
    // out.
    std::optional<Attempt> next() noexcept;

    // Whether the job might still fit although no attempt so far was accepted: there are more, other sets
    // were not tried, or memory ran out. Then it must not be reported as impossible.
    bool undecided() const { return failed_ || attempts_.undecided(); }

    // Why the wanted nodes are not available now; empty while they are.
    const std::string& unfit() const { return attempts_.unfit(); }

private:
    Advisor& advisor_;
    std::shared_ptr<const Advisor::World> world_;
    Attempts attempts_;
    bool failed_ = false; // memory ran out
};

} // namespace sched
