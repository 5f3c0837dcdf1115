#include "topo/synth/plant.hpp"

#include "topo/derive.hpp"
#include "topo/guid.hpp"
#include "topo/names.hpp"
#include "topo/read/roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::array<std::string_view, fault_count> names{
    "rails_swapped",  "hosts_swapped", "rails_rotated", "wrong_rail",     "wrong_unit",      "on_spine",
    "dead_hca",       "narrow_link",   "slow_link",     "uplink_missing", "uplinks_crossed", "uplink_narrow",
    "name_duplicate", "name_missing",  "switch_name",   "host_missing"};

// Chooses where to plant: each host and each leaf at most once.
class Planter {
public:
    Planter(Fabric& fabric, std::uint32_t seed) : fabric_(fabric), random_(seed) {
        for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h)
            hosts_.push_back(h);
        shuffle(hosts_);
        for (const Unit& unit : fabric.units)
            for (const int leaf : unit.leaves)
                if (leaf != none) leaves_.push_back(leaf);
        shuffle(leaves_);
    }

    bool plant(Fault fault) {
        switch (fault) {
        case Fault::rails_swapped: return rotate_rails(2);
        case Fault::rails_rotated: return rotate_rails(3);
        case Fault::hosts_swapped: return swap_hosts();
        case Fault::wrong_rail:
            return move_cable([this](const Host& host, int rail) {
                return fabric_.units[at(host.unit)].leaves[at((rail + 1) % fabric_.rails)];
            });
        case Fault::wrong_unit:
            return move_cable([this](const Host& host, int rail) {
                return fabric_.units[at(host.unit + 1) % fabric_.units.size()].leaves[at(rail)];
            });
        case Fault::on_spine:
            return move_cable([this](const Host& host, int) {
                const int pod = fabric_.units[at(host.unit)].pod;
                for (std::size_t s = 0; s < fabric_.switches.size(); ++s)
                    if (fabric_.switches[s].tier == 1 && fabric_.switches[s].pod == pod)
                        return static_cast<int>(s);
                return none;
            });
        case Fault::dead_hca: return with_link([this](Link& link) { dead_.push_back(link); });
        case Fault::narrow_link: return with_link(narrow);
        case Fault::slow_link: return with_link([](Link& link) { link.mbps /= 2; });
        case Fault::uplink_missing: return with_uplink([this](Link& link) { dead_.push_back(link); });
        case Fault::uplink_narrow: return with_uplink(narrow);
        case Fault::uplinks_crossed: return cross_uplinks();
        case Fault::name_duplicate:
            return with_host([](Host& host) { host.hcas[1].device = host.hcas[0].device; });
        case Fault::name_missing:
            return with_host([this](Host& host) { nameless_.push_back(host.hcas[0].guid); });
        case Fault::switch_name: return rename_leaf();
        case Fault::host_missing:
            return with_host([this](Host& host) { gone_.push_back(host.hcas[0].guid); });
        }
        return false;
    }

    // Finishes what was postponed because it moves indices.
    void finish() {
        std::erase_if(fabric_.links, [&](const Link& link) {
            return std::any_of(dead_.begin(), dead_.end(),
                               [&](const Link& dead) { return dead.a == link.a; });
        });
        for (const Guid guid : nameless_)
            make_nameless(guid);
        // HCAs without a cabled port are not seen.
        for (std::size_t h = 0; h < fabric_.hosts.size(); ++h)
            for (const Link& dead : dead_)
                if (dead.a.host == static_cast<int>(h)) drop_hca(static_cast<int>(h), dead.a.hca);
        for (const Guid guid : gone_)
            drop_host(guid);
        assign_roles(fabric_);
        derive(fabric_);
    }

private:
    static void narrow(Link& link) {
        link.mbps /= link.width;
        link.width = 1;
    }

    template <class Thing> void shuffle(std::vector<Thing>& things) { // the same on every platform
        for (auto i = things.size(); i > 1; --i)
            std::swap(things[i - 1], things[random_() % i]);
    }

    // The next host with at least that many cabled rails.
    Host* next_host(std::size_t rails, int unit = none) {
        for (auto i = hosts_.size(); i-- > 0;) {
            Host& host = fabric_.hosts[hosts_[i]];
            const auto cabled =
                host.leaves.size() -
                at(static_cast<int>(std::count(host.leaves.begin(), host.leaves.end(), none)));
            if (cabled < rails || (unit != none && host.unit != unit)) continue;
            hosts_.erase(hosts_.begin() + static_cast<std::ptrdiff_t>(i));
            return &host;
        }
        return nullptr;
    }
    Link& link_of(const Host& host, int rail) {
        return fabric_.links[at(host.hcas[at(rail)].ports.front().link)];
    }

    // The uplinks of the next leaf that has any.
    std::vector<Link*> next_uplinks(int pod = none) {
        for (auto i = leaves_.size(); i-- > 0;) {
            const int leaf = leaves_[i];
            if (pod != none && fabric_.switches[at(leaf)].pod != pod) continue;
            std::vector<Link*> links;
            for (Link& link : fabric_.links)
                if ((link.a.switch_ == leaf && link.b.switch_ != none) ||
                    (link.b.switch_ == leaf && link.a.switch_ != none))
                    links.push_back(&link);
            if (links.empty()) continue;
            leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(i));
            return links;
        }
        return {};
    }

    // A port without a cable; a full switch grows by one.
    std::uint8_t free_port(int s) {
        std::vector<char> used(256, 0);
        for (const Link& link : fabric_.links)
            for (const End* end : {&link.a, &link.b})
                if (end->switch_ == s) used[end->port] = 1;
        int& ports = fabric_.switches[at(s)].ports;
        for (int port = 1; port <= 254; ++port)
            if (used[at(port)] == 0) {
                ports = std::max(ports, port);
                return static_cast<std::uint8_t>(port);
            }
        return 0;
    }

    bool rotate_rails(int count) {
        Host* host = next_host(at(count));
        if (host == nullptr) return false;
        const int first = static_cast<int>(random_() % host->hcas.size());
        for (int i = 0; i + 1 < count; ++i) {
            const auto rail = [&](int r) { return (first + r) % static_cast<int>(host->hcas.size()); };
            std::swap(link_of(*host, rail(i)).b, link_of(*host, rail(i + 1)).b);
        }
        return true;
    }

    bool swap_hosts() {
        Host* a = next_host(2);
        Host* b = a == nullptr ? nullptr : next_host(2, a->unit);
        if (b == nullptr) return false;
        std::swap(link_of(*a, 0).b, link_of(*b, 1).b);
        return true;
    }

    template <class To> bool move_cable(To to) {
        Host* host = next_host(3);
        if (host == nullptr) return false;
        const int rail = static_cast<int>(random_() % host->hcas.size());
        const int leaf = to(*host, rail);
        if (leaf == none || leaf == host->leaves[at(rail)]) return false;
        const auto port = free_port(leaf);
        if (port == 0) return false;
        link_of(*host, rail).b = {none, none, leaf, port};
        return true;
    }

    template <class Change> bool with_link(Change change) {
        Host* host = next_host(3);
        if (host == nullptr) return false;
        change(link_of(*host, static_cast<int>(random_() % host->hcas.size())));
        return true;
    }

    template <class Change> bool with_host(Change change) {
        Host* host = next_host(2);
        if (host == nullptr) return false;
        change(*host);
        return true;
    }

    template <class Change> bool with_uplink(Change change) {
        const auto links = next_uplinks();
        if (links.size() < 3) return false;
        change(*links[random_() % links.size()]);
        return true;
    }

    bool cross_uplinks() {
        const auto first = next_uplinks();
        if (first.empty()) return false;
        const auto second = next_uplinks(fabric_.switches[at(first.front()->a.switch_)].pod);
        for (Link* a : first)
            for (Link* b : second) {
                End& x = spine_end(*a);
                End& y = spine_end(*b);
                if (x.switch_ == y.switch_) continue;
                std::swap(x, y);
                return true;
            }
        return false;
    }
    End& spine_end(Link& link) { return fabric_.switches[at(link.a.switch_)].tier == 1 ? link.a : link.b; }

    bool rename_leaf() {
        if (leaves_.size() < 2) return false;
        const int one = leaves_.back();
        leaves_.pop_back();
        fabric_.switches[at(one)].name = fabric_.switches[at(leaves_.back())].name;
        leaves_.pop_back();
        return true;
    }

    // Removes the host with that first HCA, with all its cables.
    void drop_host(Guid guid) {
        const auto found = std::find_if(fabric_.hosts.begin(), fabric_.hosts.end(), [&](const Host& host) {
            return !host.hcas.empty() && host.hcas[0].guid == guid;
        });
        const auto gone = static_cast<int>(found - fabric_.hosts.begin());
        std::erase_if(fabric_.links,
                      [&](const Link& link) { return link.a.host == gone || link.b.host == gone; });
        fabric_.hosts.erase(found);
        for (Link& link : fabric_.links)
            for (End* end : {&link.a, &link.b})
                if (end->host > gone) --end->host;
    }

    void drop_hca(int host, int hca) {
        auto& hcas = fabric_.hosts[at(host)].hcas;
        hcas.erase(hcas.begin() + hca);
        for (Link& link : fabric_.links)
            for (End* end : {&link.a, &link.b})
                if (end->host == host && end->hca > hca) --end->hca;
        for (Link& dead : dead_)
            if (dead.a.host == host && dead.a.hca > hca) --dead.a.hca;
    }

    void make_nameless(Guid guid) {
        for (std::size_t h = 0; h < fabric_.hosts.size(); ++h)
            for (std::size_t i = 0; i < fabric_.hosts[h].hcas.size(); ++i) {
                if (fabric_.hosts[h].hcas[i].guid != guid) continue;
                const int old_host = static_cast<int>(h), old_hca = static_cast<int>(i);
                Host alone;
                alone.name = format_guid(guid);
                alone.hcas.push_back(fabric_.hosts[h].hcas[i]);
                alone.hcas.front().device = "MT4129 ConnectX7 Mellanox Technologies";
                fabric_.hosts.push_back(std::move(alone));
                for (Link& link : fabric_.links)
                    for (End* end : {&link.a, &link.b})
                        if (end->host == old_host && end->hca == old_hca) {
                            end->host = static_cast<int>(fabric_.hosts.size()) - 1;
                            end->hca = 0;
                        }
                drop_hca(old_host, old_hca);
                return;
            }
    }

    Fabric& fabric_;
    std::mt19937 random_;
    std::vector<std::uint32_t> hosts_; // not yet used
    std::vector<int> leaves_;          // not yet used
    std::vector<Link> dead_;
    std::vector<Guid> nameless_;
    std::vector<Guid> gone_; // hosts, by their first HCA
};

} // namespace

std::string_view to_string(Fault fault) {
    return names[static_cast<std::size_t>(fault)];
}

Expected<Fault> parse_fault(std::string_view word) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == word) return static_cast<Fault>(i);
    return Error{Code::usage,
                 fmt::format("\"{}\" is no fault; allowed are {}", word, fmt::join(names, ", "))};
}

Expected<void> plant(Fabric& fabric, const std::vector<Fault>& faults, std::uint32_t seed) {
    Planter planter(fabric, seed);
    for (const Fault fault : faults)
        if (!planter.plant(fault))
            return Error{
                Code::usage,
                fmt::format("{} cannot be planted: the fabric has too few hosts, rails, units or spines "
                            "ports left for it",
                            to_string(fault))};
    planter.finish();
    return {};
}

} // namespace topo
