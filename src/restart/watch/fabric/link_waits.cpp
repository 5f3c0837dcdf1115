#include "restart/watch/fabric/link_waits.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>

namespace restart {
namespace {

constexpr double bits_of_word = 32;
constexpr double million = 1e6;
// In words: 8 octets, and 32 octets on each of four lanes.
constexpr double tick_since_hdr = 2, tick_before = 32;
constexpr double hdr_gbps = 200;
constexpr double waits_more_than = 0.5; // of the time
constexpr double moves_less_than = 0.5; // of its capacity
constexpr std::size_t most_shown = 8;   // links of a loop
constexpr const char* receiver_signal = "link.slow_receiver";
constexpr const char* loop_signal = "link.credit_loop";

// Hosts whose ports are among these.
std::vector<std::string> senders(const LinkMap& map, const std::vector<LinkEnd>& ends,
                                 const std::vector<std::size_t>& ports) {
    std::vector<std::string> hosts;
    for (const auto port : ports)
        if (const auto& end = map.links()[ends[port].link].ends[ends[port].side]; end.host != topo::none)
            hosts.push_back(end.device);
    return hosts;
}

std::string counted(std::size_t ports) {
    return ports == 1 ? std::string("one port waits") : fmt::format("{} ports wait", ports);
}

std::string to_text(const LinkMap& map, LinkEnd end) {
    return fmt::format("{} to {}", map.end_name(end.link, end.side),
                       map.links()[end.link].ends[1 - end.side].device);
}

} // namespace

std::string component_of(std::size_t link, std::size_t side) {
    return fmt::format("{}:{}", link, side);
}

std::optional<std::uint32_t> moved_while_waiting(const PortLoad& load, base::Duration passed) {
    const double could = load.gbps * 1e9 * base::to_seconds(passed) / bits_of_word;
    if (!(could > 0)) return {};
    const double tick = load.gbps >= hdr_gbps ? tick_since_hdr : tick_before;
    if (static_cast<double>(load.waits) * tick < waits_more_than * could) return {};
    const double moved = static_cast<double>(load.words) / could;
    if (!(moved < moves_less_than)) return {};
    return static_cast<std::uint32_t>(std::lround(moved * million));
}

LinkWaits::LinkWaits(const LinkMap& map) {
    std::unordered_map<topo::Guid, std::uint32_t> numbers;
    for (const auto& link : map.links()) {
        auto& devices = devices_.emplace_back();
        for (std::size_t side = 0; side < 2; ++side) {
            const auto [at, first] =
                numbers.try_emplace(link.ends[side].node, static_cast<std::uint32_t>(levels_.size()));
            if (first) levels_.push_back(link.ends[side].level);
            devices[side] = at->second;
        }
    }
}

void LinkWaits::tell_receivers(const LinkMap& map, const WaitGraph& graph, const std::vector<LinkEnd>& ends,
                               const WaitCauses& causes, std::vector<Signal>& into) {
    for (const auto& receiver : causes.receivers) {
        const auto end = ends[receiver.port];
        const auto& host = map.links()[end.link].ends[1 - end.side];
        const Key key{receiver_signal, component_of(end.link, end.side)};
        auto hosts = senders(map, ends, receiver.behind);
        hosts.push_back(host.device);
        now_.insert(key);
        auto& cause = causes_[key] = {};
        cause.hosts = LinkMap::folded(std::move(hosts));
        cause.ends.push_back(end);
        for (const auto port : receiver.behind)
            cause.ends.push_back(ends[port]);
        told_[key] = {end};
        const double percent = std::floor(graph.ports[receiver.port].moved_ppm / 100.0 + 0.5) / 100;
        into.push_back({receiver_signal, key.second, percent, 0,
                        fmt::format("{} waits for {} {}, and {} behind it", map.end_name(end.link, end.side),
                                    host.device, host.port_name, counted(receiver.behind.size()))});
    }
}

void LinkWaits::tell_loops(const LinkMap& map, const std::vector<LinkEnd>& ends, const WaitCauses& causes,
                           std::vector<Signal>& into) {
    for (const auto& loop : causes.loops) {
        // A loop starts at its lowest link, so that its name is unique, but keeps the name of an earlier loop
        // with common links: of several loops over the same links the search may find a different one.
        const auto first = std::min_element(loop.ports.begin(), loop.ports.end(),
                                            [&](auto a, auto b) { return ends[a] < ends[b]; });
        auto order = loop.ports;
        std::rotate(order.begin(), order.begin() + (first - loop.ports.begin()), order.end());
        std::set<LinkEnd> links;
        for (const auto port : order)
            links.insert(ends[port]);
        Key key{loop_signal, component_of(ends[order[0]].link, ends[order[0]].side)};
        for (const auto& [known, before] : told_)
            if (known.first == loop_signal && !now_.contains(known) &&
                std::any_of(before.begin(), before.end(), [&](LinkEnd end) { return links.contains(end); }))
                key = known;
        now_.insert(key);
        auto& cause = causes_[key] = {};
        cause.hosts = LinkMap::folded(senders(map, ends, loop.behind));
        for (const auto end : links)
            if (cause.hosts.empty()) cause.hosts = map.hosts_of(end.link);
        std::string text;
        for (std::size_t i = 0; i < std::min(order.size(), most_shown); ++i)
            text += fmt::format("{}{}", i == 0 ? "" : ", ", to_text(map, ends[order[i]]));
        if (order.size() > most_shown) text += fmt::format(" and {} more", order.size() - most_shown);
        into.push_back({loop_signal, key.second, static_cast<double>(loop.moved_ppm), 0, std::move(text)});
        told_[key] = links;
        cause.ends.assign(links.begin(), links.end());
        for (const auto port : loop.behind)
            cause.ends.push_back(ends[port]);
    }
}

void LinkWaits::read(const LinkMap& map, const std::vector<PortLoad>& loads, base::Duration passed,
                     std::vector<Signal>& into) {
    now_.clear();
    WaitGraph graph;
    std::vector<LinkEnd> ends;
    for (const auto& load : loads) {
        const auto moved = moved_while_waiting(load, passed);
        if (!moved) continue;
        const auto& devices = devices_[load.at.link];
        graph.ports.push_back({devices[load.at.side], devices[1 - load.at.side], *moved});
        ends.push_back(load.at);
    }
    if (!graph.ports.empty()) {
        graph.levels = levels_;
        const auto causes = find_causes(graph);
        tell_receivers(map, graph, ends, causes, into);
        tell_loops(map, ends, causes, into);
    }
    for (const auto& [key, before] : told_) {
        if (now_.contains(key)) continue;
        const bool loop = key.first == loop_signal;
        into.push_back({loop ? loop_signal : receiver_signal, key.second, loop ? million : 100, 0, {}});
    }
}

const LinkWaits::Cause* LinkWaits::cause(const std::string& signal, const std::string& component) const {
    const auto found = causes_.find({signal, component});
    return found == causes_.end() ? nullptr : &found->second;
}

} // namespace restart
