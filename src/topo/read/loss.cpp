#include "topo/read/loss.hpp"

#include "base/hostlist.hpp"
#include "topo/names.hpp"
#include "topo/read/outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace topo {
namespace {

std::uint64_t key(Guid guid, std::uint8_t port) {
    return guid * 251 + port;
}

// The GUIDs of nodes and the ports with a link.
struct Seen {
    explicit Seen(const Fabric& fabric) {
        for (const Host& host : fabric.hosts)
            for (const Hca& hca : host.hcas)
                nodes.insert(hca.guid);
        for (const Switch& s : fabric.switches)
            nodes.insert(s.guid);
        for (const Link& link : fabric.links)
            for (const End* end : {&link.a, &link.b})
                ports.insert(key(guid(fabric, *end), end->port));
    }
    static Guid guid(const Fabric& fabric, const End& end) {
        return end.switch_ != none ? fabric.switches[at(end.switch_)].guid
                                   : fabric.hosts[at(end.host)].hcas[at(end.hca)].guid;
    }

    std::unordered_set<Guid> nodes;
    std::unordered_set<std::uint64_t> ports;
};

// "2 switches are not seen: leaf1, leaf2"; the first few if there are many names.
void add_sentence(std::vector<std::string>& sentences, const std::vector<std::string>& names,
                  std::string_view one, std::string_view many) {
    constexpr std::size_t most = 8;
    if (names.empty()) return;
    const std::vector<std::string> first(
        names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most)));
    sentences.push_back(fmt::format("{} {}: {}{}", names.size(), names.size() == 1 ? one : many,
                                    fmt::join(first, ", "), names.size() > most ? ", …" : ""));
}

} // namespace

std::vector<std::string> losses(const Fabric& before, const Fabric& after) {
    const Seen now(after);
    std::vector<std::string> hosts, hcas, switches, ports, sentences;
    const bool cables = !is_outline(before) && !is_outline(after);
    if (!is_outline(before) && is_outline(after))
        sentences.push_back(fmt::format("{} of {} hosts are known, but what is seen now tells units only",
                                        counted(at(before.rails), "rail", "rails"), before.hosts.size()));
    for (const Host& host : before.hosts) {
        if (!after.find_host(host.name)) {
            hosts.push_back(host.name);
            continue;
        }
        for (const Hca& hca : host.hcas)
            if (cables && !now.nodes.contains(hca.guid))
                hcas.push_back(fmt::format("{} {}", host.name, hca.device));
    }
    const bool same_kind = is_outline(before) == is_outline(after);
    for (const Switch& s : before.switches)
        if (same_kind && !now.nodes.contains(s.guid)) switches.push_back(s.name);
    for (const Link& link : before.links)
        for (const End* end : {&link.a, &link.b}) {
            const auto guid = Seen::guid(before, *end);
            if (!cables || !now.nodes.contains(guid) || now.ports.contains(key(guid, end->port))) continue;
            ports.push_back(end_name(before, *end));
        }
    if (!hosts.empty())
        sentences.push_back(fmt::format("{} {} not seen: {}", hosts.size(),
                                        hosts.size() == 1 ? "host is" : "hosts are",
                                        base::fold_hostlist(hosts)));
    add_sentence(sentences, hcas, "HCA of a host that is still there is not seen",
                 "HCAs of hosts that are still there are not seen");
    add_sentence(sentences, switches, "switch is not seen", "switches are not seen");
    add_sentence(sentences, ports, "port has lost its link", "ports have lost their links");
    return sentences;
}

} // namespace topo
