#include "restart/watch/fabric/link_signals.hpp"

#include "base/median.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace restart {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration settles_within{30'000};
// UFM's PDR plugin combines link downs of both ends within this time.
constexpr base::Duration one_event_within{300'000};
// Below this amount (1 MiB) the waiting of a port is not meaningful.
constexpr std::uint64_t enough_words = 1U << 18U;
// Rails are compared when they carry at least this share of their capacity.
constexpr double busy_share = 0.01;
constexpr std::size_t fewest_rails = 3;
constexpr std::string_view rail_word = " rail ";
constexpr std::string_view file_component = "file";
constexpr std::size_t most_unlisted_shown = 3;

struct Summed {
    PortCounter counter;
    std::string_view signal;
    bool trains = true; // grows while a link goes down and trains
};
constexpr auto sums = std::to_array<Summed>({
    {PortCounter::symbol_errors, "link.symbol_errors"},
    {PortCounter::link_recoveries, "link.recoveries"},
    {PortCounter::receive_errors, "link.receive_errors"},
    {PortCounter::remote_physical_errors, "link.remote_errors"},
    {PortCounter::transmit_discards, "link.discards"},
    {PortCounter::integrity_errors, "link.integrity_errors"},
    {PortCounter::buffer_overruns, "link.buffer_overruns"},
    {PortCounter::vl15_drops, "link.vl15_drops"},
});

double share_of_waiting(const PortGrowth& grown) {
    // A tick is a symbol time of a lane: the time for one word of 4 octets on the four lanes of a link.
    const auto waits = grown.of(PortCounter::transmit_waits);
    const auto words = grown.of(PortCounter::transmit_words);
    if (waits + words < enough_words) return 0;
    return static_cast<double>(waits) / (static_cast<double>(waits) + static_cast<double>(words));
}

double to_hundredths(double share) {
    return static_cast<double>(static_cast<std::int64_t>(share * 100 + 0.5)) / 100;
}

} // namespace

std::optional<PortCounter> counter_of(std::string_view signal) {
    const auto* known =
        std::find_if(sums.begin(), sums.end(), [&](const Summed& one) { return one.signal == signal; });
    return known == sums.end() ? std::optional<PortCounter>() : known->counter;
}

LinkComponent LinkSignals::component(const std::string& name) const {
    LinkComponent found;
    found.file = name == file_component;
    if (found.file) return found;
    if (const auto word = name.rfind(rail_word); word != std::string::npos) {
        found.unit = name.substr(0, word);
        const auto* begin = name.data() + word + rail_word.size();
        std::from_chars(begin, name.data() + name.size(), found.rail);
        return found;
    }
    std::from_chars(name.data(), name.data() + name.size(), found.link);
    found.link = std::min(found.link, map_.links().size() - 1);
    return found;
}

void LinkSignals::take_seen(std::span<const SeenEnd> seen) {
    for (auto& link : links_)
        for (auto& end : link.ends)
            end.seen = end.active = end.silent = false;
    for (const auto& one : seen) {
        const auto at = map_.find(one.node, one.port);
        if (!at) continue;
        auto& end = links_[at->first].ends[at->second];
        end.seen = true;
        end.active = one.active;
        end.at = one;
    }
}

void LinkSignals::take_reading(base::Time now, EndState& end, const PortReading& reading) const {
    if (!reading.answered) {
        end.silent = end.seen; // an end that is not there is reported by the sweep of the fabric
        end.was_silent = end.was_silent || end.silent;
        return;
    }
    if (!end.read) {
        end.last = reading;
        end.read = true;
        end.missed = !end.active;
        return;
    }
    const auto grown = growth(end.last, reading);
    const auto downs = grown.of(PortCounter::link_downs);
    if (downs > 0) {
        end.downs += downs;
        end.down_at = now;
    }
    if (downs > 0 || grown.restarted || end.missed || !end.active) end.settled = now + settles_within;
    if (now >= end.settled) {
        for (std::size_t i = 0; i < summed; ++i)
            end.sums[i] += grown.of(sums[i].counter);
        end.waiting = share_of_waiting(grown);
        end.words = grown.of(PortCounter::transmit_words) + grown.of(PortCounter::receive_words);
        if (reading.counts(PortCounter::transmit_waits)) // at its maximum it no longer grows
            end.sent = {grown.of(PortCounter::transmit_words), grown.of(PortCounter::transmit_waits)};
    }
    end.last = reading;
    end.missed = !end.active;
}

void LinkSignals::pair_downs(base::Time now, LinkState& link) {
    for (auto& end : link.ends)
        if (now - end.down_at > one_event_within) end.downs = 0;
    const auto both = std::min(link.ends[0].downs, link.ends[1].downs);
    link.downs += both;
    for (auto& end : link.ends)
        end.downs -= both;
}

void LinkSignals::tell_end(std::size_t link, std::size_t side, std::vector<Signal>& begin,
                           std::vector<Signal>& into) {
    auto& end = links_[link].ends[side];
    const auto tell = [&](std::vector<Signal>& list, std::string_view signal, double value, double of = 0) {
        list.push_back({signal, component_of(link, side), value, of, map_.end_name(link, side)});
    };
    const double gbps = end.active && end.at.mbps > 0 ? end.at.mbps / 1000.0 : map_.links()[link].gbps;
    for (std::size_t i = 0; i < summed; ++i) {
        const auto bit = 1U << i;
        if ((end.told & bit) == 0 && end.sums[i] == 0) continue;
        if ((end.told & bit) == 0) tell(begin, sums[i].signal, 0, gbps);
        end.told |= bit;
        tell(into, sums[i].signal, static_cast<double>(end.sums[i]), gbps);
    }
    end.waited = end.waited || end.waiting > 0;
    if (end.waited) tell(into, "link.waiting", to_hundredths(end.waiting));
    if (end.was_silent) tell(into, "link.silent", end.silent ? 1 : 0);
    std::string full;
    for (const auto& one : sums)
        if (end.read && at_its_end(end.last, one.counter))
            full += fmt::format("{}{}", full.empty() ? "" : ", ", to_string(one.counter));
    end.was_full = end.was_full || !full.empty();
    if (!end.was_full) return;
    tell(into, "link.full", full.empty() ? 0 : 1);
    into.back().text += ": " + full;
}

void LinkSignals::tell_link(std::size_t at, std::vector<Signal>& begin, std::vector<Signal>& into) {
    auto& link = links_[at];
    const auto& file = map_.links()[at];
    const auto tell = [&](std::vector<Signal>& list, std::string_view signal, double value, double of,
                          std::string text) {
        list.push_back({signal, fmt::format("{}", at), value, of, std::move(text)});
    };
    if (link.downs > 0) {
        if (!std::exchange(link.downs_told, true)) tell(begin, "link.downs", 0, 0, {});
        tell(into, "link.downs", static_cast<double>(link.downs), 0, "both ends");
    }
    double gbps = 0;
    std::string moved;
    bool seen = false;
    for (std::size_t side = 0; side < 2; ++side) {
        const auto& end = link.ends[side];
        const auto& other = file.ends[1 - side];
        seen = seen || end.seen;
        if (!end.seen || end.at.peer == 0) continue;
        if (end.at.peer != other.node || end.at.peer_port != other.port)
            moved = fmt::format("{} leads to {} port {}, in the fabric file to {}", map_.end_name(at, side),
                                map_.name_of(end.at.peer), end.at.peer_port, map_.end_name(at, 1 - side));
        else if (end.active && end.at.mbps > 0) // the slower end's, as one may report late
            gbps = gbps > 0 ? std::min(gbps, end.at.mbps / 1000.0) : end.at.mbps / 1000.0;
    }
    link.was_moved = link.was_moved || !moved.empty();
    if (link.was_moved && seen) tell(into, "link.moved", moved.empty() ? 0 : 1, 0, moved);
    // Both of its switches are there: otherwise all links of a missing switch would be reported.
    const bool absent = std::all_of(file.ends.begin(), file.ends.end(),
                                    [](const WatchedEnd& end) { return end.host == topo::none; }) &&
                        std::all_of(link.ends.begin(), link.ends.end(),
                                    [](const EndState& end) { return end.seen && end.at.peer == 0; });
    link.was_absent = link.was_absent || absent;
    if (link.was_absent && seen) tell(into, "link.absent", absent ? 1 : 0, 0, {});
    link.was_slow = link.was_slow || (gbps > 0 && gbps < file.gbps);
    if (link.was_slow && gbps > 0) tell(into, "link.rate", gbps, file.gbps, {});
}

// Based on the hosts' ends: what a rail's leaf carries between its hosts goes through two of them.
void LinkSignals::tell_rails(base::Duration passed, std::vector<Signal>& into) {
    struct Rail {
        double words = 0, ends = 0, gbps = 0;
    };
    std::map<std::string, std::map<int, Rail>> units;
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const auto& file = map_.links()[i];
        if (file.rail == topo::none || file.unit.empty()) continue;
        for (std::size_t side = 0; side < 2; ++side) {
            const auto& end = links_[i].ends[side];
            if (file.ends[side].host == topo::none || !end.words) continue;
            auto& rail = units[file.unit][file.rail];
            rail.words += static_cast<double>(*end.words);
            rail.ends += 1;
            rail.gbps = std::max(rail.gbps, file.gbps);
        }
    }
    for (const auto& [unit, rails] : units) {
        std::vector<double> means;
        double gbps = 0;
        for (const auto& [number, rail] : rails) {
            means.push_back(rail.words / rail.ends);
            gbps = std::max(gbps, rail.gbps);
        }
        const auto median = base::upper_median(means);
        constexpr double bits = 32;
        const bool busy = rails.size() >= fewest_rails &&
                          median * bits > busy_share * gbps * 1e9 * base::to_seconds(passed) && gbps > 0;
        for (const auto& [number, rail] : rails) {
            const auto share = busy ? rail.words / rail.ends / median : 1;
            auto& uneven = uneven_[{unit, number}];
            uneven = uneven || share < 0.8 || share > 1.25; // long before a rule can become true
            if (uneven)
                into.push_back({"rail.traffic", fmt::format("{}{}{}", unit, rail_word, number),
                                to_hundredths(share), 0, fmt::format("rail {} of unit {}", number, unit)});
        }
    }
}

void LinkSignals::tell_waits(base::Duration passed, std::vector<Signal>& into) {
    std::vector<PortLoad> loads;
    for (std::size_t i = 0; i < links_.size(); ++i)
        for (std::size_t side = 0; side < 2; ++side) {
            const auto& end = links_[i].ends[side];
            if (!end.sent || end.sent->second == 0) continue;
            const double gbps = end.active && end.at.mbps > 0 ? end.at.mbps / 1000.0 : map_.links()[i].gbps;
            loads.push_back({{i, side}, gbps, end.sent->first, end.sent->second});
        }
    waits_.read(map_, loads, passed, into);
}

// Links between devices of the file, at ports without a link in it. Other devices may be left out
// deliberately (fabric-rules(5)).
void LinkSignals::tell_unlisted(std::span<const SeenEnd> seen, std::vector<Signal>& into) {
    std::size_t count = 0;
    std::string text;
    for (const auto& end : seen) {
        const bool first = std::pair(end.node, end.port) < std::pair(end.peer, end.peer_port);
        if (!first || end.peer == 0 || !end.active || !map_.knows(end.node) || !map_.knows(end.peer))
            continue;
        if (map_.find(end.node, end.port) || map_.find(end.peer, end.peer_port)) continue; // link.moved
        if (++count <= most_unlisted_shown)
            text += fmt::format("{}{} port {} - {} port {}", count == 1 ? "" : ", ", map_.name_of(end.node),
                                end.port, map_.name_of(end.peer), end.peer_port);
    }
    was_unlisted_ = was_unlisted_ || count > 0;
    if (was_unlisted_)
        into.push_back(
            {"link.unlisted", std::string(file_component), static_cast<double>(count), 0, std::move(text)});
}

void LinkSignals::read(base::Time now, std::span<const SeenEnd> seen, std::span<const PortReading> readings,
                       std::vector<Signal>& begin, std::vector<Signal>& into) {
    take_seen(seen);
    std::vector<char> answered(2 * links_.size());
    for (auto& link : links_)
        for (auto& end : link.ends) {
            end.waiting = 0;
            end.words.reset();
            end.sent.reset();
        }
    for (const auto& reading : readings) {
        const auto at = map_.find(reading.node, reading.port);
        if (!at) continue;
        take_reading(now, links_[at->first].ends[at->second], reading);
        answered[2 * at->first + at->second] = reading.answered ? 1 : 0;
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
        for (std::size_t side = 0; side < 2; ++side) {
            auto& end = links_[i].ends[side];
            if (answered[2 * i + side] == 0) end.missed = true;
            tell_end(i, side, begin, into);
        }
        pair_downs(now, links_[i]);
        tell_link(i, begin, into);
    }
    tell_unlisted(seen, into);
    if (last_) {
        tell_rails(now - *last_, into);
        tell_waits(now - *last_, into);
    }
    last_ = now;
}

} // namespace restart
