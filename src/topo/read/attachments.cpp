#include "topo/read/attachments.hpp"

#include "base/hostlist.hpp"
#include "topo/names.hpp"
#include "topo/read/host_names.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace topo {
namespace {

using Keys = std::vector<std::vector<std::string>>; // by host and HCA

class Unnamed {
public:
    Unnamed(const Fabric& fabric, const Attachments& attached, Keys& keys)
        : fabric_(fabric), attached_(attached), keys_(keys) {}

    void name() {
        std::map<std::size_t, std::size_t> sizes; // so many of a host → all of such hosts
        std::vector<std::vector<std::size_t>> unnamed(fabric_.hosts.size());
        for (std::size_t h = 0; h < unnamed.size(); ++h) {
            unnamed[h] = of_host(h);
            if (!unnamed[h].empty()) sizes[unnamed[h].size()] += unnamed[h].size();
        }
        if (sizes.empty()) return;
        const auto usual = most_common(sizes);
        if (usual < 2) return;
        for (std::size_t h = 0; h < unnamed.size(); ++h)
            if (unnamed[h].size() == usual)
                for (std::size_t n = 0; n < usual; ++n) {
                    give(h, unnamed[h][n], n);
                    ++places_[attached_[h][unnamed[h][n]].leaf][n];
                }
        for (std::size_t h = 0; h < unnamed.size(); ++h)
            if (unnamed[h].size() != usual) name_by_leaf(h, unnamed[h]);
    }

private:
    std::vector<std::size_t> of_host(std::size_t h) const {
        std::vector<std::size_t> found;
        const auto& hcas = fabric_.hosts[h].hcas;
        for (std::size_t i = 0; i < hcas.size(); ++i)
            if (hcas[i].device.empty()) found.push_back(i);
        const auto leaf_name = [&](std::size_t i) {
            const int leaf = attached_[h][i].leaf;
            return leaf == none ? std::string_view() : std::string_view(fabric_.switches[at(leaf)].name);
        };
        std::sort(found.begin(), found.end(), [&](std::size_t a, std::size_t b) {
            const int one = attached_[h][a].leaf, other = attached_[h][b].leaf;
            if (one == other) return hcas[a].guid < hcas[b].guid;
            if (one == none || other == none) return other == none;
            if (leaf_name(a) != leaf_name(b)) return base::natural_less(leaf_name(a), leaf_name(b));
            return fabric_.switches[at(one)].guid < fabric_.switches[at(other)].guid;
        });
        return found;
    }

    void name_by_leaf(std::size_t h, const std::vector<std::size_t>& hcas) {
        std::set<std::size_t> taken;
        std::vector<std::size_t> rest;
        for (const auto i : hcas) {
            const auto place = places_.find(attached_[h][i].leaf);
            if (place != places_.end() && taken.insert(most_common(place->second)).second)
                give(h, i, most_common(place->second));
            else
                rest.push_back(i);
        }
        std::size_t next = 0;
        for (const auto i : rest) {
            while (!taken.insert(next).second)
                ++next;
            give(h, i, next);
        }
    }

    void give(std::size_t h, std::size_t i, std::size_t n) { keys_[h][i] = "#" + std::to_string(n); }

    const Fabric& fabric_;
    const Attachments& attached_;
    Keys& keys_;
    std::map<int, std::map<std::size_t, std::size_t>> places_; // leaf → n → HCAs
};

} // namespace

Attachments attachments(const Fabric& fabric) {
    Attachments found(fabric.hosts.size());
    std::vector<std::vector<std::uint8_t>> port(fabric.hosts.size());
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
        found[h].resize(fabric.hosts[h].hcas.size());
        port[h].assign(fabric.hosts[h].hcas.size(), 255);
    }
    for (const Link& link : fabric.links)
        for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
            if (here->host == none || there->switch_ == none) continue;
            auto& lowest = port[at(here->host)][at(here->hca)];
            if (here->port >= lowest) continue;
            lowest = here->port;
            found[at(here->host)][at(here->hca)] = {there->switch_, link.mbps};
        }
    return found;
}

std::vector<std::vector<std::string>> device_keys(const Fabric& fabric, const Attachments& attached) {
    Keys keys(fabric.hosts.size());
    for (std::size_t h = 0; h < keys.size(); ++h)
        for (const Hca& hca : fabric.hosts[h].hcas)
            keys[h].push_back(canonical_device(hca.device));
    Unnamed(fabric, attached, keys).name();
    return keys;
}

} // namespace topo
