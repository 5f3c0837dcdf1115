#include "unit/restart/watch/fabric/links.hpp"

#include <stdexcept>

namespace restart {
namespace {

Limits limits_of(base::Duration interval) {
    Limits limits;
    limits.interval = interval;
    return limits;
}

} // namespace

Links::Links()
    : file(*topo::synthesise(*topo::parse_synth("pods=2 units=2 hosts=4 rails=4 spines=2 rate=4xNDR"))),
      judge(file, RuleSet(), limits_of(interval)) {
    const LinkMap map(file);
    for (const auto& link : map.links())
        for (std::size_t side = 0; side < 2; ++side) {
            const auto& end = link.ends[side];
            const auto& other = link.ends[1 - side];
            auto& reading = readings.emplace_back();
            reading.node = end.node;
            reading.lid = static_cast<std::uint16_t>(readings.size());
            reading.port = end.port;
            reading.abilities = pm::known | pm::extended | pm::additional | pm::waits;
            reading.answered = true;
            reading.has = reading.wide = (1U << port_counters) - 1;
            reading.values.fill(1000); // lifetime values judge nobody
            seen.push_back({end.node, other.node, 400'000, reading.lid, end.port, other.port, true});
        }
}

std::vector<LinkFinding> Links::sweep() {
    now += interval;
    for (const auto& flow : flows_) {
        counter(readings[flow.reading], PortCounter::transmit_words) += flow.words / 2;
        counter(readings[flow.reading], PortCounter::receive_words) += flow.words - flow.words / 2;
    }
    return judge.judge(now, seen, readings);
}

std::vector<LinkFinding> Links::run(base::Duration time) {
    std::vector<LinkFinding> findings;
    for (const auto end = now + time; now < end;)
        findings = sweep();
    return findings;
}

Links::At Links::at(std::size_t link, std::size_t near) {
    return {link, readings[2 * link + near], readings[2 * link + 1 - near], seen[2 * link + near],
            seen[2 * link + 1 - near]};
}

Links::At Links::host_link(std::string_view host, int rail) {
    const LinkMap map(file);
    for (std::size_t i = 0; i < map.links().size(); ++i)
        for (std::size_t side = 0; side < 2; ++side)
            if (map.links()[i].rail == rail && map.links()[i].ends[side].device == host) return at(i, side);
    throw std::invalid_argument("no such host");
}

Links::At Links::uplink(std::string_view leaf) {
    const LinkMap map(file);
    for (std::size_t i = 0; i < map.links().size(); ++i)
        for (std::size_t side = 0; side < 2; ++side)
            if (map.links()[i].ends[side].device == leaf && map.links()[i].ends[1 - side].host == topo::none)
                return at(i, side);
    throw std::invalid_argument("no such leaf");
}

void Links::traffic(std::string_view unit, int rail, std::uint64_t words) {
    const LinkMap map(file);
    for (std::size_t i = 0; i < map.links().size(); ++i)
        for (std::size_t side = 0; side < 2; ++side)
            if (map.links()[i].unit == unit && map.links()[i].rail == rail &&
                map.links()[i].ends[side].host != topo::none)
                flows_.push_back({2 * i + side, words});
}

} // namespace restart
