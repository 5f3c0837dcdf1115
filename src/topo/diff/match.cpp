#include "topo/diff/match.hpp"

#include "topo/nameless.hpp"
#include "topo/names.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>

namespace topo::drift {
namespace {

std::uint64_t switch_port(int s, std::uint8_t port) {
    return static_cast<std::uint64_t>(s) << 8 | port;
}

class Matcher {
public:
    Matcher(const Fabric& before, const Fabric& after) : before_(before), after_(after) {
        match_.switch_after.assign(before.switches.size(), none);
        match_.switch_before.assign(after.switches.size(), none);
        match_.host_after.assign(before.hosts.size(), none);
        match_.host_before.assign(after.hosts.size(), none);
        for (const Host& host : before.hosts)
            match_.hca_after.emplace_back(host.hcas.size());
        for (const Host& host : after.hosts)
            match_.hca_before.emplace_back(host.hcas.size());
    }

    Match run() && {
        switches_by_guid();
        hcas_by_guid();
        hosts_by_hcas();
        hosts_by_name();
        replaced_hcas();
        switches_by_name();
        switches_by_cables();
        return std::move(match_);
    }

private:
    void join_switches(int old, int now) {
        match_.switch_after[at(old)] = now;
        match_.switch_before[at(now)] = old;
    }
    void join_hosts(int old, int now) {
        match_.host_after[at(old)] = now;
        match_.host_before[at(now)] = old;
    }
    void join_hcas(HcaAt old, HcaAt now) {
        match_.hca_after[at(old.host)][at(old.hca)] = now;
        match_.hca_before[at(now.host)][at(now.hca)] = old;
    }

    void switches_by_guid() {
        std::unordered_map<Guid, int> known;
        for (std::size_t s = 0; s < before_.switches.size(); ++s)
            if (before_.switches[s].guid != 0) known.emplace(before_.switches[s].guid, static_cast<int>(s));
        for (std::size_t s = 0; s < after_.switches.size(); ++s)
            if (const auto old = known.find(after_.switches[s].guid); old != known.end())
                join_switches(old->second, static_cast<int>(s));
    }

    void hcas_by_guid() {
        std::unordered_map<Guid, HcaAt> known;
        for (std::size_t h = 0; h < before_.hosts.size(); ++h)
            for (std::size_t i = 0; i < before_.hosts[h].hcas.size(); ++i)
                if (const Guid guid = before_.hosts[h].hcas[i].guid; guid != 0)
                    known.emplace(guid, HcaAt{static_cast<int>(h), static_cast<int>(i)});
        for (std::size_t h = 0; h < after_.hosts.size(); ++h)
            for (std::size_t i = 0; i < after_.hosts[h].hcas.size(); ++i)
                if (const auto old = known.find(after_.hosts[h].hcas[i].guid); old != known.end())
                    join_hcas(old->second, {static_cast<int>(h), static_cast<int>(i)});
    }

    // The pairs that share most HCAs first; of equals, those with the same name. A host is not renamed if an
    // HCA lost or got its host's name.
    void hosts_by_hcas() {
        struct Pair {
            int old, now;
            std::size_t shared;
            bool renamed;
        };
        std::vector<Pair> pairs;
        for (int now = 0; at(now) < after_.hosts.size(); ++now) {
            const auto first = pairs.size();
            for (const HcaAt& old : match_.hca_before[at(now)]) {
                if (old.host == none ||
                    nameless(before_.hosts[at(old.host)]) != nameless(after_.hosts[at(now)]))
                    continue;
                const auto known =
                    std::find_if(pairs.begin() + static_cast<std::ptrdiff_t>(first), pairs.end(),
                                 [&](const Pair& pair) { return pair.old == old.host; });
                if (known != pairs.end())
                    ++known->shared;
                else
                    pairs.push_back(
                        {old.host, now, 1, before_.hosts[at(old.host)].name != after_.hosts[at(now)].name});
            }
        }
        std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
            return std::tuple(b.shared, a.renamed, a.old, a.now) <
                   std::tuple(a.shared, b.renamed, b.old, b.now);
        });
        for (const Pair& pair : pairs)
            if (match_.host_after[at(pair.old)] == none && match_.host_before[at(pair.now)] == none)
                join_hosts(pair.old, pair.now);
    }

    void hosts_by_name() {
        for (int old = 0; at(old) < before_.hosts.size(); ++old) {
            if (match_.host_after[at(old)] != none) continue;
            const auto now = after_.find_host(before_.hosts[at(old)].name);
            if (now && match_.host_before[*now] == none) join_hosts(old, static_cast<int>(*now));
        }
    }

    // In known hosts: the same device, else the same rail, else the same place on the PCI bus.
    void replaced_hcas() {
        using Same = bool (*)(const Hca&, const Hca&);
        constexpr Same rules[] = {
            [](const Hca& a, const Hca& b) { return !a.device.empty() && a.device == b.device; },
            [](const Hca& a, const Hca& b) { return a.rail != none && a.rail == b.rail; },
            [](const Hca& a, const Hca& b) { return !a.pci.empty() && a.pci == b.pci; }};
        for (int old = 0; at(old) < before_.hosts.size(); ++old) {
            const int now = match_.host_after[at(old)];
            if (now == none) continue;
            const auto& had = before_.hosts[at(old)].hcas;
            const auto& has = after_.hosts[at(now)].hcas;
            for (const Same same : rules)
                for (int i = 0; at(i) < had.size(); ++i)
                    for (int j = 0; at(j) < has.size(); ++j)
                        if (match_.hca_after[at(old)][at(i)].host == none &&
                            match_.hca_before[at(now)][at(j)].host == none && same(had[at(i)], has[at(j)]))
                            join_hcas({old, i}, {now, j});
        }
    }

    void switches_by_name() {
        struct Named {
            int old = none, now = none;
            std::size_t olds = 0, nows = 0;
        };
        std::unordered_map<std::string, Named> named;
        for (int s = 0; at(s) < before_.switches.size(); ++s)
            if (match_.switch_after[at(s)] == none && !before_.switches[at(s)].name.empty()) {
                Named& entry = named[before_.switches[at(s)].name];
                entry.old = s;
                ++entry.olds;
            }
        for (int s = 0; at(s) < after_.switches.size(); ++s)
            if (match_.switch_before[at(s)] == none)
                if (const auto found = named.find(after_.switches[at(s)].name); found != named.end()) {
                    found->second.now = s;
                    ++found->second.nows;
                }
        for (const auto& [name, entry] : named)
            if (entry.olds == 1 && entry.nows == 1) join_switches(entry.old, entry.now);
    }

    // A switch that is gone and a new one where at least half of its cables end.
    void switches_by_cables() {
        std::unordered_map<std::uint64_t, int> new_at; // port of the neighbour → new switch there
        const auto each_end = [](const Fabric& fabric, auto visit) {
            for (const Link& link : fabric.links) {
                if (link.a.switch_ != none) visit(link.a, link.b);
                if (link.b.switch_ != none) visit(link.b, link.a);
            }
        };
        constexpr std::uint64_t on_host = std::uint64_t{1} << 63;
        each_end(after_, [&](const End& here, const End& there) {
            if (match_.switch_before[at(here.switch_)] != none) return;
            if (there.switch_ != none) {
                const int old = match_.switch_before[at(there.switch_)];
                if (old != none) new_at.emplace(switch_port(old, there.port), here.switch_);
            } else if (const HcaAt old = match_.hca_before[at(there.host)][at(there.hca)]; old.host != none) {
                new_at.emplace(on_host | host_port(old, there.port), here.switch_);
            }
        });
        if (new_at.empty()) return;
        std::vector<std::size_t> cables(before_.switches.size(), 0);
        std::unordered_map<std::uint64_t, std::size_t> votes; // (old, new)
        each_end(before_, [&](const End& here, const End& there) {
            if (match_.switch_after[at(here.switch_)] != none) return;
            ++cables[at(here.switch_)];
            const auto key = there.switch_ != none ? switch_port(there.switch_, there.port)
                                                   : on_host | host_port({there.host, there.hca}, there.port);
            if (const auto now = new_at.find(key); now != new_at.end())
                ++votes[static_cast<std::uint64_t>(here.switch_) << 32 |
                        static_cast<std::uint32_t>(now->second)];
        });
        std::vector<std::tuple<std::size_t, int, int>> pairs;
        for (const auto& [key, count] : votes) {
            const int old = static_cast<int>(key >> 32), now = static_cast<int>(key & 0xFFFFFFFFU);
            if (count * 2 >= cables[at(old)]) pairs.emplace_back(count, old, now);
        }
        std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
            return std::tuple(std::get<0>(b), std::get<1>(a), std::get<2>(a)) <
                   std::tuple(std::get<0>(a), std::get<1>(b), std::get<2>(b));
        });
        for (const auto& [count, old, now] : pairs)
            if (match_.switch_after[at(old)] == none && match_.switch_before[at(now)] == none)
                join_switches(old, now);
    }

    static std::uint64_t host_port(HcaAt hca, std::uint8_t port) {
        return static_cast<std::uint64_t>(hca.host) << 32 | static_cast<std::uint64_t>(hca.hca) << 8 | port;
    }

    const Fabric& before_;
    const Fabric& after_;
    Match match_;
};

} // namespace

Match match(const Fabric& before, const Fabric& after) {
    return Matcher(before, after).run();
}

Ports::Ports(const Fabric& before, const Fabric& after, const Match& match) {
    std::uint64_t next = 0;
    for (const Host& host : after.hosts) {
        auto& numbers = hca_after_.emplace_back();
        for (std::size_t i = 0; i < host.hcas.size(); ++i)
            numbers.push_back(next++ << 8);
    }
    for (std::size_t s = 0; s < after.switches.size(); ++s)
        switch_after_.push_back(next++ << 8);
    for (std::size_t h = 0; h < before.hosts.size(); ++h) {
        auto& numbers = hca_before_.emplace_back();
        for (const HcaAt& now : match.hca_after[h])
            numbers.push_back(now.host != none ? hca_after_[at(now.host)][at(now.hca)] : next++ << 8);
    }
    for (const int now : match.switch_after)
        switch_before_.push_back(now != none ? switch_after_[at(now)] : next++ << 8);
}

std::uint64_t Ports::before(const End& end) const {
    return (end.host != none ? hca_before_[at(end.host)][at(end.hca)] : switch_before_[at(end.switch_)]) |
           end.port;
}

std::uint64_t Ports::after(const End& end) const {
    return (end.host != none ? hca_after_[at(end.host)][at(end.hca)] : switch_after_[at(end.switch_)]) |
           end.port;
}

} // namespace topo::drift
