// Cables that were moved, exchanged, added and removed; by whole hosts and switches if it applies to all
// their cables.
#include "topo/diff/report.hpp"

#include "base/hostlist.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace topo::drift {
namespace {

class CableReporter {
public:
    CableReporter(const Report& report, const Cables& cables) : report_(report), cables_(cables) {
        ring_reported_.assign(cables.rings.size(), 0);
        move_reported_.assign(cables.moves.size(), 0);
        for (const Link& link : report.before.links)
            for (const End* end : {&link.a, &link.b}) {
                if (end->switch_ != none) {
                    ++switch_cables_[end->switch_];
                } else if (const int now = report.match.host_after[at(end->host)]; now != none) {
                    const Host& host = report.before.hosts[at(end->host)];
                    if (host.hcas[at(end->hca)].role == Role::compute) ++host_cables_[now];
                }
            }
    }

    void report_all() {
        moved_hcas();
        exchanged_switches();
        exchanged_hosts();
        moved_hosts();
        other_ports();
        rings_alike();
        rings();
        moves_alike();
        moves();
        pairs(report_.before, cables_.gone, true);
        pairs(report_.after, cables_.fresh, false);
    }

private:
    using Indices = std::vector<std::size_t>;

    std::string name(const End& end) const { return end_name(report_.after, end); }
    const std::string& host_name(int host) const { return report_.after.hosts[at(host)].name; }
    std::string switch_name(int s) const { return topo::switch_name(report_.after, s); }

    std::string rail_of(const End& end) const {
        if (end.host == none) return {};
        const Hca& hca = report_.after.hosts[at(end.host)].hcas[at(end.hca)];
        if (hca.role == Role::storage) return " (storage)";
        return hca.rail == none ? "" : fmt::format(" (rail {})", hca.rail);
    }

    // If an HCA was put into another host, its different cable is not reported.
    void moved_hcas() {
        const auto moved = [&](const Move& move) {
            if (move.stays.host == none) return false;
            const HcaAt old = report_.match.hca_before[at(move.stays.host)][at(move.stays.hca)];
            return report_.match.host_after[at(old.host)] != move.stays.host;
        };
        for (std::size_t r = 0; r < cables_.rings.size(); ++r)
            ring_reported_[r] = std::all_of(cables_.rings[r].begin(), cables_.rings[r].end(), moved);
        for (std::size_t m = 0; m < cables_.moves.size(); ++m)
            move_reported_[m] = moved(cables_.moves[m]);
    }

    // Two switches that have exchanged their cables.
    void exchanged_switches() {
        std::map<std::pair<int, int>, Indices> by_pair;
        for (std::size_t r = 0; r < cables_.rings.size(); ++r) {
            const auto& ring = cables_.rings[r];
            if (ring.size() != 2) continue;
            const auto add = [&](int a, int b) {
                if (a != none && b != none && a != b) by_pair[std::minmax(a, b)].push_back(r);
            };
            add(ring[0].to.switch_, ring[1].to.switch_);
            add(ring[0].stays.switch_, ring[1].stays.switch_);
        }
        for (const auto& [pair, found] : by_pair) {
            const auto enough = [&, count = found.size()](int s) {
                const int old = report_.match.switch_before[at(s)];
                return old != none && count * 4 >= switch_cables_[old] * 3;
            };
            if (found.size() < 3 || !enough(pair.first) || !enough(pair.second)) continue;
            for (const auto r : found)
                ring_reported_[r] = 1;
            report_.add("switch.swapped", {switch_name(pair.first), switch_name(pair.second)},
                        fmt::format("{} and {} have changed places: {} of each {} where the other's did",
                                    switch_name(pair.first), switch_name(pair.second),
                                    counted(found.size(), "cable", "cables"),
                                    found.size() == 1 ? "ends" : "end"));
        }
    }

    // Two or more hosts that have exchanged places.
    void exchanged_hosts() {
        std::map<std::vector<int>, Indices> by_hosts;
        for (std::size_t r = 0; r < cables_.rings.size(); ++r) {
            if (ring_reported_[r] != 0) continue;
            std::vector<int> hosts;
            for (const Move& move : cables_.rings[r])
                hosts.push_back(move.stays.host);
            std::rotate(hosts.begin(), std::min_element(hosts.begin(), hosts.end()), hosts.end());
            auto unique = hosts;
            std::sort(unique.begin(), unique.end());
            if (unique.front() == none || std::adjacent_find(unique.begin(), unique.end()) != unique.end())
                continue;
            by_hosts[std::move(hosts)].push_back(r);
        }
        for (const auto& [hosts, found] : by_hosts) {
            if (found.size() < 2 || std::any_of(hosts.begin(), hosts.end(), [&, count = found.size()](int h) {
                    return count < host_cables_[h];
                }))
                continue;
            for (const auto r : found)
                ring_reported_[r] = 1;
            std::vector<std::string> names;
            for (const int h : hosts)
                names.push_back(host_name(h));
            const auto all = fmt::format("{}", fmt::join(names, ", "));
            report_.add("host.swapped", names,
                        names.size() == 2
                            ? fmt::format("{} and {} have changed places, with {}", names[0], names[1],
                                          counted(found.size(), "cable each", "cables each"))
                            : fmt::format("{} have changed places: each is where the next one was, with {}",
                                          all, counted(found.size(), "cable each", "cables each")));
        }
    }

    // Hosts whose compute cables all lead to other switches.
    void moved_hosts() {
        std::map<int, Indices> by_host;
        for (std::size_t m = 0; m < cables_.moves.size(); ++m) {
            const Move& move = cables_.moves[m];
            if (move.stays.host != none && move.to.switch_ != none && move.from.switch_ != none &&
                report_.now(move.from).switch_ != move.to.switch_)
                by_host[move.stays.host].push_back(m);
        }
        for (const auto& [host, found] : by_host) {
            std::size_t compute = 0;
            std::vector<int> from, to;
            std::string rails;
            for (const auto m : found) {
                const Move& move = cables_.moves[m];
                const Hca& hca = report_.after.hosts[at(host)].hcas[at(move.stays.hca)];
                if (hca.role != Role::compute) continue;
                ++compute;
                from.push_back(move.from.switch_);
                to.push_back(move.to.switch_);
                rails = rail_of(move.stays);
            }
            if (compute == 0 || compute < host_cables_[host]) continue;
            for (const auto m : found)
                move_reported_[m] = 1;
            const auto place = [](const Fabric& fabric, const std::string& unit,
                                  const std::vector<int>& leaves) {
                const auto names = switch_names(fabric, leaves);
                return unit.empty() ? names : fmt::format("{} ({})", unit, names);
            };
            const int old_host = report_.match.host_before[at(host)];
            const int old_unit = old_host == none ? none : report_.before.hosts[at(old_host)].unit;
            const int unit = report_.after.hosts[at(host)].unit;
            report_.add(
                "host.moved", {host_name(host)},
                fmt::format("{}{} was moved from {} to {}", host_name(host), compute == 1 ? rails : "",
                            place(report_.before,
                                  old_unit == none ? "" : report_.before.units[at(old_unit)].name, from),
                            place(report_.after, unit == none ? "" : report_.unit_name(unit), to)));
        }
    }

    bool same_switch(const Move& move) const {
        return move.to.switch_ != none && report_.now(move.from).switch_ == move.to.switch_;
    }
    bool replaced(int s) const {
        const int old = report_.match.switch_before[at(s)];
        return old != none && report_.before.switches[at(old)].guid != report_.after.switches[at(s)].guid;
    }

    // Several cables of one switch on other ports of it: harmless, and one change. For a replaced switch it
    // is reported there.
    void other_ports() {
        struct Found {
            Indices rings, moves;
            std::size_t cables = 0;
        };
        std::map<int, Found> by_switch;
        for (std::size_t r = 0; r < cables_.rings.size(); ++r) {
            const auto& ring = cables_.rings[r];
            if (ring_reported_[r] != 0 || !std::all_of(ring.begin(), ring.end(), [&](const Move& move) {
                    return same_switch(move) && move.to.switch_ == ring.front().to.switch_;
                }))
                continue;
            auto& found = by_switch[ring.front().to.switch_];
            found.rings.push_back(r);
            found.cables += ring.size();
        }
        for (std::size_t m = 0; m < cables_.moves.size(); ++m)
            if (move_reported_[m] == 0 && same_switch(cables_.moves[m])) {
                auto& found = by_switch[cables_.moves[m].to.switch_];
                found.moves.push_back(m);
                ++found.cables;
            }
        for (const auto& [s, found] : by_switch) {
            const bool several = found.rings.size() + found.moves.size() > 1;
            if (!several && !replaced(s)) continue;
            for (const auto r : found.rings)
                ring_reported_[r] = 1;
            for (const auto m : found.moves)
                move_reported_[m] = 1;
            if (!replaced(s))
                report_.add(
                    "switch.recabled", {switch_name(s)},
                    fmt::format("{}: {} cables are on other ports of it; they lead where they led before",
                                switch_name(s), found.cables));
        }
    }

    std::string device_of(const End& end) const {
        const Hca& hca = report_.after.hosts[at(end.host)].hcas[at(end.hca)];
        const auto name = hca.device.empty() ? std::string("an HCA") : hca.device;
        return hca.ports.size() > 1 ? fmt::format("{}/{}", name, end.port) : name;
    }

    // The same exchange among the HCAs of several hosts: one change.
    void rings_alike() {
        std::map<std::vector<std::string>, Indices> alike;
        for (std::size_t r = 0; r < cables_.rings.size(); ++r) {
            const auto& ring = cables_.rings[r];
            const int host = ring.front().stays.host;
            if (ring_reported_[r] != 0 || host == none ||
                std::any_of(ring.begin(), ring.end(),
                            [&](const Move& move) { return move.stays.host != host || same_switch(move); }))
                continue;
            std::vector<std::string> devices;
            for (const Move& move : ring)
                devices.push_back(device_of(move.stays) + (ring.size() == 2 ? rail_of(move.stays) : ""));
            std::rotate(devices.begin(), std::min_element(devices.begin(), devices.end()), devices.end());
            alike[std::move(devices)].push_back(r);
        }
        for (const auto& [devices, found] : alike) {
            if (found.size() < 3) continue; // two may be a coincidence
            std::vector<std::string> ends;
            std::vector<std::uint32_t> hosts;
            for (const auto r : found) {
                ring_reported_[r] = 1;
                hosts.push_back(static_cast<std::uint32_t>(cables_.rings[r].front().stays.host));
                for (const Move& move : cables_.rings[r])
                    ends.push_back(name(move.stays));
            }
            const bool two = devices.size() == 2;
            report_.add(two ? "cable.swapped" : "cable.rotated", std::move(ends),
                        fmt::format("the cables of {} of {} hosts, {}, were {}",
                                    fmt::join(devices, two ? " and " : ", "), hosts.size(),
                                    host_names(report_.after, hosts),
                                    two ? "swapped" : "rotated: each is where the next one was"));
        }
    }

    void rings() {
        for (std::size_t r = 0; r < cables_.rings.size(); ++r) {
            if (ring_reported_[r] != 0) continue;
            const auto& ring = cables_.rings[r];
            std::vector<std::string> ends;
            for (const Move& move : ring)
                ends.push_back(name(move.stays));
            const bool harmless =
                std::all_of(ring.begin(), ring.end(), [&](const Move& move) { return same_switch(move); });
            std::string text;
            if (ring.size() == 2) {
                text = fmt::format("the cables of {}{} and {}{} were swapped: now on {} and {}", ends[0],
                                   rail_of(ring[0].stays), ends[1], rail_of(ring[1].stays), name(ring[0].to),
                                   name(ring[1].to));
                if (harmless) text += ", the same switch";
            } else {
                text = fmt::format("the cables of {} were rotated: each is where the next one was",
                                   fmt::join(ends, ", "));
            }
            report_.add(ring.size() == 2 ? "cable.swapped" : "cable.rotated", std::move(ends),
                        std::move(text));
        }
    }

    // Several cables of hosts moved from one switch to another: one change.
    void moves_alike() {
        std::map<std::pair<int, int>, Indices> alike; // switch of `before`, switch of `after`
        for (std::size_t m = 0; m < cables_.moves.size(); ++m) {
            const Move& move = cables_.moves[m];
            if (move_reported_[m] == 0 && move.stays.host != none && move.from.switch_ != none &&
                move.to.switch_ != none && !same_switch(move))
                alike[{move.from.switch_, move.to.switch_}].push_back(m);
        }
        for (const auto& [switches, found] : alike) {
            if (found.size() < 3) continue;
            std::vector<std::string> ends, devices;
            std::vector<std::uint32_t> hosts;
            for (const auto m : found) {
                const Move& move = cables_.moves[m];
                move_reported_[m] = 1;
                ends.push_back(name(move.stays));
                hosts.push_back(static_cast<std::uint32_t>(move.stays.host));
                devices.push_back(device_of(move.stays));
            }
            std::sort(hosts.begin(), hosts.end());
            hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
            std::sort(devices.begin(), devices.end(), base::natural_less);
            devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
            const int now = report_.match.switch_after[at(switches.first)];
            const auto from =
                now == none ? topo::switch_name(report_.before, switches.first) : switch_name(now);
            const auto to = switch_name(switches.second);
            ends.insert(ends.end(), {from, to});
            report_.add("cable.moved", std::move(ends),
                        fmt::format("{} cables, {} of {}, were moved from {} to {}", found.size(),
                                    base::fold_hostlist(devices), host_names(report_.after, hosts), from,
                                    to));
        }
    }

    void moves() {
        for (std::size_t m = 0; m < cables_.moves.size(); ++m) {
            if (move_reported_[m] != 0) continue;
            const Move& move = cables_.moves[m];
            const auto from = report_.old_end(move.from);
            std::vector<std::string> ends{name(move.stays), from, name(move.to)};
            const bool ports = same_switch(move);
            auto text =
                fmt::format("the cable of {}{} was moved from {} to {}{}", ends[0], rail_of(move.stays), from,
                            ends[2], ports ? ", another port of the same switch" : "");
            report_.add(ports ? "cable.port" : "cable.moved", std::move(ends), std::move(text));
        }
    }

    // Cables between the same two things that were added or removed together are one change.
    void pairs(const Fabric& fabric, const std::vector<int>& links, bool gone) {
        std::map<std::pair<std::pair<int, int>, std::pair<int, int>>, std::vector<int>> by_pair;
        const auto thing = [](const End& end) { return std::pair(end.host, end.switch_); };
        for (const int l : links)
            by_pair[std::minmax(thing(fabric.links[at(l)].a), thing(fabric.links[at(l)].b))].push_back(l);
        const auto called = [&](const End& end) {
            return gone ? report_.old_end(end) : end_name(fabric, end);
        };
        for (const auto& [pair, found] : by_pair) {
            std::vector<std::string> ends;
            for (const int l : found) {
                ends.push_back(called(fabric.links[at(l)].a));
                ends.push_back(called(fabric.links[at(l)].b));
            }
            auto text =
                found.size() == 1
                    ? fmt::format("the link {} - {} is {}", ends[0], ends[1], gone ? "gone" : "new")
                    : fmt::format("{} links between {} and {} are {}", found.size(),
                                  whole(fabric, fabric.links[at(found.front())].a),
                                  whole(fabric, fabric.links[at(found.front())].b), gone ? "gone" : "new");
            report_.add(gone ? "link.removed" : "link.added", std::move(ends), std::move(text));
        }
    }
    static std::string whole(const Fabric& fabric, const End& end) {
        return end.host != none ? fabric.hosts[at(end.host)].name : topo::switch_name(fabric, end.switch_);
    }

    const Report& report_;
    const Cables& cables_;
    std::vector<char> ring_reported_, move_reported_;
    std::map<int, std::size_t> switch_cables_; // by switch of `before`
    std::map<int, std::size_t> host_cables_;   // compute cables before, by host of `after`
};

} // namespace

void report_cables(const Report& report, const Cables& cables) {
    CableReporter(report, cables).report_all();
}

} // namespace topo::drift
