// What each unit offers to one request at one moment: a Snapshot as seen by a Request, used by the search.
#pragma once

#include "sched/ask/index.hpp"
#include "sched/ask/request.hpp"
#include "sched/ask/segments.hpp"
#include "sched/ask/snapshot.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sched {

// Avoidance is kept in thousandths, so that sums do not depend on their order.
inline constexpr std::uint32_t avoidance_unit = 1000;

struct UnitLoad {
    std::uint32_t candidates = 0; // hosts the request may take
    std::uint32_t quanta = 0;     // whole quanta among them (Loads::quantum)
    std::uint32_t free = 0;       // available to any job: candidates and hosts that this request excludes
    std::uint32_t required = 0;   // candidates that must be included
    std::uint32_t impaired = 0;   // candidates whose health is below 1, or that are new to the job
    std::uint32_t mixed = 0;      // candidates that other jobs also use
    bool whole = false;           // every host of the unit is free
};

struct NestedParts; // nested_parts.hpp

// What is taken from a part of the fabric.
struct Share {
    std::uint32_t first = 0, size = 0; // order[first … first + size) of PlacementIndex
    std::uint32_t hosts = 0, idle = 0; // how many; how many of these are idle, if Loads::idle_bound()
};

class Loads {
public:
    // The four are referenced and must outlive this. `allowed` (by host; null: all) narrows the candidates
    // further without changing what is free. `keep`: use Request::had (penalty).
    Loads(const PlacementIndex& index, const Snapshot& snapshot, const Request& request,
          const std::vector<std::uint8_t>* allowed = nullptr, bool keep = false);

    // `base` without these candidates, none of them required. They are free for other jobs and count as left
    // behind. Costs as much as a copy.
    Loads(const Loads& base, const std::vector<std::uint32_t>& hosts);

    const PlacementIndex& index() const { return index_; }
    const Snapshot& snapshot() const { return snapshot_; }
    const Request& request() const { return request_; }
    const std::vector<UnitLoad>& units() const { return units_; }
    const UnitLoad& unit(std::uint32_t u) const { return units_[u]; }

    // The quantum that is taken or left whole: a segment, or a host if there are no segments. With both
    // spares and segments a quantum is a host, too, and segmented() is true: the segments must still be kept
    // whole.
    std::uint32_t quantum() const { return quantum_; }
    std::uint32_t need() const { return request_.nodes / quantum_; } // of the gang, in quanta
    bool segmented() const { return request_.segment > 1 && request_.spares > 0; }

    const Steps& steps() const { return steps_; }

    std::uint32_t pod_candidates(std::uint32_t pod) const { return pod_candidates_[pod]; }
    std::uint32_t pod_quanta(std::uint32_t pod) const { return pod_quanta_[pod]; }
    std::uint32_t pod_required(std::uint32_t pod) const { return required_ == 0 ? 0 : pod_required_[pod]; }
    std::uint32_t candidates() const { return candidates_; }
    std::uint32_t mixed() const { return mixed_; } // of the candidates
    std::uint32_t required() const { return required_; }

    // How many idle hosts the gang may take without using those kept for restarts, including its spares;
    // without a floor any number.
    std::uint32_t idle_limit() const { return idle_limit_; }
    // Whether that is less than what it could take otherwise. Without mixed hosts, a smaller gang solves this
    // (nodes_that_fit), so only a gang on shared hosts is ever bound.
    bool idle_bound() const { return idle_limit_ < std::min(request_.nodes, candidates_ - mixed_); }

    // All candidates are healthy, none is required, all free hosts are candidates and part of a whole
    // quantum: units only differ by the number of their candidates and `whole`.
    bool simple() const { return simple_; }

    // No job is on it.
    bool idle(std::uint32_t host) const { return snapshot_.states[host] == HostState::free; }
    // These two have no branch that depends on the host, since it could not be predicted.
    bool free(std::uint32_t host) const {
        const auto state = snapshot_.states[host];
        const int room = static_cast<int>(state == HostState::free) |
                         (static_cast<int>(state == HostState::mixed) & static_cast<int>(request_.shared));
        const int sound = snapshot_.health.empty() ? 1 : static_cast<int>(snapshot_.health[host] > 0);
        return (room & sound) != 0;
    }
    bool candidate(std::uint32_t host) const {
        const int open = barred_.empty() ? 1 : static_cast<int>(barred_[host] == 0);
        return (static_cast<int>(free(host)) & open) != 0;
    }
    bool is_required(std::uint32_t host) const { return required_ != 0 && wanted_[host] != 0; }
    std::uint32_t avoidance(std::uint32_t host) const;

    // What the search sums up and minimizes in place of avoidance: the same if Request::had is not used, else
    // avoidance · penalty_scale() + 1 for a host that is not in it. A gang has fewer hosts than the scale, so
    // one sum orders first by avoidance, then by the hosts that are not kept.
    std::uint32_t penalty(std::uint32_t host) const {
        return avoidance(host) * scale_ + (kept_.empty() || kept_[host] != 0 ? 0 : 1);
    }
    std::uint32_t penalty_scale() const { return scale_; }
    bool keeps() const { return !kept_.empty(); }      // Request::had is used
    bool narrowed() const { return !barred_.empty(); } // some free hosts may not be candidates
    // For larger gangs keeping hosts is not considered: with segments the sum has only 40 bits.
    static constexpr std::uint32_t most_to_keep = 32'000;

    // The penalties above 0 of a unit's candidates that are not required, largest first.
    std::vector<std::uint32_t> optional_avoidances(std::uint32_t unit) const;
    // Sum over all candidates of a unit.
    std::uint64_t total_avoidance(std::uint32_t unit) const;

    // The best `count` candidates of a unit: required, then least penalty, then those in use, then lowest
    // index. Added to `hosts` in ascending order.
    void take(std::uint32_t unit, std::uint32_t count, std::vector<std::uint32_t>& hosts) const;
    // The same with exactly `idle` idle hosts among them.
    void take(std::uint32_t unit, std::uint32_t count, std::uint32_t idle,
              std::vector<std::uint32_t>& hosts) const;

    // The same for a part of a unit, order[first … first + size).
    void take(const Share& share, std::vector<std::uint32_t>& hosts) const;

private:
    friend const NestedParts& nested_parts(const Loads& loads);

    // Hosts of a unit with a penalty that were candidates when this was constructed.
    std::span<const std::uint32_t> impaired(std::uint32_t unit) const {
        return std::span(impaired_).subspan(impaired_first_[unit],
                                            impaired_first_[unit + 1] - impaired_first_[unit]);
    }
    bool sound(std::uint32_t unit) const;
    void count_plain(std::uint32_t unit);
    void count_unsound(std::uint32_t unit);
    void count_all(std::uint32_t unit);
    std::uint32_t quanta_of(std::uint32_t unit) const;
    void limit_idle();
    bool is_impaired(std::uint32_t host) const {
        return (!snapshot_.health.empty() && snapshot_.health[host] < 1) ||
               (!kept_.empty() && kept_[host] == 0);
    }

    const PlacementIndex& index_;
    const Snapshot& snapshot_;
    const Request& request_;
    std::vector<std::uint8_t> barred_; // by host; empty: none
    std::vector<std::uint8_t> wanted_; // by host; empty: none
    std::vector<std::uint8_t> kept_;   // by host: in Request::had; empty: had is unused
    std::vector<UnitLoad> units_;
    std::vector<std::uint32_t> pod_candidates_;
    std::vector<std::uint32_t> pod_quanta_;
    std::vector<std::uint32_t> pod_required_;
    std::vector<std::uint32_t> impaired_;       // by unit
    std::vector<std::uint32_t> impaired_first_; // of each unit, and the end; empty: there are none
    std::uint32_t scale_ = 1;
    Steps steps_;
    std::uint32_t quantum_ = 1;
    std::uint32_t candidates_ = 0;
    std::uint32_t mixed_ = 0; // number of candidates
    std::uint32_t idle_limit_ = ~std::uint32_t{0};
    std::uint32_t required_ = 0;
    bool simple_ = true;
    mutable std::shared_ptr<const NestedParts> parts_; // null: not requested yet
};

} // namespace sched
