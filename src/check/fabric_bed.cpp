#include "check/fabric_bed.hpp"

#include "check/mad_ibsim.hpp"
#include "topo/synth/synth.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace check {
namespace {

using restart::PortCounter;

// Words that a loaded port sends, and waits for, between two samples.
constexpr double words_a_look = 1 << 22;
// Share of a link's capacity: rails are compared only when they are in use.
constexpr double load = 0.05;
constexpr double bits_a_word = 32;
constexpr std::size_t fewest_rails = 3;
constexpr double million = 1e6;
constexpr double words_a_tick = 2;

std::uint64_t whole(double value) {
    return static_cast<std::uint64_t>(std::max(0.0, value));
}

} // namespace

base::Expected<std::unique_ptr<FabricBed>> FabricBed::make(const std::string& console) {
    std::unique_ptr<FabricPorts> ports;
    if (console.empty()) {
        const auto spec = topo::parse_synth("units=2 hosts=4 rails=4 spines=2 rate=4xNDR");
        if (!spec) return spec.error();
        auto fabric = topo::synthesise(*spec);
        if (!fabric) return std::move(fabric).error();
        ports = std::make_unique<MadePorts>(*std::move(fabric));
    } else {
        auto simulated = IbsimPorts::open(console);
        if (!simulated) return std::move(simulated).error();
        ports = *std::move(simulated);
    }
    std::unique_ptr<FabricBed> bed(new FabricBed(std::move(ports)));
    if (auto done = bed->choose(); !done) return std::move(done).error();
    if (auto done = bed->clear(); !done) return std::move(done).error();
    return bed;
}

base::Expected<void> FabricBed::choose() {
    const auto& fabric = ports_->fabric();
    const auto fits = [](const topo::Unit& unit) {
        return unit.hosts.size() > 1 && unit.leaves.size() >= fewest_rails &&
               std::count(unit.leaves.begin(), unit.leaves.end(), topo::none) == 0;
    };
    const auto unit = std::find_if(fabric.units.begin(), fabric.units.end(), fits);
    if (unit == fabric.units.end())
        return base::Error{base::Code::unfit,
                           fmt::format("{}: it has no unit of two hosts with {} rails to test rules on",
                                       fabric.source, fewest_rails)};
    for (const auto number : unit->hosts)
        for (const auto& hca : fabric.hosts[number].hcas)
            if (hca.rail != topo::none && !hca.ports.empty())
                unit_.emplace_back(FabricPort{hca.guid, hca.ports[0].number}, hca.rail);
    rail_number_ = 1;
    const auto of_rail = [&](int rail) {
        return std::find_if(unit_.begin(), unit_.end(), [&](const auto& one) { return one.second == rail; })
            ->first;
    };
    port_ = of_rail(rail_number_);
    other_ = of_rail(rail_number_ + 1);
    const auto under_test = link_at(fabric, port_);
    peer_ = under_test.far;
    mbps_ = under_test.link.mbps;
    const restart::LinkMap map(fabric);
    const auto at = map.find(port_.node, port_.number);
    if (!at)
        return base::Error{base::Code::unfit,
                           fmt::format("{}: no link has a GUID at both ends", fabric.source)};
    link_ = name_of(restart::place_of(map, {at->first, {}, topo::none}));
    if (auto done = choose_uplinks(map); !done) return done;
    rail_ = name_of(restart::place_of(map, {0, unit->name, rail_number_}));
    return {};
}

// Chooses a link between switches; with at least two leaves and two spines also a loop up, down, and, as no
// route may do, up and down again.
base::Expected<void> FabricBed::choose_uplinks(const restart::LinkMap& map) {
    const auto& fabric = ports_->fabric();
    struct Link {
        topo::Guid leaf, spine;
        FabricPort up, down;
        std::size_t number;
    };
    std::vector<Link> links;
    for (const auto& link : fabric.links) {
        const auto *low = &link.a, *high = &link.b;
        if (low->host != topo::none || high->host != topo::none) continue;
        const auto tier = [&](const topo::End& end) {
            return fabric.switches[static_cast<std::size_t>(end.switch_)].tier;
        };
        if (tier(*low) > tier(*high)) std::swap(low, high);
        const auto up = port_at(fabric, *low), down = port_at(fabric, *high);
        const auto at = map.find(up.node, up.number);
        if (tier(*low) == 0 && tier(*high) == 1 && at)
            links.push_back({up.node, down.node, up, down, at->first});
    }
    const auto find = [&](topo::Guid leaf, topo::Guid spine) {
        return std::find_if(links.begin(), links.end(),
                            [&](const Link& one) { return one.leaf == leaf && one.spine == spine; });
    };
    if (links.empty())
        return base::Error{
            base::Code::unfit,
            fmt::format("{}: it has no link from a leaf to a spine to test rules on", fabric.source)};
    uplink_ = links[0].up;
    uplink_name_ = name_of(restart::place_of(map, {links[0].number, {}, topo::none}));
    for (const auto& a : links)
        for (const auto& b : links) {
            if (a.leaf == b.leaf || a.spine == b.spine) continue;
            const auto ab = find(a.leaf, b.spine), ba = find(b.leaf, a.spine);
            if (ab == links.end() || ba == links.end()) continue;
            loop_ = {a.up, ba->down, b.up, ab->down};
            const auto lowest = std::min({a.number, b.number, ab->number, ba->number});
            loop_name_ = name_of(restart::place_of(map, {lowest, {}, topo::none}));
            return {};
        }
    return {};
}

FabricBed::~FabricBed() {
    (void)restore();
}

base::Expected<void> FabricBed::clear() {
    for (const auto& port : {port_, peer_})
        for (std::size_t i = 0; i < restart::port_counters; ++i)
            if (auto done = ports_->set(port, static_cast<PortCounter>(i), 0); !done) return done;
    for (const auto& [port, rail] : unit_)
        if (auto done = ports_->set(port, PortCounter::transmit_words, 0); !done) return done;
    return {};
}

base::Expected<void> FabricBed::restore() {
    for (const auto& [where, value] : std::exchange(counted_, {}))
        if (auto done = ports_->set(where.first, where.second, 0); !done) return done;
    if (std::exchange(silent_, false))
        if (auto done = ports_->answer(port_, true); !done) return done;
    if (std::exchange(slow_, false))
        if (auto done = ports_->set_rate(port_, mbps_); !done) return done;
    if (std::exchange(cut_, false))
        if (auto done = ports_->cut(uplink_, false); !done) return done;
    if (std::exchange(swapped_, false))
        if (auto done = ports_->swap(port_, other_, false); !done) return done;
    waiting_.reset();
    traffic_.reset();
    loop_moves_.reset();
    takes_.reset();
    return {};
}

base::Expected<void> FabricBed::begin(const restart::RuleSet& rules, base::Duration interval) {
    if (auto done = restore(); !done) return done;
    limits_ = {};
    limits_.interval = interval_ = interval;
    rules_ = rules;
    judge_.emplace(ports_->fabric(), rules_, limits_);
    now_ = base::Time(std::chrono::hours(480'000));
    return {};
}

base::Expected<void> FabricBed::set_counter(FabricPort port, PortCounter counter, std::uint64_t value) {
    counted_[{port, counter}] = value;
    return ports_->set(port, counter, value);
}

base::Expected<void> FabricBed::set(std::string_view signal, double value) {
    const bool on = value > 0;
    const auto show = [&](FabricPort port, PortCounter counter, std::uint64_t count) {
        return set_counter(port, counter, std::min(count, restart::end_of(counter)));
    };
    if (const auto counter = restart::counter_of(signal)) return show(port_, *counter, whole(value));
    if (signal == "link.downs") { // both of its ends count the event
        if (auto done = show(peer_, PortCounter::link_downs, whole(value)); !done) return done;
        return show(port_, PortCounter::link_downs, whole(value));
    }
    if (signal == "link.full")
        return show(port_, PortCounter::symbol_errors, on ? restart::end_of(PortCounter::symbol_errors) : 0);
    if (signal == "link.silent") return ports_->answer(port_, !(silent_ = on));
    if (signal == "link.rate") {
        slow_ = true;
        return ports_->set_rate(port_, static_cast<std::uint32_t>(value * 1000));
    }
    if (signal == "link.moved") {
        if (std::exchange(swapped_, on) == on) return {};
        return ports_->swap(port_, other_, on);
    }
    if (signal == "link.absent") {
        if (std::exchange(cut_, on) == on) return {};
        return ports_->cut(uplink_, on);
    }
    if (signal == "link.unlisted") { // the file lacks an existing link
        auto file = ports_->fabric();
        const auto is_that = [&](const topo::Link& link) {
            const auto a = port_at(file, link.a), b = port_at(file, link.b);
            return a == uplink_ || b == uplink_;
        };
        if (on) std::erase_if(file.links, is_that);
        judge_.emplace(file, rules_, limits_);
        return {};
    }
    if (signal == "link.waiting") {
        waiting_ = value;
        return {};
    }
    if (signal == "link.credit_loop") {
        loop_moves_ = value / million;
        return {};
    }
    if (signal == "link.slow_receiver") {
        takes_ = value / 100;
        return {};
    }
    if (signal == "rail.traffic") {
        traffic_ = value;
        return {};
    }
    return base::Error{base::Code::internal,
                       fmt::format("{}: nothing is known that brings it about", signal)};
}

base::Expected<void> FabricBed::carry() {
    // A simulator's ports also count its own datagrams, so a counter that gains nothing is not written.
    const auto add = [&](FabricPort port, PortCounter counter, double words) {
        if (words == 0) return base::Expected<void>{};
        return set_counter(port, counter, counted_[{port, counter}] + whole(words));
    };
    if (waiting_) {
        if (auto done = add(port_, PortCounter::transmit_waits, words_a_look * *waiting_); !done) return done;
        if (auto done = add(port_, PortCounter::transmit_words, words_a_look * (1 - *waiting_)); !done)
            return done;
    }
    // A waiting port waits all the time; the ticks are those of HDR switches.
    const double could = gbps() * 1e9 * base::to_seconds(interval_) / bits_a_word;
    const auto hold_up = [&](FabricPort port, double moves) -> base::Expected<void> {
        if (auto done = add(port, PortCounter::transmit_waits, could / words_a_tick * (1 - moves)); !done)
            return done;
        return add(port, PortCounter::transmit_words, could * moves);
    };
    if (loop_moves_)
        for (std::size_t i = 0; i < loop_.size(); ++i)
            if (auto done = hold_up(loop_[i], i == 1 ? *loop_moves_ : 0); !done) return done;
    if (takes_) {
        if (auto done = hold_up(peer_, *takes_); !done) return done;
        for (const auto& [port, rail] : unit_) // the ports that send to it
            if (rail == rail_number_ && port != port_)
                if (auto done = hold_up(port, *takes_ / 4); !done) return done;
    }
    if (!traffic_) return {};
    const double each = load * gbps() * 1e9 * base::to_seconds(interval_) / bits_a_word;
    for (const auto& [port, rail] : unit_)
        if (auto done =
                add(port, PortCounter::transmit_words, rail == rail_number_ ? each * *traffic_ : each);
            !done)
            return done;
    return {};
}

base::Expected<std::vector<restart::Finding>> FabricBed::look() {
    if (auto done = carry(); !done) return std::move(done).error();
    const auto look = ports_->look();
    if (!look) return look.error();
    now_ += interval_;
    std::vector<restart::Finding> findings;
    for (auto& one : judge_->judge(now_, look->seen, look->readings)) {
        auto& finding = findings.emplace_back();
        finding.component = name_of(one);
        finding.rule = std::move(one.rule);
        finding.severity = one.severity;
        finding.since = one.since;
        finding.evidence = std::move(one.evidence);
    }
    return findings;
}

std::string FabricBed::component(std::string_view signal) const {
    if (signal == "link.credit_loop") return loop_name_;
    if (signal == "link.absent") return uplink_name_;
    if (signal == "link.unlisted") {
        restart::LinkComponent file;
        file.file = true;
        return name_of(restart::place_of(restart::LinkMap(topo::Fabric()), file));
    }
    return signal.starts_with("rail.") ? rail_ : link_;
}

double FabricBed::gbps() const {
    return mbps_ / 1000.0;
}

} // namespace check
