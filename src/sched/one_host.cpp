#include "sched/one_host.hpp"

#include "sched/search/avoidance.hpp"

#include <algorithm>
#include <tuple>

namespace sched {
namespace {

std::uint32_t lacking_rails(const PlacementIndex& index, std::uint32_t host) {
    if (index.regular || !index.irregular(host, 0)) return 0;
    std::uint32_t count = 0;
    for (std::uint32_t rail = 0; rail < index.rails; ++rail)
        count += index.meeting(host, rail, 0) < 0 ? 1 : 0;
    return count;
}

// What makes a host worse than a plain one, as one number; less is better: first missing rails, then
// avoidance, then that the job did not have it before, last that it is idle although hosts in use are
// allowed.
using Flaws = std::uint64_t;
constexpr Flaws idle_flaw = 1, moved_flaw = 2, avoidance_flaw = 4, lacking_flaw = Flaws{1} << 32;
constexpr Flaws no_host = ~Flaws{0};

class Chooser {
public:
    Chooser(const PlacementIndex& index, const Snapshot& snapshot, const Request& request)
        : index_(index), snapshot_(snapshot), shared_(request.shared) {
        if (request.had.empty()) return;
        had_.assign(index.order.size(), 0);
        for (const auto host : request.had)
            had_[host] = 1;
    }

    std::optional<OneHost> run() {
        alike_ = index_.regular && index_.domains.empty() && snapshot_.health.empty() && had_.empty();
        for (std::uint32_t u = 0; u < index_.units.size(); ++u)
            alike_ ? see_alike(index_.units[u]) : see(u);
        if (alike_ && best_) best_->host = first_of_unit(best_->host, best_->idle);
        return best_;
    }

private:
    // Hosts of one part: the number of candidates, and the best of them.
    struct Part {
        std::uint32_t free = 0, host = 0;
        Flaws flaws = no_host;
    };

    std::uint32_t at(std::uint32_t position) const {
        return index_.in_order ? position : index_.order[position];
    }
    bool free(std::uint32_t host) const {
        const auto state = snapshot_.states[host];
        return (state == HostState::free || (shared_ && state == HostState::mixed)) &&
               (snapshot_.health.empty() || snapshot_.health[host] > 0);
    }
    Flaws flaws_of(std::uint32_t host) const {
        Flaws flaws = snapshot_.states[host] == HostState::free ? idle_flaw : 0;
        if (!had_.empty() && had_[host] == 0) flaws += moved_flaw;
        if (!snapshot_.health.empty() && snapshot_.health[host] < 1)
            flaws += avoidance_flaw * avoidance_of(snapshot_.health[host]);
        return flaws + lacking_flaw * lacking_rails(index_, host);
    }

    std::uint32_t count(const PlacementIndex::Unit& unit, HostState state) const {
        std::uint32_t count = 0;
        if (index_.in_order) { // a loop that compilers vectorize
            const auto* states = snapshot_.states.data() + unit.first;
            for (std::uint32_t i = 0; i < unit.size; ++i)
                count += states[i] == state ? 1 : 0;
        } else {
            for (auto i = unit.first; i < unit.first + unit.size; ++i)
                count += snapshot_.states[index_.order[i]] == state ? 1 : 0;
        }
        return count;
    }

    // If candidates differ only by the jobs on them, their numbers are sufficient: no look at each host,
    // whose branches could be mispredicted.
    void see_alike(const PlacementIndex::Unit& unit) {
        const auto idle = count(unit, HostState::free);
        const auto mixed = shared_ ? count(unit, HostState::mixed) : 0;
        const auto free = idle + mixed;
        if (free == 0) return;
        const bool is_idle = free == idle;
        take({unit.first, free - 1, is_idle, free == unit.size && unit.size > 1}, is_idle ? idle_flaw : 0);
    }

    void see(std::uint32_t u) {
        const auto& unit = index_.units[u];
        std::uint32_t free = 0;
        OneHost found;
        Flaws flaws = no_host;
        if (index_.domains.empty()) {
            const auto all = look(unit.first, unit.size);
            free = all.free;
            found.host = all.host;
            flaws = all.flaws;
        } else {
            for (auto d = index_.first_domain[u]; d < index_.first_domain[u + 1]; ++d) {
                const auto& domain = index_.domains[d];
                const auto each =
                    domain.joined ? domain.size : 1; // hosts without a domain are domains of their own
                for (std::uint32_t i = 0; i < domain.size; i += each) {
                    const auto part = look(domain.first + i, each);
                    if (part.free == 0) continue;
                    free += part.free;
                    const bool breaks = part.free == each && each > 1;
                    const auto left = part.free - 1;
                    if (std::tuple(flaws, found.breaks_domain, found.left_in_domain) <=
                        std::tuple(part.flaws, breaks, left))
                        continue;
                    found.host = part.host;
                    found.breaks_domain = breaks;
                    found.left_in_domain = left;
                    flaws = part.flaws;
                }
            }
        }
        if (flaws == no_host) return;
        found.left = free - 1;
        found.idle = (flaws & idle_flaw) != 0;
        found.breaks = free == unit.size && unit.size > 1;
        take(found, flaws);
    }

    Part look(std::uint32_t first, std::uint32_t size) const {
        Part part;
        for (auto i = first; i < first + size; ++i) {
            const auto host = at(i);
            if (!free(host)) continue;
            ++part.free;
            const auto flaws = flaws_of(host);
            if (flaws >= part.flaws) continue;
            part.flaws = flaws;
            part.host = host;
        }
        return part;
    }

    void take(const OneHost& found, Flaws flaws) {
        const auto order = [](const OneHost& one, Flaws its) {
            return std::tuple(its, one.breaks_domain, one.breaks, one.left_in_domain, one.left);
        };
        if (best_ && order(*best_, flaws_) <= order(found, flaws)) return;
        best_ = found;
        flaws_ = flaws;
    }

    // In the unit that begins at this position.
    std::uint32_t first_of_unit(std::uint32_t position, bool idle) const {
        while (snapshot_.states[at(position)] != (idle ? HostState::free : HostState::mixed))
            ++position;
        return at(position);
    }

    const PlacementIndex& index_;
    const Snapshot& snapshot_;
    const bool shared_;
    bool alike_ = false;
    std::vector<std::uint8_t> had_; // by host; empty: it had none before
    std::optional<OneHost> best_;   // of alike_: its host is the first position of its unit
    Flaws flaws_ = no_host;         // those of best_
};

} // namespace

std::optional<OneHost> best_host(const PlacementIndex& index, const Snapshot& snapshot,
                                 const Request& request) {
    return Chooser(index, snapshot, request).run();
}

} // namespace sched
