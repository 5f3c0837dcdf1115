#include "topo/read/carry_over.hpp"

#include "topo/derive.hpp"
#include "topo/names.hpp"
#include "topo/read/roles.hpp"

#include <algorithm>
#include <map>

namespace topo {
namespace {

using NodePort = std::pair<Guid, std::uint8_t>;

NodePort node_port(const Fabric& fabric, const End& end) {
    const Guid guid = end.switch_ != none ? fabric.switches[at(end.switch_)].guid
                                          : fabric.hosts[at(end.host)].hcas[at(end.hca)].guid;
    return {guid, end.port};
}

std::pair<NodePort, NodePort> node_ports(const Fabric& fabric, const Link& link) {
    return std::minmax(node_port(fabric, link.a), node_port(fabric, link.b));
}

// The location of each HCA of a fabric, by GUID.
std::unordered_map<Guid, End> index_hcas(const Fabric& fabric) {
    std::unordered_map<Guid, End> index;
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
        for (std::size_t i = 0; i < fabric.hosts[h].hcas.size(); ++i)
            index.emplace(fabric.hosts[h].hcas[i].guid,
                          End{static_cast<int>(h), static_cast<int>(i), none, 0});
    return index;
}

void carry_hca(const Hca& before, Hca& hca) {
    if (hca.pci.empty()) hca.pci = before.pci;
    if (hca.numa == none) hca.numa = before.numa;
    if (hca.gpu == none) hca.gpu = before.gpu;
    hca.extra = before.extra;
    for (HcaPort& port : hca.ports)
        for (const HcaPort& old : before.ports)
            if (old.number == port.number) port.extra = old.extra;
}

void carry_gpus(const Host& before, Host& host) {
    if (host.gpus.empty()) {
        host.gpus = before.gpus;
        return;
    }
    for (Gpu& gpu : host.gpus)
        for (const Gpu& old : before.gpus)
            if (old.pci == gpu.pci) gpu.extra = old.extra;
}

void carry_switches(const Fabric& before, Fabric& fabric) {
    std::unordered_map<Guid, const std::string*> extras;
    for (const Switch& s : before.switches)
        if (!s.extra.empty()) extras.emplace(s.guid, &s.extra);
    for (Switch& s : fabric.switches)
        if (const auto found = extras.find(s.guid); found != extras.end()) s.extra = *found->second;
}

// A module without the values measured at the time.
Module as_built(Module module) {
    module.celsius.reset();
    module.rx_dbm.clear();
    module.tx_dbm.clear();
    return module;
}

void carry_modules(const Fabric& before, const Link& old, const Fabric& fabric, Link& link) {
    if (!link.modules.empty() || old.modules.empty()) return;
    link.modules = {as_built(old.modules[0]), as_built(old.modules[1])};
    if (node_port(before, old.a) != node_port(fabric, link.a)) std::swap(link.modules[0], link.modules[1]);
}

void carry_links(const Fabric& before, Fabric& fabric) {
    std::map<std::pair<NodePort, NodePort>, const Link*> known;
    for (const Link& link : before.links)
        if (!link.extra.empty() || !link.modules.empty()) known.emplace(node_ports(before, link), &link);
    if (known.empty()) return;
    for (Link& link : fabric.links) {
        const auto found = known.find(node_ports(fabric, link));
        if (found == known.end()) continue;
        link.extra = found->second->extra;
        carry_modules(before, *found->second, fabric, link);
    }
}

// The HCAs of a fabric whose role or rail differs from that given by assign_roles().
std::unordered_map<Guid, const Hca*> decided(const Fabric& fabric) {
    Fabric undecided = fabric;
    assign_roles(undecided); // which moves nothing
    std::unordered_map<Guid, const Hca*> found;
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
        for (std::size_t i = 0; i < fabric.hosts[h].hcas.size(); ++i) {
            const Hca &hca = fabric.hosts[h].hcas[i], &other = undecided.hosts[h].hcas[i];
            if (hca.role != other.role || hca.rail != other.rail) found.emplace(hca.guid, &hca);
        }
    return found;
}

// The remaining HCAs of hosts that have lost some: their small number is no evidence for their purpose.
void add_left(const Fabric& before, const Fabric& fabric, std::unordered_map<Guid, const Hca*>& kept) {
    const auto now = index_hcas(fabric);
    for (const Host& host : before.hosts) {
        std::vector<const Hca*> left;
        for (const Hca& hca : host.hcas)
            if (const auto found = now.find(hca.guid);
                found != now.end() && fabric.hosts[at(found->second.host)].name == host.name)
                left.push_back(&hca);
        if (left.size() < host.hcas.size())
            for (const Hca* hca : left)
                kept.emplace(hca->guid, hca);
    }
}

// The decided HCAs of a host first; the others change to a free rail.
void carry_roles(const std::unordered_map<Guid, const Hca*>& decided, Host& host) {
    std::vector<char> taken(host.hcas.size(), 0); // rails below that number; above them some rail is free
    const auto take = [&](int rail) {
        if (at(rail) >= taken.size()) taken.resize(at(rail) + 1, 0);
        const bool free = taken[at(rail)] == 0;
        taken[at(rail)] = 1;
        return free;
    };
    bool any = false;
    for (Hca& hca : host.hcas)
        if (const auto found = decided.find(hca.guid); found != decided.end()) {
            any = true;
            hca.role = found->second->role;
            hca.rail = found->second->rail;
            if (hca.rail != none) take(hca.rail);
        }
    if (!any) return;
    std::vector<Hca*> displaced;
    for (Hca& hca : host.hcas)
        if (hca.rail != none && !decided.contains(hca.guid) && !take(hca.rail)) displaced.push_back(&hca);
    for (Hca* hca : displaced) {
        hca->rail = static_cast<int>(std::find(taken.begin(), taken.end(), 0) - taken.begin());
        take(hca->rail);
    }
}

} // namespace

void carry_over(const Fabric& before, Fabric& fabric, bool roles) {
    const auto old_hcas = index_hcas(before);
    for (Host& host : fabric.hosts) {
        const Host* old_host = nullptr;
        for (Hca& hca : host.hcas) {
            const auto found = old_hcas.find(hca.guid);
            if (found == old_hcas.end()) continue;
            const Host& holder = before.hosts[at(found->second.host)];
            carry_hca(holder.hcas[at(found->second.hca)], hca);
            if (old_host == nullptr) old_host = &holder;
        }
        if (old_host == nullptr)
            if (const auto found = before.find_host(host.name)) old_host = &before.hosts[*found];
        if (old_host == nullptr) continue;
        if (host.domain.empty()) host.domain = old_host->domain;
        host.extra = old_host->extra;
        carry_gpus(*old_host, host);
    }
    carry_switches(before, fabric);
    carry_links(before, fabric);
    fabric.extra = before.extra;
    if (roles) {
        auto kept = decided(before);
        add_left(before, fabric, kept);
        for (Host& host : fabric.hosts)
            carry_roles(kept, host);
    }
    derive(fabric);
}

} // namespace topo
