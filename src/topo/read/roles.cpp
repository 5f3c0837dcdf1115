#include "topo/read/roles.hpp"

#include "base/hostlist.hpp"
#include "topo/names.hpp"
#include "topo/numbered_name.hpp"
#include "topo/read/attachments.hpp"
#include "topo/read/networks.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <set>
#include <unordered_set>

namespace topo {
namespace {

struct Device {
    std::string name;
    std::size_t first_class = 0; // rank by frequency of the class that introduced it
    std::map<std::uint32_t, std::size_t> rates;
    std::map<int, std::size_t> on_leaf;                         // leaf → HCAs of this device
    std::map<std::size_t, std::map<int, std::size_t>> of_class; // the same for each class of hosts
    std::size_t cabled = 0;
    std::size_t beside = 0;     // how many of those share their leaf with another HCA of their host
    bool ruled_compute = false; // set by an administrator
    bool storage = false;
    int rail = none;

    // How many HCAs of this device share a leaf, for the median HCA: not affected by a few crossed cables.
    std::size_t density() const {
        std::vector<std::size_t> counts;
        for (const auto& [leaf, count] : on_leaf)
            counts.push_back(count);
        std::sort(counts.begin(), counts.end());
        std::size_t passed = 0;
        for (const auto count : counts)
            if ((passed += count) * 2 >= cabled) return count;
        return 0;
    }
};

using Names = std::vector<std::string>;

struct Family {
    std::vector<Device> devices;
    std::unordered_map<std::string, std::size_t> by_name;
    std::vector<int> networks;      // by switch
    std::set<int> storage_networks; // with storage devices only

    Device& device(const std::string& name) { return devices[by_name.at(name)]; }
};

using Verdicts = std::vector<Verdict>; // by HCA of a host

// `devices`: the key of each HCA of the host.
Names device_names(const Names& devices, const Verdicts& verdicts) {
    Names names;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (verdicts[i].what != Verdict::What::storage) names.push_back(devices[i]);
    std::sort(names.begin(), names.end(), base::natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

// Families built from classes of equal name sets, most common first. Only the first few families are
// compared, so that names that differ everywhere cost no more than linear time.
std::vector<Family> make_families(const std::vector<const Names*>& classes,
                                  std::vector<std::size_t>& family_of) {
    constexpr std::size_t most_compared = 16;
    std::vector<Family> families;
    for (std::size_t c = 0; c < classes.size(); ++c) {
        std::size_t chosen = families.size();
        for (std::size_t f = 0; f < std::min(families.size(), most_compared); ++f) {
            const auto known = std::count_if(classes[c]->begin(), classes[c]->end(), [&](const auto& name) {
                return families[f].by_name.contains(name);
            });
            if (static_cast<std::size_t>(known) * 2 >= classes[c]->size()) {
                chosen = f;
                break;
            }
        }
        if (chosen == families.size()) families.emplace_back();
        Family& family = families[chosen];
        for (const auto& name : *classes[c])
            if (family.by_name.try_emplace(name, family.devices.size()).second) {
                family.devices.emplace_back().name = name;
                family.devices.back().first_class = c;
            }
        family_of.push_back(chosen);
    }
    return families;
}

// The network with more than two thirds of a device's HCAs; none if there is none.
int network_of(const Device& device, const std::vector<int>& networks) {
    std::map<int, std::size_t> counts;
    for (const auto& [leaf, count] : device.on_leaf)
        counts[networks[at(leaf)]] += count;
    for (const auto& [network, count] : counts)
        if (count * 3 > device.cabled * 2) return network;
    return none;
}

// Devices in a separate network that is not a plane: the others are in one network, or in several with
// equally many devices, at least twice as many as there. A leaf without uplinks is not a network if every
// device has only one.
void find_apart(Family& family, const std::vector<int>& networks) {
    std::map<int, std::vector<Device*>> devices; // by network
    std::size_t all = 0;
    for (Device& device : family.devices) {
        if (device.cabled == 0) continue;
        ++all;
        if (const int network = network_of(device, networks); network != none)
            devices[network].push_back(&device);
    }
    std::size_t most = 0, of_most = 0, leaves = 0;
    for (const auto& [network, members] : devices)
        most = std::max(most, members.size());
    for (const auto& [network, members] : devices) {
        if (members.size() < most) continue;
        of_most += most;
        leaves = std::max(leaves, members.front()->on_leaf.size());
    }
    if (of_most * 2 <= all) return;
    for (const auto& [network, members] : devices)
        for (Device* device : members)
            if (members.size() * 2 <= most && (leaves > 1 || device->on_leaf.size() > 1))
                device->storage = !device->ruled_compute;
}

// Devices that share a leaf with another device of their host, if most are alone on a leaf and in other
// networks: hosts often have two ports into storage, while a rail has separate leaves. If hosts have one leaf
// for each device, they may be rails.
void find_beside(Family& family, const std::vector<int>& networks) {
    std::size_t cabled = 0, alone = 0, leaves = 0;
    std::set<int> of_alone;
    for (const Device& device : family.devices) {
        cabled += device.cabled > 0 ? 1 : 0;
        if (device.cabled == 0 || device.beside * 2 > device.cabled) continue;
        ++alone;
        leaves = std::max(leaves, device.on_leaf.size());
        std::map<int, std::size_t> counts;
        for (const auto& [leaf, count] : device.on_leaf)
            counts[networks[at(leaf)]] += count;
        for (const auto& [network, count] : counts)
            if (count * 8 > device.cabled) of_alone.insert(network);
    }
    if (alone * 2 < cabled || leaves < 2) return;
    for (Device& device : family.devices) {
        if (device.beside * 2 <= device.cabled) continue;
        const int network = network_of(device, networks);
        if (network != none && !of_alone.contains(network)) device.storage = !device.ruled_compute;
    }
}

// Devices on leaves named after storage, if most are not.
void find_named(const Fabric& fabric, Family& family) {
    const auto on_storage = [&](const Device& device) {
        std::size_t count = 0;
        for (const auto& [leaf, hcas] : device.on_leaf) {
            auto name = fabric.switches[at(leaf)].name;
            std::transform(name.begin(), name.end(), name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            if (name.find("stor") != std::string::npos) count += hcas;
        }
        return device.cabled > 0 && count * 3 > device.cabled * 2;
    };
    const auto named = std::count_if(family.devices.begin(), family.devices.end(), on_storage);
    if (static_cast<std::size_t>(named) * 2 > family.devices.size()) return;
    for (Device& device : family.devices)
        if (on_storage(device)) device.storage = !device.ruled_compute;
}

void find_storage(const Fabric& fabric, Family& family) {
    std::map<std::uint32_t, std::size_t> rates;
    std::map<std::size_t, std::size_t> densities;
    for (const Device& device : family.devices) {
        if (device.cabled == 0) continue;
        rates[most_common(device.rates)] += device.cabled;
        densities[device.density()] += device.cabled;
    }
    const auto rate = most_common(rates);
    // Of equally common densities the lower one is that of rails.
    std::size_t density = 0, most = 0;
    for (const auto& [value, count] : densities)
        if (count > most) {
            density = value;
            most = count;
        }
    for (Device& device : family.devices)
        device.storage = !device.ruled_compute && device.cabled > 0 &&
                         (most_common(device.rates) < rate || device.density() >= 2 * density);
    // Hosts with fewer rails name storage HCAs like others' rails; hosts that just lack one are few.
    std::vector<ClassDevice> devices;
    for (const Device& device : family.devices)
        for (const auto& [hosts, leaves] : device.of_class) {
            std::size_t hcas = 0;
            for (const auto& [leaf, count] : leaves)
                hcas += count;
            if (hcas * 10 >= device.cabled) devices.push_back({hosts, leaves});
        }
    const auto networks = networks_of(fabric, devices);
    find_apart(family, networks);
    find_beside(family, networks);
    find_named(fabric, family);
    std::set<int> of_rails;
    for (const Device& device : family.devices)
        if (const int network = network_of(device, networks); network != none)
            (device.storage ? family.storage_networks : of_rails).insert(network);
    for (const int network : of_rails)
        family.storage_networks.erase(network);
    family.networks = networks;
}

// The devices of a class of hosts that are in storage networks although the family has rails with these
// names.
std::set<std::string> in_storage_networks(Family& family, const Names& names,
                                          const std::vector<std::size_t>& hosts, const Attachments& attached,
                                          const std::vector<Names>& devices) {
    std::map<std::string, std::pair<std::size_t, std::size_t>> cabled; // device → in such a network, of all
    if (family.storage_networks.empty()) return {};
    for (const auto h : hosts)
        for (std::size_t i = 0; i < attached[h].size(); ++i) {
            if (attached[h][i].leaf == none) continue;
            auto& [there, all] = cabled[devices[h][i]];
            there += family.storage_networks.contains(family.networks[at(attached[h][i].leaf)]) ? 1U : 0U;
            ++all;
        }
    std::set<std::string> found;
    for (const auto& name : names) {
        const auto [there, all] = cabled[name];
        const Device& device = family.device(name);
        if (!device.storage && !device.ruled_compute && there * 3 > all * 2) found.insert(name);
    }
    return found;
}

void number_rails(Family& family) {
    std::vector<Device*> order;
    for (Device& device : family.devices)
        if (!device.storage) order.push_back(&device);
    std::sort(order.begin(), order.end(), [](const Device* a, const Device* b) {
        if (a->first_class != b->first_class) return a->first_class < b->first_class;
        return base::natural_less(a->name, b->name);
    });
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i]->rail = static_cast<int>(i);
}

bool named(const Host& host) {
    return !host.hcas.empty() && !host.name.starts_with("0x");
}

// The number of HCAs of a compute host: the host size that accounts for most HCAs.
std::size_t common_size(const Fabric& fabric) {
    std::map<std::size_t, std::size_t> hcas;
    for (const Host& host : fabric.hosts)
        if (named(host)) hcas[host.hcas.size()] += host.hcas.size();
    return most_common(hcas);
}

// Hosts with at most half as many HCAs are compute hosts where they are named as those with more are, or
// where there are many with just half, units of another make, and they are named as these. Those that hang
// among hosts with more are service hosts, unless most hosts are so.
class Sized {
public:
    Sized(const Fabric& fabric, const Attachments& attached) : size_(common_size(fabric)) {
        std::vector<std::pair<std::size_t, std::size_t>> on_leaf(fabric.switches.size()); // HCAs: full, few
        for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
            const Host& host = fabric.hosts[h];
            if (!named(host)) continue;
            const bool full = host.hcas.size() * 2 > size_;
            full_ += full ? 1 : 0;
            if (full) shapes_.insert(name_shape(host.name));
            for (const Attachment& hca : attached[h])
                if (hca.leaf != none) ++(full ? on_leaf[at(hca.leaf)].first : on_leaf[at(hca.leaf)].second);
        }
        for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
            const Host& host = fabric.hosts[h];
            if (!named(host) || host.hcas.size() * 2 > size_) continue;
            const auto among = std::count_if(attached[h].begin(), attached[h].end(), [&](const auto& hca) {
                return hca.leaf != none && on_leaf[at(hca.leaf)].first >= on_leaf[at(hca.leaf)].second;
            });
            Few& few = few_[{name_shape(host.name), host.hcas.size()}];
            ++few.hosts;
            few.among += static_cast<std::size_t>(among) * 2 > host.hcas.size() ? 1 : 0;
        }
    }
    bool computes(const Host& host) const {
        const auto hcas = host.hcas.size();
        if (hcas * 2 > size_) return true;
        const auto shape = name_shape(host.name);
        if (shapes_.contains(shape) && shape.find('#') != std::string::npos) return true;
        if (hcas * 2 < size_ && shape.find('#') == std::string::npos) return false;
        const auto halved = few_.find({shape, size_ / 2}); // as they are, or were before they lost some
        if (size_ % 2 != 0 || halved == few_.end()) return false;
        const auto& [hosts, among] = halved->second;
        return hosts >= std::max<std::size_t>(4, full_ / 8) && (among * 2 <= hosts || hosts > full_);
    }

private:
    struct Few {
        std::size_t hosts = 0, among = 0; // the latter: on leaves of those with more
    };

    std::size_t size_, full_ = 0;                            // hosts with more than half
    std::unordered_set<std::string> shapes_;                 // of their names
    std::map<std::pair<std::string, std::size_t>, Few> few_; // by shape and HCAs, of the others
};

Verdicts judge(const Rules* rules, const Host& host) {
    Verdicts verdicts(host.hcas.size());
    if (rules != nullptr)
        for (std::size_t i = 0; i < verdicts.size(); ++i)
            verdicts[i] = rules->judge(host.name, host.hcas[i].device, host.hcas[i].pci);
    return verdicts;
}

bool any(const Verdicts& verdicts, Verdict::What what) {
    return std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& v) { return v.what == what; });
}

// A host whose rails are given by rules: of two HCAs for one rail, the first by device order gets it.
void take_ruled_rails(Host& host, const Verdicts& verdicts) {
    std::vector<std::size_t> order(host.hcas.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return base::natural_less(host.hcas[a].device, host.hcas[b].device);
    });
    std::unordered_set<int> given;
    for (const auto i : order)
        if (verdicts[i].what == Verdict::What::rail && given.insert(verdicts[i].rail).second) {
            host.hcas[i].rail = verdicts[i].rail;
            host.hcas[i].role = Role::compute;
        }
}

} // namespace

void assign_roles(Fabric& fabric, const Rules* rules) {
    const auto attached = attachments(fabric);
    const auto devices = device_keys(fabric, attached);
    const Sized sized(fabric, attached);
    std::map<Names, std::vector<std::size_t>> hosts_of; // class → hosts
    std::vector<Verdicts> verdicts(fabric.hosts.size());
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
        Host& host = fabric.hosts[h];
        for (Hca& hca : host.hcas) {
            hca.role = Role::storage;
            hca.rail = none;
        }
        verdicts[h] = judge(rules, host);
        if (rules != nullptr && rules->gives_rails(host.name)) {
            take_ruled_rails(host, verdicts[h]);
            continue;
        }
        if (!named(host) || (!sized.computes(host) && !any(verdicts[h], Verdict::What::compute))) continue;
        auto names = device_names(devices[h], verdicts[h]);
        if (!names.empty()) hosts_of[std::move(names)].push_back(h);
    }
    std::vector<const Names*> classes;
    for (const auto& [names, hosts] : hosts_of)
        classes.push_back(&names);
    std::stable_sort(classes.begin(), classes.end(), [&](const Names* a, const Names* b) {
        return hosts_of[*a].size() > hosts_of[*b].size();
    });

    std::vector<std::size_t> family_of;
    auto families = make_families(classes, family_of);
    const auto each_host = [&](auto visit) {
        for (std::size_t c = 0; c < classes.size(); ++c)
            for (const auto h : hosts_of[*classes[c]])
                visit(c, h);
    };
    each_host([&](std::size_t c, std::size_t h) {
        Family& family = families[family_of[c]];
        for (std::size_t i = 0; i < attached[h].size(); ++i) {
            if (verdicts[h][i].what == Verdict::What::storage) continue;
            Device& device = family.device(devices[h][i]);
            device.ruled_compute |= verdicts[h][i].what == Verdict::What::compute;
            if (attached[h][i].leaf == none) continue;
            device.beside +=
                std::count_if(attached[h].begin(), attached[h].end(),
                              [&](const Attachment& other) { return other.leaf == attached[h][i].leaf; }) > 1
                    ? 1
                    : 0;
            ++device.rates[attached[h][i].mbps];
            ++device.on_leaf[attached[h][i].leaf];
            ++device.of_class[c][attached[h][i].leaf];
            ++device.cabled;
        }
    });
    for (Family& family : families) {
        find_storage(fabric, family);
        number_rails(family);
    }
    // Hosts with half the rails number their storage HCAs after those. For a class of few hosts, only devices
    // that are storage in a larger class count; alone it may show a fault.
    constexpr std::size_t few = 4;
    std::vector<std::set<std::string>> stored(classes.size());
    std::vector<std::set<std::string>> of_family(families.size());
    for (std::size_t c = 0; c < classes.size(); ++c) { // the larger classes come first
        const auto& hosts = hosts_of[*classes[c]];
        auto& known = of_family[family_of[c]];
        stored[c] = in_storage_networks(families[family_of[c]], *classes[c], hosts, attached, devices);
        if (hosts.size() >= few)
            known.insert(stored[c].begin(), stored[c].end());
        else
            std::erase_if(stored[c], [&](const std::string& name) { return !known.contains(name); });
    }
    each_host([&](std::size_t c, std::size_t h) {
        Family& family = families[family_of[c]];
        // Of several HCAs with one name, the one where most of that name are is used, then the one with the
        // lowest GUID.
        std::unordered_map<std::string, Hca*> chosen;
        std::unordered_map<const Hca*, std::size_t> alike;
        for (std::size_t i = 0; i < fabric.hosts[h].hcas.size(); ++i) {
            if (verdicts[h][i].what == Verdict::What::storage) continue;
            Hca& hca = fabric.hosts[h].hcas[i];
            auto& hold = chosen[devices[h][i]];
            const auto& on_leaf = family.device(devices[h][i]).on_leaf;
            const auto found = on_leaf.find(attached[h][i].leaf);
            alike[&hca] = found == on_leaf.end() ? 0 : found->second;
            if (hold == nullptr || alike[&hca] > alike[hold] ||
                (alike[&hca] == alike[hold] && hca.guid < hold->guid))
                hold = &hca;
        }
        for (auto& [name, hca] : chosen) {
            if (stored[c].contains(name)) continue;
            hca->rail = family.device(name).rail;
            if (hca->rail != none) hca->role = Role::compute;
        }
    });
}

} // namespace topo
