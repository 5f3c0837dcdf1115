#include "sched/search/loads.hpp"

#include "sched/search/avoidance.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <tuple>

namespace sched {

Loads::Loads(const PlacementIndex& index, const Snapshot& snapshot, const Request& request,
             const std::vector<std::uint8_t>* allowed, bool keep)
    : index_(index), snapshot_(snapshot), request_(request), units_(index.units.size()),
      pod_candidates_(index.pods.size(), 0), pod_quanta_(index.pods.size(), 0),
      steps_(steps_of(index, request)) {
    if (steps_.unit > 1 && request.spares == 0) quantum_ = steps_.unit;
    const auto hosts = index.order.size();
    if (!request.excluded.empty() || allowed) {
        barred_.assign(hosts, 0);
        for (const auto h : request.excluded)
            barred_[h] = 1;
        if (allowed)
            for (std::size_t h = 0; h < hosts; ++h)
                if ((*allowed)[h] == 0) barred_[h] = 1;
    }
    if (!request.required.empty()) {
        wanted_.assign(hosts, 0);
        for (const auto h : request.required) {
            required_ += wanted_[h] == 0 ? 1 : 0;
            wanted_[h] = 1;
        }
        pod_required_.assign(index.pods.size(), 0);
    }
    if (const auto most = std::max(request.nodes, request.most);
        keep && !request.had.empty() && most <= most_to_keep) {
        kept_.assign(hosts, 0);
        for (const auto h : request.had)
            kept_[h] = 1;
        scale_ = most + 1;
    }
    const bool plain = barred_.empty() && wanted_.empty() && kept_.empty() && !request.shared;
    if (!snapshot.health.empty() || !kept_.empty()) impaired_first_.resize(units_.size() + 1, 0);
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        if (plain && sound(u))
            count_plain(u);
        else if (plain)
            count_unsound(u);
        else
            count_all(u);
        if (!impaired_first_.empty()) impaired_first_[u + 1] = static_cast<std::uint32_t>(impaired_.size());
        auto& load = units_[u];
        const auto& unit = index.units[u];
        load.whole = load.free == unit.size;
        load.quanta = quantum_ == 1       ? load.candidates
                      : steps_.domain > 1 ? quanta_of(u)
                                          : load.candidates / quantum_;
        candidates_ += load.candidates;
        mixed_ += load.mixed;
        pod_candidates_[unit.pod] += load.candidates;
        pod_quanta_[unit.pod] += load.quanta;
        if (required_ != 0) pod_required_[unit.pod] += load.required;
        if (load.impaired != 0 || load.required != 0 || load.free != load.candidates ||
            load.candidates != load.quanta * quantum_)
            simple_ = false;
    }
    if (request.spare_floor > 0) limit_idle();
}

// For groups that are kept within domains.
std::uint32_t Loads::quanta_of(std::uint32_t unit) const {
    std::uint32_t hosts = 0;
    for (auto d = index_.first_domain[unit]; d < index_.first_domain[unit + 1]; ++d) {
        const auto& domain = index_.domains[d];
        std::uint32_t here = 0;
        for (auto i = domain.first; i < domain.first + domain.size; ++i)
            here += candidate(index_.order[i]) ? 1 : 0;
        hosts += here - here % steps_.domain;
    }
    return hosts / quantum_;
}

void Loads::limit_idle() {
    std::uint32_t idle = 0;
    for (std::uint32_t h = 0; h < snapshot_.states.size(); ++h)
        idle += this->idle(h) && free(h) ? 1 : 0;
    idle_limit_ = (idle > request_.spare_floor ? idle - request_.spare_floor : 0) + request_.spares;
}

Loads::Loads(const Loads& base, const std::vector<std::uint32_t>& hosts) : Loads(base) {
    barred_.resize(index_.order.size(), 0);
    for (const auto h : hosts) {
        auto& load = units_[index_.unit_of[h]];
        const auto pod = index_.units[index_.unit_of[h]].pod;
        barred_[h] = 1;
        --load.candidates;
        if (is_impaired(h)) --load.impaired;
        if (snapshot_.states[h] == HostState::mixed) {
            --load.mixed;
            --mixed_;
        }
        --pod_candidates_[pod];
        pod_quanta_[pod] -= load.quanta;
        load.quanta = load.candidates / quantum_;
        pod_quanta_[pod] += load.quanta;
    }
    candidates_ -= static_cast<std::uint32_t>(hosts.size());
    parts_.reset();
    simple_ = simple_ && hosts.empty();
}

// Nearly all units are: checked without looking at each host.
bool Loads::sound(std::uint32_t unit) const {
    if (snapshot_.health.empty()) return true;
    if (!index_.in_order) return false;
    const auto* health = snapshot_.health.data() + index_.units[unit].first;
    std::uint32_t differ = 0; // float 1 has these bits, and no other float equal to 1 exists
    for (std::uint32_t i = 0; i < index_.units[unit].size; ++i)
        differ |= std::bit_cast<std::uint32_t>(health[i]) ^ std::bit_cast<std::uint32_t>(1.0F);
    return differ == 0;
}

void Loads::count_plain(std::uint32_t unit) {
    const auto& part = index_.units[unit];
    const auto* states = snapshot_.states.data();
    std::uint32_t free = 0;
    if (index_.in_order) {
        for (auto i = part.first; i < part.first + part.size; ++i)
            free += states[i] == HostState::free ? 1 : 0;
    } else {
        for (auto i = part.first; i < part.first + part.size; ++i)
            free += states[index_.order[i]] == HostState::free ? 1 : 0;
    }
    units_[unit].free = units_[unit].candidates = free;
}

// Hosts of any health; all that are free are candidates.
void Loads::count_unsound(std::uint32_t unit) {
    const auto& part = index_.units[unit];
    const auto* states = snapshot_.states.data();
    const auto* health = snapshot_.health.data();
    const auto* order = index_.order.data();
    std::uint32_t free = 0, impaired = 0;
    // Summed without a branch: which hosts are free cannot be predicted.
    for (auto i = part.first; i < part.first + part.size; ++i) {
        const auto h = order[i];
        const std::uint32_t is_free = static_cast<std::uint32_t>(states[h] == HostState::free) &
                                      static_cast<std::uint32_t>(health[h] > 0);
        free += is_free;
        impaired += is_free & static_cast<std::uint32_t>(health[h] < 1);
    }
    auto& load = units_[unit];
    load.free = load.candidates = free;
    load.impaired = impaired;
    for (auto i = part.first; impaired != 0 && i < part.first + part.size; ++i)
        if (const auto h = order[i]; health[h] < 1 && this->free(h)) impaired_.push_back(h);
}

void Loads::count_all(std::uint32_t unit) {
    const auto& part = index_.units[unit];
    auto& load = units_[unit];
    const auto before = impaired_.size();
    if (!impaired_first_.empty()) impaired_.resize(before + part.size);
    auto* next = impaired_.data() + before;
    // Summed without a branch, as above.
    for (auto i = part.first; i < part.first + part.size; ++i) {
        const auto h = index_.order[i];
        const std::uint32_t is_free = free(h) ? 1 : 0, in = candidate(h) ? 1 : 0;
        load.free += is_free;
        load.candidates += in;
        load.required += in & (wanted_.empty() ? 0U : wanted_[h]);
        load.mixed += in & static_cast<std::uint32_t>(snapshot_.states[h] == HostState::mixed);
        if (impaired_first_.empty()) continue;
        const std::uint32_t weak = snapshot_.health.empty() ? 0 : snapshot_.health[h] < 1;
        const auto counts = in & (weak | (kept_.empty() ? 0U : kept_[h] ^ 1U));
        load.impaired += counts;
        *next = h;
        next += counts;
    }
    if (!impaired_first_.empty()) impaired_.resize(before + load.impaired);
}

std::uint32_t Loads::avoidance(std::uint32_t host) const {
    if (snapshot_.health.empty()) return 0;
    if (snapshot_.health[host] >= 1) return 0; // nearly always
    return avoidance_of(snapshot_.health[host]);
}

std::vector<std::uint32_t> Loads::optional_avoidances(std::uint32_t unit) const {
    std::vector<std::uint32_t> values;
    if (units_[unit].impaired == 0) return values;
    if (snapshot_.health.empty() && units_[unit].required == 0) { // the only cost is that it is not kept
        values.assign(units_[unit].impaired, 1);
        return values;
    }
    for (const auto h : impaired(unit))
        if (const auto value = penalty(h); candidate(h) && !is_required(h) && value != 0)
            values.push_back(value);
    std::sort(values.begin(), values.end(), std::greater<>());
    return values;
}

std::uint64_t Loads::total_avoidance(std::uint32_t unit) const {
    if (units_[unit].impaired == 0) return 0;
    if (snapshot_.health.empty()) return units_[unit].impaired; // the same
    std::uint64_t sum = 0;
    for (const auto h : impaired(unit))
        if (candidate(h)) sum += penalty(h);
    return sum;
}

void Loads::take(std::uint32_t unit, std::uint32_t count, std::vector<std::uint32_t>& hosts) const {
    const auto& part = index_.units[unit];
    const auto& load = units_[unit];
    const auto start = static_cast<std::ptrdiff_t>(hosts.size());
    const bool all = count == load.candidates;
    const bool choosy = !all && (load.impaired != 0 || load.required != 0 || request_.shared);
    hosts.resize(hosts.size() + part.size);
    auto next = hosts.begin() + start;
    for (auto i = part.first; i < part.first + part.size; ++i) {
        *next = index_.order[i];
        next += candidate(*next) ? 1 : 0; // no branch: which hosts are candidates cannot be predicted
    }
    hosts.erase(choosy ? next : hosts.begin() + start + count, hosts.end());
    if (!choosy) return;
    const auto rank = [&](std::uint32_t h) {
        if (is_required(h)) return 0U;
        return 1 + 2 * penalty(h) + (idle(h) ? 1 : 0);
    };
    std::stable_sort(hosts.begin() + start, hosts.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
    hosts.resize(static_cast<std::size_t>(start) + count);
    std::sort(hosts.begin() + start, hosts.end());
}

void Loads::take(std::uint32_t unit, std::uint32_t count, std::uint32_t idle,
                 std::vector<std::uint32_t>& hosts) const {
    const auto& part = index_.units[unit];
    std::vector<std::uint32_t> kinds[2]; // mixed, idle
    for (auto i = part.first; i < part.first + part.size; ++i)
        if (const auto h = index_.order[i]; candidate(h)) kinds[this->idle(h) ? 1 : 0].push_back(h);
    const auto start = static_cast<std::ptrdiff_t>(hosts.size());
    for (auto& kind : kinds) {
        std::stable_sort(kind.begin(), kind.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(!is_required(a), penalty(a)) < std::pair(!is_required(b), penalty(b));
        });
        kind.resize(&kind == kinds ? count - idle : idle);
        hosts.insert(hosts.end(), kind.begin(), kind.end());
    }
    std::sort(hosts.begin() + start, hosts.end());
}

void Loads::take(const Share& share, std::vector<std::uint32_t>& hosts) const {
    if (const auto& load = units_[index_.unit_of[index_.order[share.first]]];
        load.impaired == 0 && load.required == 0 && !request_.shared) { // the first ones
        auto count = share.hosts;
        for (auto i = share.first; count > 0; ++i)
            if (const auto h = index_.order[i]; candidate(h)) {
                hosts.push_back(h);
                --count;
            }
        return;
    }
    std::vector<std::uint32_t> all;
    for (auto i = share.first; i < share.first + share.size; ++i)
        if (const auto h = index_.order[i]; candidate(h)) all.push_back(h);
    auto left = std::array{share.hosts, share.hosts}; // left to take: mixed and idle hosts
    if (idle_bound()) left = {share.hosts - share.idle, share.idle};
    std::stable_sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(!is_required(a), penalty(a), idle(a)) <
               std::tuple(!is_required(b), penalty(b), idle(b));
    });
    std::erase_if(all, [&](std::uint32_t h) {
        auto& kind = left[idle(h) ? 1 : 0];
        return kind == 0 || kind-- == 0;
    });
    all.resize(share.hosts);
    std::sort(all.begin(), all.end());
    hosts.insert(hosts.end(), all.begin(), all.end());
}

} // namespace sched
