// Any fabric, state and request: the whole gang or a refusal; no host twice, only candidates, the span kept,
// the same answer again, and without a budget the same gangs placed. Bytes: pods, units, hosts, rails, nodes,
// span, then two a host: state and flaws; then what else the request asks.
#include "sched/place.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

struct Bytes {
    const std::uint8_t* data;
    std::size_t size;

    int next(int below) {
        if (size == 0) return 0;
        --size;
        return *data++ % below;
    }
};

struct Case {
    topo::Fabric fabric;
    sched::Snapshot snapshot;
    sched::Request request;
};

void add_host(Case& c, Bytes& bytes, int unit) {
    auto& fabric = c.fabric;
    const auto index = static_cast<std::uint32_t>(fabric.hosts.size());
    topo::Host host;
    host.name = "n" + std::to_string(index + 1);
    host.unit = unit;
    host.leaves = fabric.units.back().leaves;
    c.snapshot.states.push_back(static_cast<sched::HostState>(std::max(bytes.next(8) - 4, 0)));
    c.snapshot.health.push_back(1);
    const auto rail = static_cast<std::size_t>(fabric.rails - 1);
    switch (bytes.next(16)) { // mostly sound
    case 1: host.leaves[rail] = topo::none; break;
    case 2: host.leaves[rail] = bytes.next(static_cast<int>(fabric.switches.size())); break;
    case 3: host.unit = topo::none; break;
    case 4: c.snapshot.health.back() = static_cast<float>(bytes.next(11)) / 10; break;
    case 5: c.request.required.push_back(index); break;
    case 6: c.request.excluded.push_back(index); break;
    default: break;
    }
    if (host.unit != topo::none) fabric.units.back().hosts.push_back(index);
    fabric.hosts.push_back(std::move(host));
}

Case make(Bytes& bytes) {
    Case c;
    const int pods = 1 + bytes.next(5), units = 1 + bytes.next(4), hosts = 1 + bytes.next(6);
    c.fabric.rails = 1 + bytes.next(3);
    c.request.nodes = static_cast<std::uint32_t>(bytes.next(pods * units * hosts + 2));
    c.request.span = static_cast<sched::Span>(bytes.next(4));
    for (int unit = 0; unit < pods * units; ++unit) {
        const int pod = unit / units;
        if (unit % units == 0) c.fabric.pods.push_back({"pod" + std::to_string(pod + 1), {}});
        c.fabric.pods.back().units.push_back(static_cast<std::uint32_t>(unit));
        c.fabric.units.push_back({"su" + std::to_string(unit + 1), {}, {}, pod});
        for (int rail = 0; rail < c.fabric.rails; ++rail) {
            c.fabric.units.back().leaves.push_back(static_cast<int>(c.fabric.switches.size()));
            c.fabric.switches.emplace_back().pod = pod;
        }
        for (int host = 0; host < hosts; ++host)
            add_host(c, bytes, unit);
    }
    c.request.most = static_cast<std::uint32_t>(bytes.next(2) == 1 ? bytes.next(64) : 0);
    c.request.segment = static_cast<std::uint32_t>(bytes.next(5));
    c.request.spares = static_cast<std::uint32_t>(bytes.next(5));
    c.request.order = static_cast<sched::RankOrder>(bytes.next(3));
    c.request.shared = bytes.next(2) == 1;
    c.request.spare_floor = static_cast<std::uint32_t>(bytes.next(8));
    return c;
}

void check(const Case& c, const sched::Placement& placement) {
    const auto& hosts = placement.hosts;
    const std::set<std::uint32_t> set(hosts.begin(), hosts.end());
    const auto& request = c.request;
    require(hosts.size() >= request.nodes && hosts.size() <= std::max(request.nodes, request.most));
    require(set.size() == hosts.size() && placement.spares == request.spares);
    std::map<int, std::uint32_t> ranks; // by unit
    for (std::size_t i = 0; i < hosts.size() - placement.spares; ++i)
        ++ranks[c.fabric.hosts[hosts[i]].unit == topo::none ? -1 - static_cast<int>(hosts[i])
                                                            : c.fabric.hosts[hosts[i]].unit];
    for (const auto& [unit, count] : ranks)
        require(count % std::max(request.segment, 1U) == 0);
    std::set<int> units, pods;
    for (const auto h : hosts) {
        require(h < c.fabric.hosts.size() && c.snapshot.health[h] > 0);
        require(c.snapshot.states[h] == sched::HostState::free ||
                (request.shared && c.snapshot.states[h] == sched::HostState::mixed));
        require(std::count(c.request.excluded.begin(), c.request.excluded.end(), h) == 0);
        const int unit = c.fabric.hosts[h].unit;
        units.insert(unit == topo::none ? -1 - static_cast<int>(h) : unit);
        if (unit != topo::none) pods.insert(c.fabric.units[static_cast<std::size_t>(unit)].pod);
    }
    for (const auto h : c.request.required)
        require(set.count(h) == 1);
    require(placement.score.units == units.size() && placement.score.pods >= pods.size());
    if (c.request.span == sched::Span::unit) require(units.size() == 1);
    if (c.request.span == sched::Span::pod) require(pods.size() <= 1 && placement.score.pods == 1);
    require(!placement.reasons.empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes{data, size};
    const auto c = make(bytes);
    const auto placement = sched::place(c.fabric, c.snapshot, c.request);
    const auto again = sched::place(c.fabric, c.snapshot, c.request);
    require(placement.has_value() == again.has_value());
    // Without any budget the same gangs are placed, perhaps not as well.
    const sched::Placer placer(c.fabric);
    sched::Budget nothing(0);
    const auto poor = placer.place(c.snapshot, c.request, nothing);
    require(placer.fits(c.snapshot, c.request).has_value() == placement.has_value());
    require(poor.has_value() == placement.has_value());
    if (poor) check(c, *poor);
    if (!placement) {
        require(!placement.error().text.empty() && placement.error().text == again.error().text);
        return 0;
    }
    require(placement->hosts == again->hosts && placement->score == again->score);
    check(c, *placement);
    return 0;
}
