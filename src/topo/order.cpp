#include "topo/order.hpp"

#include "base/hostlist.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace topo {
namespace {

// Sorts `things` with `less` and returns the new position of each old index. Most fabrics are already sorted,
// from a file written like that.
template <class Thing, class Less> std::vector<int> sort_and_map(std::vector<Thing>& things, Less less) {
    std::vector<std::size_t> order(things.size());
    std::vector<int> moved(things.size());
    std::iota(moved.begin(), moved.end(), 0);
    if (std::is_sorted(things.begin(), things.end(), less)) return moved;
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return less(things[a], things[b]); });
    std::vector<Thing> sorted;
    sorted.reserve(things.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        moved[order[i]] = static_cast<int>(i);
        sorted.push_back(std::move(things[order[i]]));
    }
    things = std::move(sorted);
    return moved;
}

bool name_less(const std::string& a, Guid a_guid, const std::string& b, Guid b_guid) {
    if (a != b) return base::natural_less(a, b);
    return a_guid < b_guid;
}

bool hca_less(const Hca& a, const Hca& b) {
    const auto rank = [](const Hca& hca) {
        return hca.rail == none ? std::numeric_limits<int>::max() : hca.rail;
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return name_less(a.device, a.guid, b.device, b.guid);
}

auto key(const End& end) {
    return std::tuple(end.host == none, end.host, end.hca, end.switch_, end.port);
}
bool end_less(const End& a, const End& b) {
    return key(a) < key(b);
}

} // namespace

void put_in_order(Fabric& fabric) {
    // HCAs first: their maps use the hosts' old indices, as the links still refer to those.
    std::vector<std::vector<int>> hca_moved;
    hca_moved.reserve(fabric.hosts.size());
    for (Host& host : fabric.hosts) {
        hca_moved.push_back(sort_and_map(host.hcas, hca_less));
        for (Hca& hca : host.hcas)
            std::stable_sort(hca.ports.begin(), hca.ports.end(),
                             [](const HcaPort& a, const HcaPort& b) { return a.number < b.number; });
    }
    const auto host_moved = sort_and_map(
        fabric.hosts, [](const Host& a, const Host& b) { return base::natural_less(a.name, b.name); });
    const auto switch_moved = sort_and_map(fabric.switches, [](const Switch& a, const Switch& b) {
        return name_less(a.name, a.guid, b.name, b.guid);
    });

    const auto renumber = [&](End& end) {
        if (end.host != none) {
            const auto old = static_cast<std::size_t>(end.host);
            end.hca = hca_moved[old][static_cast<std::size_t>(end.hca)];
            end.host = host_moved[old];
        } else {
            end.switch_ = switch_moved[static_cast<std::size_t>(end.switch_)];
        }
    };
    for (Link& link : fabric.links) {
        renumber(link.a);
        renumber(link.b);
        if (end_less(link.b, link.a)) std::swap(link.a, link.b);
    }
    const auto link_less = [](const Link& a, const Link& b) {
        return end_less(a.a, b.a) || (a.a == b.a && end_less(a.b, b.b));
    };
    if (!std::is_sorted(fabric.links.begin(), fabric.links.end(), link_less))
        std::stable_sort(fabric.links.begin(), fabric.links.end(), link_less);
}

} // namespace topo
