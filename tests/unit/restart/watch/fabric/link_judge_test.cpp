#include "unit/restart/watch/fabric/links.hpp"

#include "restart/watch/rules/table.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <random>

using namespace restart;
using namespace std::chrono_literals;
using enum PortCounter;

namespace {

constexpr auto settled = 60s; // well behind what is held back

void lower_all(PortReading& reading) {
    for (auto& value : reading.values)
        value /= 2;
}

// How to break a link so that a rule fires within the time, and what is just not enough.
struct Fault {
    std::string_view rule; // row
    base::Duration within;
    void (*inject)(Links&);
    void (*near_miss)(Links&);
};

// So many at once, at the host's end of one link.
template <PortCounter which, std::uint64_t count> void grow(Links& world) {
    counter(world.host_link("n003", 1).near, which) += count;
}

// Three flaps, each counted by both ends, far enough apart for the link to train.
template <int times> void flap(Links& world) {
    for (int i = 0; i < times; ++i) {
        for (auto* end : {&world.host_link("n003", 1).near, &world.host_link("n003", 1).far})
            ++counter(*end, link_downs);
        world.run(2min);
    }
}

template <std::uint64_t waits> void wait(Links& world) {
    for (int i = 0; i < 15; ++i) {
        auto at = world.host_link("n003", 1);
        counter(at.near, transmit_words) += 1'000'000;
        counter(at.near, transmit_waits) += waits;
        world.sweep();
    }
}

template <int share> void load(Links& world) {
    for (int rail = 0; rail < 4; ++rail)
        world.traffic("su2", rail, rail == 2 ? 10'000'000 * share : 1'000'000'000);
}

// Port and what it sends of the 400 Gb/s that it could, in millionths, while it waits all the time.
void hold_up(Links& world, std::vector<std::pair<PortReading*, double>> ports) {
    constexpr double words = 400e9 / 32 * 5 / 1e6; // a sweep, for a millionth
    for (int i = 0; i < 15; ++i) {
        for (const auto& [port, ppm] : ports) {
            counter(*port, transmit_words) += static_cast<std::uint64_t>(words * ppm);
            counter(*port, transmit_waits) += static_cast<std::uint64_t>(words * (1e6 - ppm) / 2);
        }
        world.sweep();
    }
}

template <int percent> void slow_receiver(Links& world) {
    hold_up(world,
            {{&world.host_link("n003", 1).far, percent * 1e4}, {&world.host_link("n004", 1).near, 1e4}});
}

template <int ppm> void credit_loop(Links& world) {
    const LinkMap map(world.file);
    const auto to = [&](std::string_view from, const std::string& device) -> PortReading* {
        for (std::size_t i = 0; i < map.links().size(); ++i)
            for (std::size_t side = 0; side < 2; ++side)
                if (map.links()[i].ends[side].device == from &&
                    map.links()[i].ends[1 - side].device == device)
                    return &world.readings[2 * i + side];
        return nullptr;
    };
    std::vector<std::string> spines;
    for (const auto& one : world.file.switches)
        if (one.tier == 1 && to("leaf-su1-r1", one.name) && to("leaf-su2-r1", one.name))
            spines.push_back(one.name);
    REQUIRE(spines.size() > 1);
    hold_up(world, {{to("leaf-su1-r1", spines[0]), 0},
                    {to(spines[0], "leaf-su2-r1"), ppm},
                    {to("leaf-su2-r1", spines[1]), 0},
                    {to(spines[1], "leaf-su1-r1"), 0}});
}

const Fault faults[] = {
    {"link.symbol_errors", 0s, grow<symbol_errors, 3>, grow<symbol_errors, 2>},
    {"link.symbol_errors#slow", 0s,
     [](Links& w) {
         for (int i = 0; i < 4; ++i) {
             grow<symbol_errors, 1>(w);
             w.run(20min);
         }
     },
     [](Links& w) {
         for (int i = 0; i < 3; ++i) {
             grow<symbol_errors, 1>(w);
             w.run(20min);
         }
     }},
    {"link.recoveries", 0s, grow<link_recoveries, 6>, grow<link_recoveries, 5>},
    {"link.downs", 0s, flap<1>, [](Links& w) { ++counter(w.host_link("n003", 1).far, link_downs); }},
    {"link.downs#flaps", 0s, flap<3>, flap<2>},
    {"link.receive_errors", 0s, grow<receive_errors, 601>, grow<receive_errors, 600>},
    {"link.remote_errors", 0s, grow<remote_physical_errors, 101>, grow<remote_physical_errors, 100>},
    {"link.discards", 0s, grow<transmit_discards, 6001>, grow<transmit_discards, 6000>},
    {"link.integrity_errors", 0s, grow<integrity_errors, 1>, grow<integrity_errors, 0>},
    {"link.buffer_overruns", 0s, grow<buffer_overruns, 1>, grow<buffer_overruns, 0>},
    {"link.vl15_drops", 0s, grow<vl15_drops, 51>, grow<vl15_drops, 50>},
    {"link.waiting", 0s, wait<1'100'000>, wait<1'000'000>},
    {"link.slow_receiver", 0s, slow_receiver<9>, slow_receiver<10>},
    {"link.credit_loop", 0s, credit_loop<99>, credit_loop<100>},
    {"link.rate", 15s,
     [](Links& w) { w.host_link("n003", 1).near_seen.mbps = w.host_link("n003", 1).far_seen.mbps = 200'000; },
     [](Links&) {}},
    {"link.moved", 15s,
     [](Links& w) {
         auto &one = w.host_link("n003", 1).near_seen, &other = w.host_link("n004", 1).near_seen;
         std::swap(one.peer, other.peer);
         std::swap(one.peer_port, other.peer_port);
     },
     // A port that is down leads nowhere, which is no move.
     [](Links& w) {
         auto at = w.host_link("n003", 1);
         at.near_seen.peer = at.far_seen.peer = 0;
         at.near_seen.active = at.far_seen.active = false;
     }},
    {"link.absent", 310s,
     [](Links& w) {
         auto at = w.uplink("leaf-su1-r1");
         at.near_seen.peer = at.far_seen.peer = 0;
         at.near_seen.active = at.far_seen.active = false;
     },
     // One end alone says so, and the other's switch does not answer.
     [](Links& w) {
         auto at = w.uplink("leaf-su1-r1");
         at.near_seen.peer = 0;
         at.near_seen.active = false;
         at.far_seen.node = 0;
     }},
    {"link.unlisted", 610s,
     [](Links& w) {
         const auto leaf = w.uplink("leaf-su1-r1").near_seen, other = w.uplink("leaf-su2-r1").near_seen;
         w.seen.push_back({leaf.node, other.node, 400'000, leaf.lid, 60, 61, true});
         w.seen.push_back({other.node, leaf.node, 400'000, other.lid, 61, 60, true});
     },
     // Of a device that the file does not know it may say nothing on purpose.
     [](Links& w) {
         const auto leaf = w.uplink("leaf-su1-r1").near_seen;
         w.seen.push_back({leaf.node, 0x5000, 400'000, leaf.lid, 60, 1, true});
         w.seen.push_back({0x5000, leaf.node, 400'000, 99, 1, 60, true});
     }},
    {"link.silent", 70s, [](Links& w) { w.host_link("n003", 1).far.answered = false; },
     [](Links& w) {
         w.host_link("n003", 1).far.answered = false;
         w.run(50s);
         w.host_link("n003", 1).far.answered = true;
     }},
    {"link.full", 5s,
     [](Links& w) {
         auto& reading = w.host_link("n003", 1).near;
         reading.wide = 0;
         counter(reading, integrity_errors) = 15;
     },
     [](Links& w) {
         auto& reading = w.host_link("n003", 1).near;
         reading.wide = 0;
         counter(reading, link_recoveries) = 254;
         counter(reading, integrity_errors) = counter(reading, buffer_overruns) = 14;
     }},
    {"rail.traffic", 320s, load<49>, load<51>},
    {"rail.traffic#more", 320s, load<201>, load<199>},
};

bool fires(const std::vector<LinkFinding>& findings, const Rule& rule) {
    return std::any_of(findings.begin(), findings.end(), [&](const LinkFinding& finding) {
        return finding.rule == rule.finding() && finding.severity == rule.severity;
    });
}

} // namespace

TEST_CASE("a sound fabric has no findings, whatever its counters say of its life") {
    Links world;
    CHECK(world.run(10min).empty());
}

TEST_CASE("each rule of links fires for its fault and not for what is just none") {
    for (const auto& rule : shipped_rules()) {
        if (!is_of_fabric(rule.signal)) continue;
        INFO(rule.name);
        const auto fault = std::find_if(std::begin(faults), std::end(faults),
                                        [&](const auto& f) { return f.rule == rule.name; });
        REQUIRE(fault != std::end(faults));
        CHECK(*rule.severity <= Severity::warn);

        Links sound;
        sound.run(settled);
        fault->near_miss(sound);
        CHECK_FALSE(fires(sound.run(std::max<base::Duration>(fault->within, 5s)), rule));

        Links world;
        world.run(settled);
        fault->inject(world);
        const auto findings = world.run(std::max<base::Duration>(fault->within, 5s));
        CHECK(fires(findings, rule));
        // One fault, one link: all else that is said names it.
        for (const auto& finding : findings) {
            INFO(finding.rule << " " << name_of(finding) << " " << finding.evidence);
            CHECK((finding.hosts == "n003" || finding.hosts == "n[003-004]" || finding.hosts == "n004" ||
                   finding.unit == "su2" || finding.rule == rule.finding()));
            CHECK_FALSE(finding.evidence.empty());
        }
    }
}

TEST_CASE("a link is as slow as the end that says so first") {
    for (const bool near : {true, false}) {
        Links world;
        world.run(settled);
        auto at = world.host_link("n003", 1);
        (near ? at.near_seen : at.far_seen).mbps = 200'000;
        CHECK(find(world.run(15s), "link.rate"));
    }
}

TEST_CASE("a finding names both ends, where they are and who suffers") {
    Links world;
    world.run(settled);
    counter(world.host_link("n003", 1).near, symbol_errors) += 20;
    counter(world.host_link("n003", 1).far, symbol_errors) += 4;
    auto findings = world.sweep();
    REQUIRE(findings.size() == 1);
    auto finding = findings[0];
    CHECK(finding.rule == "link.symbol_errors");
    CHECK(finding.severity == Severity::warn);
    CHECK((name_of(finding) == "n003 mlx5_1:1 - leaf-su1-r1 port 3" ||
           name_of(finding) == "leaf-su1-r1 port 3 - n003 mlx5_1:1"));
    CHECK(finding.rail == 1);
    CHECK(finding.unit == "su1");
    CHECK(finding.pod == "pod1");
    CHECK(finding.hosts == "n003");
    CHECK_THAT(finding.evidence,
               Catch::Contains("n003 mlx5_1:1: 20 symbol errors within 12 min 0 s, more than one in "
                               "1e14 bits at 400 Gb/s") &&
                   Catch::Contains("leaf-su1-r1 port 3: 4 symbol errors within 12 min 0 s"));

    counter(world.uplink("leaf-su2-r3").near, integrity_errors) += 1;
    findings = world.sweep();
    const auto above = find(findings, "link.integrity_errors");
    REQUIRE(above);
    CHECK(above->rail == 3);
    CHECK(above->pod == "pod1");
    CHECK(above->hosts == "n[005-008]"); // behind that leaf
}

TEST_CASE("the limit of symbol errors goes with the link's rate") {
    for (const auto& [mbps, enough] :
         {std::pair(400'000U, 3U), {200'000U, 2U}, {100'000U, 1U}, {800'000U, 6U}}) {
        INFO(mbps);
        for (const bool more : {false, true}) {
            Links world;
            for (auto& end : world.seen)
                end.mbps = mbps;
            world.run(settled);
            counter(world.host_link("n001", 0).near, symbol_errors) += enough - (more ? 0 : 1);
            const auto found = find(world.sweep(), "link.symbol_errors");
            CHECK((found && found->severity == Severity::warn) == more);
        }
    }
}

TEST_CASE("symbol errors are counted over their window and no longer") {
    Links world;
    world.run(settled);
    const auto errors = [&](std::uint64_t count) {
        counter(world.host_link("n001", 0).near, symbol_errors) += count;
    };
    errors(2);
    CHECK_FALSE(find(world.run(11min), "link.symbol_errors"));
    errors(1);
    CHECK(find(world.sweep(), "link.symbol_errors"));
    // Ends when they have left the window, behind [throttle] clear.
    CHECK_FALSE(find(world.run(14min), "link.symbol_errors"));
    errors(2);
    CHECK_FALSE(find(world.run(13min), "link.symbol_errors")->severity == Severity::warn);
}

TEST_CASE("what somebody cleared, a restart and a counter at its end are no growth") {
    Links world;
    world.run(settled);
    const auto at = [&]() -> PortReading& { return world.host_link("n002", 2).near; };
    const auto one = [&](PortCounter which) -> std::uint64_t& { return counter(at(), which); };

    // perfquery -R of the errors alone, and of all.
    one(symbol_errors) = 0;
    CHECK(world.run(2min).empty());
    at().values.fill(0);
    CHECK(world.run(2min).empty());
    // Boot: everything begins anew, and the link has trained meanwhile.
    one(receive_packets) = 100'000;
    world.run(2min);
    lower_all(at());
    one(symbol_errors) += 5000;
    one(receive_errors) += 5000;
    one(link_downs) += 1;
    CHECK(world.sweep().empty());
    // What comes in the next half minute is training, and then it counts again.
    one(symbol_errors) += 5000;
    CHECK(world.sweep().empty());
    CHECK(world.run(1min).empty());
    one(symbol_errors) += 3;
    CHECK(find(world.sweep(), "link.symbol_errors"));
}

TEST_CASE("a switch that restarts looks like no fault on any of its links") {
    Links world;
    world.run(settled);
    const auto leaf = world.host_link("n001", 0).far.node;
    for (auto& reading : world.readings)
        if (reading.node == leaf) reading.answered = false;
    std::vector<SeenEnd> whole = world.seen;
    std::erase_if(world.seen, [&](const SeenEnd& end) { return end.node == leaf; });
    for (auto& end : world.seen)
        if (end.peer == leaf) {
            end.peer = 0;
            end.active = false;
        }
    CHECK(world.run(3min).empty()); // that it is not there is told elsewhere
    world.seen = whole;
    for (auto& reading : world.readings) {
        if (reading.node == leaf) {
            reading.answered = true;
            reading.values.fill(3);
        } else {
            counter(reading, link_downs) += 1; // its neighbours have seen their links go
        }
    }
    CHECK(world.run(10min).empty());
}

TEST_CASE("a host that restarts is seen by its leaf alone, and one pulled cable by both ends") {
    Links world;
    world.run(settled);
    const auto host = [&]() -> PortReading& { return world.host_link("n002", 2).near; };
    counter(world.host_link("n002", 2).far, link_downs) += 1;
    host().answered = false;
    world.run(40s);
    host().answered = true;
    host().values.fill(1);
    CHECK_FALSE(find(world.run(10min), "link.downs"));

    counter(world.host_link("n002", 2).far, link_downs) += 1;
    host().answered = false;
    world.run(40s);
    host().answered = true;
    counter(host(), link_downs) += 1;
    counter(host(), symbol_errors) += 900; // it has trained
    const auto findings = world.run(10s);
    CHECK(find(findings, "link.downs"));
    CHECK_FALSE(find(findings, "link.symbol_errors"));
}

TEST_CASE("rails are compared when they are busy, and by what their hosts send and receive") {
    Links world;
    for (int rail = 0; rail < 4; ++rail)
        world.traffic("su1", rail, rail == 3 ? 10 : 1000); // next to nothing: no job runs
    CHECK(world.run(20min).empty());
    for (int rail = 0; rail < 4; ++rail)
        world.traffic("su1", rail, rail == 3 ? 100'000'000 : 1'000'000'000);
    const auto found = find(world.run(7min), "rail.traffic");
    REQUIRE(found);
    CHECK(name_of(*found) == "unit su1 rail 3");
    CHECK(found->rail == 3);
    CHECK(found->b.empty());
    CHECK_THAT(found->evidence, Catch::StartsWith("rail 3 of unit su1: 0.1 times the median"));
}

TEST_CASE("what an absurd sweep says crashes nothing and accuses no sound link") {
    Links world;
    world.run(settled);
    std::mt19937_64 random(5);
    const auto sound = world.readings;
    const auto whole = world.seen;
    for (int round = 0; round < 200; ++round) {
        for (auto& reading : world.readings) {
            if (random() % 4 != 0) continue;
            for (auto& value : reading.values)
                value = random() >> (random() % 64);
            reading.node = random() % 8 == 0 ? random() : reading.node;
            reading.port = static_cast<std::uint8_t>(random());
            reading.has = static_cast<std::uint32_t>(random());
            reading.wide = static_cast<std::uint32_t>(random());
            reading.answered = random() % 2 == 0;
        }
        for (auto& end : world.seen)
            if (random() % 8 == 0) {
                end.peer = random();
                end.port = static_cast<std::uint8_t>(random());
                end.mbps = static_cast<std::uint32_t>(random());
            }
        CHECK(world.sweep().size() <= most_link_findings);
        world.readings = sound;
        world.seen = whole;
    }
    // And all of it ends: what was there is at the latest a day old.
    world.interval = 10min;
    CHECK(world.run(26h).empty());
}

TEST_CASE("news of findings is what began and what ended") {
    Links world;
    world.run(settled);
    counter(world.host_link("n003", 1).near, integrity_errors) += 1;
    const auto after = world.sweep();
    const auto began = news({}, after);
    REQUIRE(began.size() == 1);
    CHECK_THAT(began[0], Catch::StartsWith("link.integrity_errors on ") &&
                             Catch::Contains("(warn): n003 mlx5_1:1: ") &&
                             Catch::EndsWith("; hosts behind it: n003"));
    auto same = after;
    same[0].evidence += " and more";
    CHECK(news(after, same).empty());
    const auto ended = news(after, {});
    REQUIRE(ended.size() == 1);
    CHECK_THAT(ended[0], Catch::EndsWith(": cleared"));
}
