#include "unit/restart/watch/fabric/links.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <stdexcept>

using namespace restart;
using namespace std::chrono_literals;
using enum PortCounter;

namespace {

constexpr double could = 400e9 / 32 * 5; // words of a port of 400 Gb/s in a sweep of 5 s

// Counters of a fabric in which ports wait all the time, as HDR switches count that.
struct Jam {
    Links links;
    LinkMap map{links.file};
    struct Held {
        PortReading* port;
        double moves;
    };
    std::vector<Held> held;

    PortReading& port(const std::string& device, const std::string& to) {
        for (std::size_t i = 0; i < map.links().size(); ++i)
            for (std::size_t side = 0; side < 2; ++side)
                if (map.links()[i].ends[side].device == device && map.links()[i].ends[1 - side].device == to)
                    return links.readings[2 * i + side];
        throw std::invalid_argument(device + " to " + to);
    }
    void hold(const std::string& device, const std::string& to, double moves = 0) {
        held.push_back({&port(device, to), moves});
    }
    std::vector<LinkFinding> sweep() {
        for (const auto& [port, moves] : held) {
            counter(*port, transmit_waits) += static_cast<std::uint64_t>(could / 2 * (1 - moves));
            counter(*port, transmit_words) += static_cast<std::uint64_t>(could * moves);
        }
        return links.sweep();
    }
    std::vector<LinkFinding> run(base::Duration time) {
        std::vector<LinkFinding> findings;
        for (const auto end = links.now + time; links.now < end;)
            findings = sweep();
        return findings;
    }
    std::string leaf(const std::string& host, int rail) {
        const auto at = links.host_link(host, rail).link;
        const auto& ends = map.links()[at].ends;
        return ends[ends[0].host == topo::none ? 0 : 1].device;
    }
    std::vector<std::string> spines(const std::string& leaf) {
        std::vector<std::string> found;
        for (const auto& link : map.links())
            for (std::size_t side = 0; side < 2; ++side)
                if (link.ends[side].device == leaf && link.ends[1 - side].host == topo::none &&
                    std::find(found.begin(), found.end(), link.ends[1 - side].device) == found.end())
                    found.push_back(link.ends[1 - side].device);
        return found;
    }
};

std::size_t count(const std::vector<LinkFinding>& findings, std::string_view rule) {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(), [&](const auto& one) { return one.rule == rule; }));
}

// n001 … n004 are one unit, n005 … n008 the next, of the same pod.
void slow(Jam& jam, double takes) {
    const auto leaf = jam.leaf("n001", 1), other = jam.leaf("n005", 1), spine = jam.spines(leaf).at(0);
    jam.hold(leaf, "n001", takes);
    jam.hold("n002", leaf, takes / 4);
    jam.hold(spine, leaf, takes / 2);
    jam.hold(other, spine, takes / 2);
    jam.hold("n006", other, takes / 4);
}

void loop(Jam& jam, double one_moves) {
    const auto a = jam.leaf("n001", 1), b = jam.leaf("n005", 1);
    const auto spines = jam.spines(a);
    jam.hold(a, spines.at(0));
    jam.hold(spines.at(0), b, one_moves);
    jam.hold(b, spines.at(1));
    jam.hold(spines.at(1), a);
    jam.hold("n002", a);
}

} // namespace

TEST_CASE("a chain of links that wait is one finding, on the receiver at its end") {
    Jam jam;
    jam.sweep();
    slow(jam, 0.02);
    CHECK(jam.run(45s).empty()); // congestion comes and goes
    const auto findings = jam.run(30s);
    INFO(fmt::format("{} findings, {}", findings.size(), findings.empty() ? "" : findings[0].evidence));
    REQUIRE(findings.size() == 1);
    const auto& told = findings[0];
    CHECK(told.rule == "link.slow_receiver");
    CHECK(told.severity == Severity::warn);
    CHECK((told.a == "n001" || told.b == "n001"));
    CHECK(told.rail == 1);
    CHECK(told.hosts == "n[001-002,006]");
    CHECK(told.evidence.find("waits for n001 mlx5_1:1, and 4 ports wait behind it; it sent 2 percent") !=
          std::string::npos);
    jam.held.clear();
    CHECK(jam.run(20s).size() == 1); // while it ends what waited for it does not come back
    CHECK(jam.run(2min).empty());
}

TEST_CASE("a receiver that takes more, and congestion by load, are none") {
    Jam jam;
    jam.sweep();
    SECTION("a tenth of the rate") {
        slow(jam, 0.1);
        const auto findings = jam.run(3min);
        CHECK(count(findings, "link.slow_receiver") == 0);
        CHECK(count(findings, "link.waiting") == 5); // each for itself, as before
    }
    SECTION("all that the link carries: what waits behind it shares it") {
        slow(jam, 0.02);
        jam.held[0] = {&jam.port(jam.leaf("n001", 1), "n001"), 1};
        CHECK(count(jam.run(3min), "link.slow_receiver") == 0);
    }
    SECTION("nobody waits behind it") {
        jam.hold(jam.leaf("n001", 1), "n001", 0.02);
        CHECK(count(jam.run(3min), "link.slow_receiver") == 0);
    }
    SECTION("it waits for a third of the time, and has nothing to send in the rest") {
        slow(jam, 0.02);
        for (int i = 0; i < 36; ++i) {
            if (i % 3 != 0)
                jam.links.sweep();
            else
                CHECK(count(jam.sweep(), "link.slow_receiver") == 0);
        }
    }
}

TEST_CASE("links that wait for each other are told in their order, with those who wait for them") {
    Jam jam;
    jam.sweep();
    loop(jam, 0);
    CHECK(jam.run(45s).empty());
    const auto findings = jam.run(30s);
    for (const auto& one : findings)
        UNSCOPED_INFO(one.rule << " " << name_of(one) << ": " << one.evidence);
    REQUIRE(findings.size() == 1);
    const auto& told = findings[0];
    CHECK(told.rule == "link.credit_loop");
    CHECK(told.hosts == "n002");
    INFO(told.evidence);
    CHECK(told.evidence.starts_with("the routing lets these wait for each other: "));
    const auto a = jam.leaf("n001", 1), b = jam.leaf("n005", 1);
    const auto up = told.evidence.find(a + " port "),
               down = told.evidence.find(" to " + b + ", " + b + " port ");
    CHECK((up != std::string::npos && down != std::string::npos));
    for (const auto& spine : {jam.spines(a).at(0), jam.spines(a).at(1)})
        CHECK(told.evidence.find(" to " + spine + ", " + spine + " port ") != std::string::npos);
    jam.held.clear();
    CHECK(jam.run(2min).empty());
}

TEST_CASE("a circle in which one link moves is no loop") {
    Jam jam;
    jam.sweep();
    loop(jam, 0.0001);
    CHECK(count(jam.run(3min), "link.credit_loop") == 0);
}

TEST_CASE("waiting is for half of the time, in the ticks of the link's generation") {
    const auto moved = [](double gbps, double words, double waits) {
        return moved_while_waiting(
            {{}, gbps, static_cast<std::uint64_t>(words), static_cast<std::uint64_t>(waits)}, 5s);
    };
    CHECK(moved(400, 0, could / 4) == 0U);
    CHECK_FALSE(moved(400, 0, could / 4 - 1));
    CHECK(moved(400, could / 10, could / 4) == 100'000U);
    CHECK_FALSE(moved(400, could / 2, could / 4));
    CHECK(moved(100, 0, could / 4 / 64) == 0U);
    CHECK_FALSE(moved(100, 0, could / 4 / 64 - 1));
    CHECK_FALSE(moved(0, 0, 1e9));
    CHECK_FALSE(moved_while_waiting({{}, 400, 0, 1000}, 0s));
}
