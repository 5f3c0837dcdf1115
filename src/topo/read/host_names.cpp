#include "topo/read/host_names.hpp"

#include "topo/guid.hpp"
#include "topo/names.hpp"
#include "topo/numbered_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

namespace topo {
namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

bool same_host(std::string_view a, std::string_view b) {
    auto one = lower(a), other = lower(b);
    if (one.size() > other.size()) std::swap(one, other);
    return one == other || other.starts_with(one + '.');
}

bool disjoint(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return std::none_of(a.begin(), a.end(),
                        [&](const auto& device) { return std::find(b.begin(), b.end(), device) != b.end(); });
}

constexpr std::string_view counted_device = "HCA-"; // numbered from 1

bool is_counted(std::string_view device) {
    return device.starts_with(counted_device);
}

// Where an HCA is plugged in.
struct Place {
    int leaf = none;
    int port = none;
};

// Splits HCAs of the same host name into machines.
class Namesakes {
public:
    explicit Namesakes(Fabric& fabric) : fabric_(fabric), places_(fabric.hosts.size()) {
        for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
            places_[h].resize(fabric.hosts[h].hcas.size());
        for (const Link& link : fabric.links)
            for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
                if (here->host == none || there->switch_ == none) continue;
                Place& place = places_[at(here->host)][at(here->hca)];
                if (place.leaf == none) place = {there->switch_, there->port};
            }
        for (std::size_t h = 0; h < places_.size(); ++h)
            for (const Place& place : places_[h])
                if (place.leaf != none) hosts_on_[place.leaf].insert(h);
    }

    // The machine of each HCA of the host; nothing for a single machine.
    std::vector<int> part(std::size_t h, std::size_t usual) const {
        const Host& host = fabric_.hosts[h];
        std::map<std::string, std::vector<std::size_t>> by_device;
        for (std::size_t i = 0; i < host.hcas.size(); ++i)
            by_device[canonical_device(host.hcas[i].device)].push_back(i);
        std::size_t several = 0, most = 1;
        for (const auto& [device, hcas] : by_device) {
            several += hcas.size() > 1 ? 1 : 0;
            most = std::max(most, hcas.size());
        }
        const bool all = several > 1 && several == by_device.size();
        if (!all && (several * 2 < by_device.size() || host.hcas.size() * 2 < usual * 3))
            return part_by_style(h, usual);
        std::vector<std::size_t> seeds; // one HCA of each machine
        for (const auto& [device, hcas] : by_device)
            if (hcas.size() == most && seeds.empty()) seeds = hcas;
        std::vector<int> machine(host.hcas.size(), none);
        for (const auto& [device, hcas] : by_device) {
            std::vector<char> taken(seeds.size(), 0);
            for (const auto i : hcas) {
                int best = none;
                for (int m = 0; at(m) < seeds.size(); ++m)
                    if (taken[at(m)] == 0 && (best == none || nearer(h, i, seeds[at(m)], seeds[at(best)])))
                        best = m;
                machine[i] = best;
                taken[at(best)] = 1;
            }
        }
        return named_first(h, seeds, std::move(machine));
    }

private:
    // Machines without a common device, one with HCA-1 and one with mlx5_4: more HCAs than a host has, on
    // leaves that no other host shares.
    std::vector<int> part_by_style(std::size_t h, std::size_t usual) const {
        const auto& hcas = fabric_.hosts[h].hcas;
        std::vector<std::size_t> styles[2];
        for (std::size_t i = 0; i < hcas.size(); ++i)
            styles[is_counted(hcas[i].device) ? 1 : 0].push_back(i);
        if (hcas.size() * 2 < usual * 3) return {};
        for (const auto& style : styles)
            if (style.size() * 2 < usual || style.empty()) return {};
        std::vector<int> machine(hcas.size(), 0);
        for (const auto b : styles[1]) {
            machine[b] = 1;
            for (const auto a : styles[0])
                if (places_[h][a].leaf == none || places_[h][b].leaf == none ||
                    places_[h][a].leaf == places_[h][b].leaf || std::get<0>(nearness(h, a, b)) > 0)
                    return {};
        }
        return named_first(h, {styles[0].front(), styles[1].front()}, std::move(machine));
    }

    // The machine that keeps the name becomes number 0.
    std::vector<int> named_first(std::size_t h, const std::vector<std::size_t>& seeds,
                                 std::vector<int> machine) const {
        const int named = best_named(h, seeds);
        for (int& m : machine)
            m = m == named ? 0 : m == 0 ? named : m;
        return machine;
    }

    bool nearer(std::size_t h, std::size_t i, std::size_t to, std::size_t than) const {
        return nearness(h, i, to) > nearness(h, i, than);
    }
    std::tuple<std::size_t, bool, std::uint64_t> nearness(std::size_t h, std::size_t a, std::size_t b) const {
        const Place &one = places_[h][a], &other = places_[h][b];
        std::size_t shared = 0;
        if (one.leaf != none && other.leaf != none)
            for (const auto host : hosts_on_.at(one.leaf))
                shared += host != h && hosts_on_.at(other.leaf).contains(host) ? 1 : 0;
        const auto &x = fabric_.hosts[h].hcas[a].guid, &y = fabric_.hosts[h].hcas[b].guid;
        return {shared, one.port == other.port, ~(x > y ? x - y : y - x)};
    }

    // The machine next to the hosts with neighbouring numbers, else the first.
    int best_named(std::size_t h, const std::vector<std::size_t>& seeds) const {
        const auto own = numbered(fabric_.hosts[h].name);
        if (!own) return 0;
        std::vector<std::size_t> score(seeds.size(), 0);
        for (int m = 0; at(m) < seeds.size(); ++m) {
            const Place& place = places_[h][seeds[at(m)]];
            if (place.leaf == none) continue;
            for (const auto other : hosts_on_.at(place.leaf)) {
                const auto name = numbered(fabric_.hosts[other].name);
                if (other == h || !name || !name->kin(*own)) continue;
                const int apart = std::abs(static_cast<int>(name->number) - static_cast<int>(own->number));
                if (apart > 2) continue;
                score[at(m)] += 4;
                for (const Place& beside : places_[other])
                    if (beside.leaf == place.leaf && std::abs(beside.port - place.port) == apart)
                        ++score[at(m)];
            }
        }
        return static_cast<int>(std::max_element(score.begin(), score.end()) - score.begin());
    }

    Fabric& fabric_;
    std::vector<std::vector<Place>> places_; // by host and HCA
    std::map<int, std::set<std::size_t>> hosts_on_;
};

// Removes the HCAs whose machine is not 0 from the host.
void take_out(Fabric& fabric, std::size_t h, const std::vector<int>& machine) {
    std::vector<End> moved(machine.size());
    std::vector<Hca> kept;
    const auto name = fabric.hosts[h].name;
    for (std::size_t i = 0; i < machine.size(); ++i) {
        Hca hca = std::move(fabric.hosts[h].hcas[i]);
        if (machine[i] == 0) {
            moved[i] = {static_cast<int>(h), static_cast<int>(kept.size()), none, 0};
            kept.push_back(std::move(hca));
            continue;
        }
        moved[i] = {static_cast<int>(fabric.hosts.size()), 0, none, 0};
        Host alone;
        alone.name = format_guid(hca.guid);
        hca.device = hca.device.empty() ? name : fmt::format("{} {}", name, hca.device);
        alone.hcas.push_back(std::move(hca));
        fabric.hosts.push_back(std::move(alone));
    }
    fabric.hosts[h].hcas = std::move(kept);
    for (Link& link : fabric.links)
        for (End* end : {&link.a, &link.b})
            if (end->host == static_cast<int>(h)) {
                const End& to = moved[at(end->hca)];
                end->host = to.host;
                end->hca = to.hca;
            }
}

} // namespace

std::string canonical_device(std::string_view device) {
    unsigned number = 0;
    if (is_counted(device)) {
        const auto end = device.data() + device.size();
        const auto [stop, failed] = std::from_chars(device.data() + counted_device.size(), end, number);
        if (failed == std::errc() && stop == end && number > 0) return fmt::format("mlx5_{}", number - 1);
    }
    return std::string(device);
}

bool names_no_host(std::string_view host) {
    const auto name = lower(host);
    return name == "localhost" || name.starts_with("localhost.") || name == "(none)";
}

void HostNames::see(std::string_view host, std::string_view device) {
    auto& spellings = by_label_[lower(host.substr(0, host.find('.')))];
    auto found = std::find_if(spellings.begin(), spellings.end(),
                              [&](const Spelling& spelling) { return spelling.name == host; });
    if (found == spellings.end()) found = spellings.insert(found, {std::string(host), {}});
    found->devices.push_back(canonical_device(device));
}

void HostNames::settle() {
    for (auto& [label, spellings] : by_label_) {
        if (spellings.size() < 2) continue;
        std::stable_sort(spellings.begin(), spellings.end(), [](const Spelling& a, const Spelling& b) {
            if (a.devices.size() != b.devices.size()) return a.devices.size() > b.devices.size();
            return a.name.size() != b.name.size() ? a.name.size() < b.name.size() : a.name > b.name;
        });
        for (auto rare = spellings.begin() + 1; rare != spellings.end(); ++rare) {
            const auto host = std::find_if(spellings.begin(), rare, [&](const Spelling& common) {
                return same_host(common.name, rare->name) && disjoint(common.devices, rare->devices);
            });
            if (host != rare) chosen_.emplace(rare->name, host->name);
        }
    }
}

std::string_view HostNames::operator()(std::string_view host) const {
    const auto found = chosen_.find(std::string(host));
    return found == chosen_.end() ? host : std::string_view(found->second);
}

void part_namesakes(Fabric& fabric) {
    std::map<std::size_t, std::size_t> sizes; // HCAs in a host → total of such hosts
    std::vector<std::size_t> doubtful;
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
        const auto& hcas = fabric.hosts[h].hcas;
        sizes[hcas.size()] += hcas.size();
        std::set<std::string> devices;
        std::size_t counted = 0, unnamed = 0; // HCAs without a device name are not duplicates
        for (const Hca& hca : hcas) {
            if (hca.device.empty())
                ++unnamed;
            else
                devices.insert(canonical_device(hca.device));
            counted += is_counted(hca.device) ? 1U : 0U;
        }
        if (devices.size() + unnamed < hcas.size() || (counted > 1 && counted + 1 < hcas.size()))
            doubtful.push_back(h);
    }
    if (doubtful.empty()) return;
    const auto usual = std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
                           return a.second < b.second;
                       })->first;
    const Namesakes namesakes(fabric);
    std::vector<std::pair<std::size_t, std::vector<int>>> parted;
    for (const auto h : doubtful)
        if (auto machine = namesakes.part(h, usual); !machine.empty())
            parted.emplace_back(h, std::move(machine));
    for (const auto& [h, machine] : parted)
        take_out(fabric, h, machine);
}

} // namespace topo
