// Where gangs go, for a resource manager's scheduler that asks again and again.
//
// An advisor keeps the fabric and the hosts' health (placement_files.hpp) and which host each entry of the
// resource manager's node table is. "No opinion" is an answer everywhere: without a fabric, or when nothing
// is known about the nodes in question, the resource manager decides alone; the log says so once.
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
    Request request{};                        // its required hosts are those of `required`, and its former
    std::vector<std::string> had{};           // ones those named here, as far as they are in the fabric
    std::int64_t span_until = Ask::never;     // seconds; the moment from which on any span will do
    std::int64_t now = 0;                     // seconds
    std::span<const std::int64_t> free_at{};  // by node: seconds; 0 = free now, Ask::never = not a candidate
    std::span<const std::uint8_t> required{}; // by node: non-zero = must be in; empty: none
    std::span<const std::uint8_t> mixed{};    // by node: Ask::mixed; empty: none
};

// A running job whose place that of a question may take.
struct Preemptible {
    std::span<const std::uint32_t> nodes{}; // that become free when it and all others on them have gone
    std::uint32_t number = 0;               // by which restartd tells when it was last saved
    std::uint32_t all_nodes = 0;            // how many it has
    std::uint32_t order = 0;                // as in Preemptee
    std::int64_t started = 0;               // seconds
};

// Whose place is taken (preempt.hpp).
struct Takeover {
    std::vector<std::uint32_t> nodes; // ascending: free ones and theirs
    std::vector<std::uint32_t> jobs;  // indices, ascending; empty: there is room without
    std::string why;                  // a sentence
};

// Host sets to offer to the resource manager, best first. Made by an advisor, to go before it does.
class Plan;

class Advisor {
public:
    using Log = std::function<void(PlacementFiles::Level, const std::string&)>;

    // Reads railyard.conf and the fabric file and starts to watch them. `manager`: the resource manager's
    // name in the log. The constructor alone may throw, for want of memory.
    Advisor(std::string manager, Log log);

    // Reads railyard.conf again, soon.
    void reload() noexcept { files_.reload(); }

    // The names in the node table, "" for a hole. To be called again whenever the table changed.
    void set_nodes(std::span<const char* const> names) noexcept; // null is a hole, too

    // Whether jobs of one node get advice, too ([placement] pack).
    bool packs_all() const noexcept { return packs_all_; }

    // How many healthy nodes are to stay free for restarts beside those, which are free already and count as
    // far as they are in the fabric; 0: none, or no fabric is known.
    std::uint32_t spare_floor(std::span<const std::uint32_t> free_nodes) noexcept;

    // The order of ranks, as far as it does not depend on the job (a ring without spares, rank_order.hpp): of
    // each node the number of its unit among theirs, above 16 bits of its place in it. False: no opinion, as
    // when one of them is not in the fabric; `ranks` is as it was. Costs nodes log nodes.
    bool rank(std::span<const std::uint32_t> nodes, std::span<std::uint32_t> ranks) noexcept;

    // Nothing: no opinion, or all of these jobs together do not make room. The question's `free_at` says what
    // is free now. Costs no more than a plan.
    std::optional<Takeover> preempt(const Question& question, std::span<const Preemptible> jobs) noexcept;

    // Null: no opinion. What a plan costs is bounded (sched/search/budget.hpp), for all its attempts
    // together, and for all plans of one second (Question::now) together.
    std::unique_ptr<Plan> plan(const Question& question) noexcept;

private:
    friend class Plan;
    struct World;

    bool use(topo::Fabric&& fabric, const base::Conf& conf); // whether it is this cluster's
    void avoid(base::HealthMap&& health);
    void keep_free(const std::optional<base::SpareFloor>& floor);
    void know(base::SavedMap&& saved);
    std::uint32_t wanted_floor() const;                        // with mutex_ held
    std::string why_foreign(const topo::Fabric& fabric) const; // with mutex_ held; empty: it is not
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
    const std::string no_memory_; // written out while there was some
    std::mutex mutex_;            // guards what follows
    std::vector<std::string> names_;
    std::shared_ptr<const Placing> newest_;
    std::shared_ptr<const World> world_;
    base::HealthMap avoided_;
    base::SavedMap saved_;
    base::SpareFloor configured_floor_;
    std::optional<base::SpareFloor> learned_floor_;
    std::uint64_t usual_budget_ = 5'000'000; // [placement] budget (Budget::of)
    bool unmapped_ = true;                   // `world_` is not made of the above yet
    std::int64_t second_ = 0;                // of which `spent_` steps are
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

    // Whether the job has to wait when no attempt is taken: its span or its segments are not to be broken, or
    // too few nodes would stay free. Otherwise the resource manager may place it as it likes.
    bool waits() const { return attempts_.waits(); }

    // The next attempt, its hosts as node numbers, ascending; nothing when there are no more, or for want of
    // memory.
    std::optional<Attempt> next() noexcept;

    // Whether the job might be had although none of the attempts seen so far was taken: there are more, or
    // others than those were not tried, or memory ran out. Not to be taken for "never".
    bool undecided() const { return failed_ || attempts_.undecided(); }

    // Why the wanted nodes cannot be had now; empty while they can.
    const std::string& unfit() const { return attempts_.unfit(); }

private:
    Advisor& advisor_;
    std::shared_ptr<const Advisor::World> world_;
    Attempts attempts_;
    bool failed_ = false; // memory ran out
};

} // namespace sched
