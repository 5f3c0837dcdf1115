#include "topo/read/attachments.hpp"

#include "base/hostlist.hpp"
#include "topo/names.hpp"
#include "topo/read/host_names.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace topo {
namespace {

using Keys = std::vector<std::vector<std::string>>; // by host and HCA

class Unnamed {
public:
    Unnamed(const Fabric& fabric, const Attachments& attached, Keys& keys)
        : fabric_(fabric), attached_(attached), keys_(keys) {}

    void name() {
        std::map<std::size_t, std::size_t> sizes; // number in a host → total of such hosts
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

// A rare device may be a common one of its host under another name ("ibp12s0" instead of mlx5_1): it is on a
// leaf with those of a device that its host lacks. A host whose devices all have such names is of another
// model.
void name_by_neighbours(const Attachments& attached, Keys& keys) {
    constexpr std::size_t most_devices = 64; // more are not devices but different names
    std::unordered_map<std::string, std::size_t> count;
    std::size_t most = 0;
    for (const auto& host : keys)
        for (const auto& key : host)
            most = std::max(most, ++count[key]);
    const auto rare = [&](const std::string& key) { return count.at(key) * 8 <= most; };
    std::map<int, std::map<std::string, std::size_t>> on_leaf; // for leaves with a rare one
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t h = 0; h < keys.size(); ++h) {
        if (keys[h].size() > most_devices || std::all_of(keys[h].begin(), keys[h].end(), rare)) continue;
        for (std::size_t i = 0; i < keys[h].size(); ++i)
            if (attached[h][i].leaf != none && rare(keys[h][i])) {
                found.emplace_back(h, i);
                on_leaf[attached[h][i].leaf];
            }
    }
    if (found.empty()) return;
    for (std::size_t h = 0; h < keys.size(); ++h)
        for (std::size_t i = 0; i < keys[h].size(); ++i)
            if (const auto leaf = on_leaf.find(attached[h][i].leaf); leaf != on_leaf.end())
                ++leaf->second[keys[h][i]];
    for (const auto& [h, i] : found) {
        const auto& there = on_leaf.at(attached[h][i].leaf);
        const auto own = there.find(keys[h][i]);
        std::size_t least = std::max<std::size_t>(3, 3 * (own == there.end() ? 1 : own->second));
        const std::string* likely = nullptr;
        for (const auto& [key, hcas] : there)
            if (hcas >= least && std::find(keys[h].begin(), keys[h].end(), key) == keys[h].end()) {
                likely = &key;
                least = hcas + 1;
            }
        if (likely != nullptr) keys[h][i] = *likely;
    }
}

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
    name_by_neighbours(attached, keys);
    return keys;
}

} // namespace topo
