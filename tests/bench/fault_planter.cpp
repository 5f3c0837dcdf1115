#include "bench/fault_planter.hpp"

#include "base/hostlist.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace faults {

using topo::at;
using topo::none;

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all{{"dead_cable", {"host.rails", "hca.port"}},
                                       {"dead_hca", {"host.rails"}},
                                       {"host_narrow", {"link.narrow"}},
                                       {"host_slow", {"link.slow"}},
                                       {"wrong_rail", {"hca.wrong_rail", "hca.swapped", "hca.rotated"}},
                                       {"wrong_unit", {"hca.wrong_unit"}},
                                       {"on_spine", {"hca.on_spine"}},
                                       {"rails_swapped", {"hca.swapped", "hca.rotated", "unit.cabling"}},
                                       {"rails_rotated", {"hca.rotated"}},
                                       {"hosts_other_rails", {"hca.swapped", "hca.wrong_rail"}},
                                       {"hosts_same_rail_units", {"hca.swapped", "hca.wrong_unit"}},
                                       {"uplink_missing", {"uplink.missing"}},
                                       {"uplinks_crossed", {"uplink.crossed", "uplink.wrong_spine"}},
                                       {"uplink_moved", {"uplink.wrong_spine", "uplink.crossed"}},
                                       {"uplink_narrow", {"link.narrow"}},
                                       {"uplink_slow", {"link.slow"}},
                                       {"spine_gone", {"switch.missing"}},
                                       {"spine_slow", {"switch.slow"}},
                                       {"leaf_narrow", {"switch.narrow"}},
                                       {"leaf_to_leaf", {"link.sideways", "link.between_networks"}},
                                       {"loop", {"link.loop"}},
                                       {"leaf_to_core", {"uplink.more"}},
                                       {"core_gone", {"switch.missing"}},
                                       {"leaf_gone", {"unit.rails", "host.missing"}},
                                       {"half_on_spine", {"hca.on_spine"}},
                                       {"unit_nameless", {"name.missing"}},
                                       {"unit_dark", {"host.missing"}},
                                       {"unit_gone", {"host.missing"}},
                                       {"hca_nameless", {"name.missing"}},
                                       {"host_nameless", {"name.missing"}},
                                       {"host_localhost", {"name.missing"}},
                                       {"hca_named_twice", {"name.duplicate"}},
                                       {"hosts_of_one_name", {"name.duplicate"}},
                                       {"upper_case", {"name.spelling"}},
                                       {"domain", {"name.spelling"}},
                                       {"device_counted", {}},
                                       {"device_odd", {}},
                                       {"switch_name", {"name.duplicate"}},
                                       {"host_missing", {"host.missing"}},
                                       {"storage_dead_hca", {"host.storage"}},
                                       {"storage_narrow", {"link.narrow"}},
                                       {"storage_in_compute", {"hca.wrong_leaf"}},
                                       {"storage_uplink", {"uplink.missing"}},
                                       {"storage_joined", {"link.between_networks", "link.sideways"}}};
    return all;
}

bool is_at(const topo::Finding& finding, const Planted& planted) {
    const auto& codes = kinds()[planted.kind].codes;
    if (std::find(codes.begin(), codes.end(), finding.code) == codes.end()) return false;
    std::vector<std::string> ends;
    for (const auto& end : finding.ends) {
        ends.push_back(end);
        if (const auto names = base::expand_hostlist(end))
            ends.insert(ends.end(), names->begin(), names->end());
    }
    return std::any_of(planted.places.begin(), planted.places.end(), [&](const std::string& place) {
        return std::any_of(ends.begin(), ends.end(), [&](const std::string& end) {
            return end == place || (end.starts_with(place) && end[place.size()] == '/');
        });
    });
}

Planter::Planter(topo::RawFabric raw, topo::Fabric sound, unsigned seed)
    : raw_(std::move(raw)), sound_(std::move(sound)), random_(seed) {
    for (std::size_t i = 0; i < raw_.nodes.size(); ++i)
        index_.emplace(raw_.nodes[i].guid, i);
    for (int h = 0; at(h) < sound_.hosts.size(); ++h)
        if (sound_.hosts[at(h)].unit != none) hosts_.push_back(h);
    for (int s = 0; at(s) < sound_.switches.size(); ++s)
        if (sound_.switches[at(s)].tier == 0) leaves_.push_back(s);
    std::shuffle(hosts_.begin(), hosts_.end(), random_);
    std::shuffle(leaves_.begin(), leaves_.end(), random_);
}

topo::RawPort* Planter::port(const Port& where) {
    for (auto& p : node(where.node).seen)
        if (p.number == where.number) return &p;
    return nullptr;
}

void Planter::cut(const Port& a, const Port& b) {
    for (const Port& p : {a, b})
        std::erase_if(node(p.node).seen, [&](const topo::RawPort& seen) { return seen.number == p.number; });
}

void Planter::join(const Port& a, const Port& b, topo::Rate rate) {
    for (const auto& [here, there] : {std::pair(a, b), std::pair(b, a)}) {
        topo::RawPort* p = port(here);
        if (p == nullptr) {
            p = &node(here.node).seen.emplace_back();
            p->number = static_cast<std::uint8_t>(here.number);
        }
        p->linked = true;
        p->peer = there.node;
        p->peer_port = static_cast<std::uint8_t>(there.number);
        p->rate = rate;
    }
    node(a.node).ports = std::max(node(a.node).ports, a.number);
    node(b.node).ports = std::max(node(b.node).ports, b.number);
}

void Planter::connect(Guid a, Guid b) {
    const auto speed = node(a).seen.front().rate;
    const Port one{a, free_port(a)};
    node(a).seen.emplace_back().number = static_cast<std::uint8_t>(one.number);
    join(one, {b, free_port(b)}, speed);
}

void Planter::exchange(const Port& a, const Port& b) {
    const topo::RawPort one = *port(a), other = *port(b);
    join(a, {other.peer, other.peer_port}, one.rate);
    join(b, {one.peer, one.peer_port}, other.rate);
}

void Planter::rate(const Port& a, const Port& b, bool narrow) {
    for (const Port& p : {a, b}) {
        if (topo::RawPort* seen = port(p)) {
            const int lanes = seen->rate.width;
            seen->rate.mbps = narrow ? seen->rate.mbps / static_cast<unsigned>(lanes) : seen->rate.mbps / 2;
            if (narrow) seen->rate.width = 1;
        }
    }
}

void Planter::drop(Guid guid) {
    if (!index_.contains(guid)) return;
    for (const auto& p : std::vector(node(guid).seen))
        if (p.linked && index_.contains(p.peer)) cut({guid, p.number}, {p.peer, p.peer_port});
    raw_.nodes.erase(raw_.nodes.begin() + static_cast<std::ptrdiff_t>(index_.at(guid)));
    index_.clear();
    for (std::size_t i = 0; i < raw_.nodes.size(); ++i)
        index_.emplace(raw_.nodes[i].guid, i);
}

int Planter::free_port(Guid guid) {
    std::set<int> used;
    for (const auto& p : node(guid).seen)
        used.insert(p.number);
    int free = 1;
    for (; used.contains(free); ++free) {}
    return free;
}

bool Planter::cabled(const topo::Hca& hca) const {
    return index_.contains(hca.guid) && !hca.ports.empty() && hca.ports[0].leaf != none &&
           index_.contains(sound_.switches[at(hca.ports[0].leaf)].guid);
}

std::vector<int> Planter::rails(int host) const {
    std::vector<int> found;
    const auto& hcas = sound_.hosts[at(host)].hcas;
    for (int i = 0; at(i) < hcas.size(); ++i)
        if (hcas[at(i)].rail != none && cabled(hcas[at(i)]) &&
            hcas[at(i)].ports[0].leaf ==
                sound_.units[at(sound_.hosts[at(host)].unit)].leaves[at(hcas[at(i)].rail)])
            found.push_back(i);
    return found;
}

int Planter::storage(int host) const {
    const auto& hcas = sound_.hosts[at(host)].hcas;
    for (int i = 0; at(i) < hcas.size(); ++i)
        if (hcas[at(i)].rail == none && cabled(hcas[at(i)])) return i;
    return none;
}

int Planter::next_host(std::size_t least, int unit) {
    for (auto h = hosts_.begin(); h != hosts_.end(); ++h) {
        const auto& host = sound_.hosts[at(*h)];
        if ((unit != none && host.unit != unit) || rails(*h).size() < least ||
            sound_.units[at(host.unit)].hosts.size() < 4)
            continue;
        const int found = *h;
        hosts_.erase(h);
        return found;
    }
    return none;
}

std::vector<const topo::Link*> Planter::uplinks(int leaf) const {
    std::vector<const topo::Link*> found;
    for (const auto& l : sound_.links) {
        if (l.a.switch_ == none || l.b.switch_ == none || (l.a.switch_ != leaf && l.b.switch_ != leaf))
            continue;
        const int other = l.a.switch_ == leaf ? l.b.switch_ : l.a.switch_;
        if (sound_.switches[at(other)].tier == 1 && !spines_.contains(other)) found.push_back(&l);
    }
    return found;
}

int Planter::next_leaf() {
    for (auto s = leaves_.begin(); s != leaves_.end(); ++s) {
        if (sound_.switches[at(*s)].pod == none || uplinks(*s).size() < 2) continue;
        const int found = *s;
        leaves_.erase(s);
        return found;
    }
    return none;
}

const topo::Link& Planter::link(int host, int hca, std::size_t port) const {
    return sound_.links[at(sound_.hosts[at(host)].hcas[at(hca)].ports[port].link)];
}
Planter::Port Planter::end(const topo::End& e) const {
    return {e.switch_ != none ? sound_.switches[at(e.switch_)].guid
                              : sound_.hosts[at(e.host)].hcas[at(e.hca)].guid,
            e.port};
}
Planter::Port Planter::host_end(const topo::Link& l) const {
    return end(l.a.host != none ? l.a : l.b);
}
Planter::Port Planter::switch_end(const topo::Link& l) const {
    return end(l.a.host != none ? l.b : l.a);
}
std::string Planter::place(int host, int hca) const {
    return topo::hca_name(sound_.hosts[at(host)], sound_.hosts[at(host)].hcas[at(hca)]);
}

bool Planter::one_cable(std::string_view what, Planted& planted) {
    const int h = next_host(1);
    if (h == none) return false;
    const auto hcas = rails(h);
    const int i = hcas[below(hcas.size())];
    const auto& cable = link(h, i);
    const auto here = host_end(cable), there = switch_end(cable);
    const auto& host = sound_.hosts[at(h)];
    planted.places = {place(h, i)};
    if (what == "dead_cable" || what == "dead_hca") {
        if (host.hcas.size() < 2) return false; // of a host with a single cable nothing is left to be seen
        planted.places.push_back(host.name);
        if (what == "dead_hca")
            drop(here.node);
        else
            cut(here, there);
        return true;
    }
    if (what == "host_narrow" || what == "host_slow") {
        rate(here, there, what == "host_narrow");
        return true;
    }
    int to = none;
    const auto& unit = sound_.units[at(host.unit)];
    const int rail = host.hcas[at(i)].rail;
    if (what == "wrong_rail") {
        for (const int leaf : unit.leaves)
            if (leaf != none && leaf != unit.leaves[at(rail)]) to = leaf;
    } else if (what == "wrong_unit") {
        for (std::size_t u = 1; u < sound_.units.size() && to == none; ++u) {
            const auto& other = sound_.units[(at(host.unit) + u) % sound_.units.size()];
            if (other.leaves[at(rail)] != unit.leaves[at(rail)]) to = other.leaves[at(rail)];
        }
    } else {
        for (int s = 0; at(s) < sound_.switches.size(); ++s)
            if (sound_.switches[at(s)].tier == 1 && sound_.switches[at(s)].pod == unit.pod &&
                !spines_.contains(s))
                to = s;
    }
    if (to == none || !index_.contains(sound_.switches[at(to)].guid)) return false;
    const auto guid = sound_.switches[at(to)].guid;
    const auto speed = port(here)->rate;
    const Port target{guid, free_port(guid)};
    if (target.number > 254) return false;
    std::erase_if(node(there.node).seen, [&](const topo::RawPort& p) { return p.number == there.number; });
    join(here, target, speed);
    return true;
}

bool Planter::two_cables(std::string_view what, Planted& planted) {
    const int h = next_host(what == "rails_rotated" ? 3 : what == "rails_swapped" ? 2 : 1);
    if (h == none) return false;
    const auto hcas = rails(h);
    const auto first = below(hcas.size());
    const auto nth = [&](std::size_t k) { return hcas[(first + k) % hcas.size()]; };
    const auto leaf = [&](int host, int hca) { return sound_.hosts[at(host)].hcas[at(hca)].ports[0].leaf; };
    planted.places = {place(h, nth(0))};
    if (what == "rails_swapped" || what == "rails_rotated") {
        if (leaf(h, nth(0)) == leaf(h, nth(1))) return false;
        if (what == "rails_rotated" &&
            (leaf(h, nth(2)) == leaf(h, nth(0)) || leaf(h, nth(2)) == leaf(h, nth(1))))
            return false;
        exchange(host_end(link(h, nth(0))), host_end(link(h, nth(1))));
        if (what == "rails_rotated") exchange(host_end(link(h, nth(1))), host_end(link(h, nth(2))));
        return true;
    }
    const int unit = sound_.hosts[at(h)].unit;
    const bool other_rail = what == "hosts_other_rails";
    int other = none;
    for (std::size_t u = other_rail ? 0 : 1; u < (other_rail ? 1 : sound_.units.size()) && other == none; ++u)
        other = next_host(1, static_cast<int>((at(unit) + u) % sound_.units.size()));
    if (other == none) return false;
    for (const int i : rails(other)) {
        const bool same =
            sound_.hosts[at(other)].hcas[at(i)].rail == sound_.hosts[at(h)].hcas[at(nth(0))].rail;
        if (same == other_rail || leaf(other, i) == leaf(h, nth(0))) continue;
        planted.places.push_back(place(other, i));
        exchange(host_end(link(h, nth(0))), host_end(link(other, i)));
        return true;
    }
    return false;
}

bool Planter::name(std::string_view what, Planted& planted) {
    if (what == "switch_name") {
        const int s = next_leaf(), t = next_leaf();
        if (s == none || t == none) return false;
        planted.places = {sound_.switches[at(t)].name};
        describe(sound_.switches[at(s)].guid, node(sound_.switches[at(t)].guid).description);
        return true;
    }
    const int h = next_host(what == "host_nameless" || what == "host_localhost" ? 1 : 2);
    if (h == none) return false;
    const auto& host = sound_.hosts[at(h)];
    const auto hcas = rails(h);
    const int i = hcas[below(hcas.size())];
    const auto guid = host.hcas[at(i)].guid;
    const auto& device = host.hcas[at(i)].device;
    planted.places = {host.name};
    if (what == "hca_nameless") {
        planted.places.push_back(fmt::format("0x{:016x}", guid));
        describe(guid, std::string(nameless));
    } else if (what == "host_nameless" || what == "host_localhost") {
        planted.places.clear();
        for (const auto& hca : host.hcas) {
            planted.places.push_back(fmt::format("0x{:016x}", hca.guid));
            describe(hca.guid, what == "host_nameless" ? std::string(nameless) : "localhost " + hca.device);
        }
    } else if (what == "hca_named_twice") {
        const int other = i == hcas.front() ? hcas.back() : hcas.front();
        describe(guid, place(h, other));
    } else if (what == "hosts_of_one_name") {
        const int twin = next_host(2);
        if (twin == none) return false;
        for (const auto& hca : sound_.hosts[at(twin)].hcas)
            describe(hca.guid, fmt::format("{} {}", host.name, hca.device));
    } else if (what == "upper_case") {
        auto shout = host.name;
        for (char& c : shout)
            c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (shout == host.name) return false;
        describe(guid, fmt::format("{} {}", shout, device));
    } else if (what == "domain") {
        describe(guid, fmt::format("{}.example.org {}", host.name, device));
    } else if (what == "device_counted") {
        if (!device.starts_with("mlx5_")) return false;
        describe(guid, fmt::format("{} HCA-{}", host.name, std::stoi(device.substr(5)) + 1));
    } else if (what == "device_odd") {
        describe(guid, fmt::format("{} ibp{}s0", host.name, 12 + i));
    } else { // host_missing
        for (const auto& hca : host.hcas)
            drop(hca.guid);
    }
    return true;
}

bool Planter::carries_hosts(int leaf) const {
    return std::any_of(sound_.links.begin(), sound_.links.end(), [&](const topo::Link& l) {
        return (l.a.switch_ == leaf && l.b.host != none) || (l.b.switch_ == leaf && l.a.host != none);
    });
}

bool Planter::storage(std::string_view what, Planted& planted) {
    if (what == "storage_uplink") {
        for (auto s = leaves_.begin(); s != leaves_.end(); ++s) {
            const auto up = uplinks(*s);
            if (sound_.switches[at(*s)].pod != none || up.size() < 2) continue;
            planted.places = {sound_.switches[at(*s)].name};
            cut(end(up.front()->a), end(up.front()->b));
            leaves_.erase(s);
            return true;
        }
        return false;
    }
    if (what == "storage_joined") {
        const auto s = std::find_if(leaves_.begin(), leaves_.end(), [&](int leaf) {
            return sound_.switches[at(leaf)].pod == none && carries_hosts(leaf) && uplinks(leaf).size() > 1;
        });
        if (s == leaves_.end()) return false;
        const auto& leaf = sound_.switches[at(*s)];
        leaves_.erase(s);
        const int other = next_leaf();
        if (other == none) return false;
        const auto up = end(uplinks(other).front()->a), down = end(uplinks(other).front()->b);
        const auto peer = below(2) == 0                                ? sound_.switches[at(other)].guid
                          : up.node == sound_.switches[at(other)].guid ? down.node
                                                                       : up.node;
        planted.places = {leaf.name};
        connect(leaf.guid, peer);
        return true;
    }
    const int h = next_host(1);
    if (h == none || storage(h) == none) return false;
    const int i = storage(h);
    const auto& cable = link(h, i);
    if (sound_.switches[at(sound_.hosts[at(h)].hcas[at(i)].ports[0].leaf)].pod != none) return false;
    planted.places = {place(h, i), sound_.hosts[at(h)].name};
    if (what == "storage_dead_hca") {
        drop(host_end(cable).node);
    } else if (what == "storage_narrow") {
        rate(host_end(cable), switch_end(cable), true);
    } else {
        const int to = sound_.units[at(sound_.hosts[at(h)].unit)].leaves[0];
        const auto guid = sound_.switches[at(to)].guid;
        const auto here = host_end(cable), there = switch_end(cable);
        const auto speed = port(here)->rate;
        std::erase_if(node(there.node).seen,
                      [&](const topo::RawPort& p) { return p.number == there.number; });
        join(here, {guid, free_port(guid)}, speed);
    }
    return true;
}

bool Planter::plant(std::size_t kind) {
    const auto what = kinds()[kind].name;
    Planted planted{kind, {}};
    const auto among = [&](std::initializer_list<std::string_view> list) {
        return std::find(list.begin(), list.end(), what) != list.end();
    };
    bool done = false;
    if (among({"dead_cable", "dead_hca", "host_narrow", "host_slow", "wrong_rail", "wrong_unit", "on_spine"}))
        done = one_cable(what, planted);
    else if (among({"rails_swapped", "rails_rotated", "hosts_other_rails", "hosts_same_rail_units"}))
        done = two_cables(what, planted);
    else if (what.starts_with("uplink"))
        done = uplink(what, planted);
    else if (among({"spine_gone", "core_gone", "spine_slow", "leaf_narrow", "leaf_to_leaf", "leaf_to_core",
                    "loop"}))
        done = whole_switch(what, planted);
    else if (among({"leaf_gone", "half_on_spine", "unit_nameless", "unit_dark", "unit_gone"}))
        done = planted_.empty() && whole_unit(what, planted); // it would hide what is planted there
    else if (what.starts_with("storage"))
        done = storage(what, planted);
    else
        done = name(what, planted);
    if (done) planted_.push_back(std::move(planted));
    return done;
}

} // namespace faults
