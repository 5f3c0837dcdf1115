#include "restart/watch/fabric/counter_sweep.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <random>
#include <set>

using namespace restart;
using namespace std::chrono_literals;
using What = CounterLine::What;
using Outcome = CounterLine::Outcome;

namespace {

// A fabric of devices by LID, whose clock passes when nothing comes.
struct Made : CounterLine {
    std::set<std::uint16_t> dead;
    std::map<std::uint16_t, std::uint8_t> abilities; // else all
    double lost = 0;                                 // share of questions
    bool tells_losses = true;                        // as the kernel does
    bool twice = false;                              // every answer comes again, and late
    bool broken = false;
    bool refuses_extended = false;
    std::size_t most = 0; // questions on their way at a time
    std::size_t sent = 0;
    std::map<std::uint16_t, std::size_t> asked;
    std::mt19937 random{7};
    std::deque<Question> on_the_way, late;
    std::chrono::steady_clock::time_point clock{};

    base::Expected<void> ask(const Question& question, base::Duration) override {
        if (broken) return base::Error{base::Code::io, "the device is gone"};
        on_the_way.push_back(question);
        most = std::max(most, on_the_way.size());
        ++sent;
        ++asked[question.lid];
        return {};
    }
    base::Expected<std::optional<Answer>> next(base::Duration longest) override {
        if (!late.empty() && random() % 2 == 0) {
            const auto question = late.front();
            late.pop_front();
            return std::optional(answer(question, 99));
        }
        while (!on_the_way.empty()) {
            // In any order.
            std::swap(on_the_way.front(), on_the_way[random() % on_the_way.size()]);
            const auto question = on_the_way.front();
            on_the_way.pop_front();
            if (dead.contains(question.lid) || static_cast<double>(random() % 1000) < lost * 1000) {
                if (!tells_losses) continue;
                clock += longest / 16;
                return std::optional(Answer{question.number, Outcome::silent, {}});
            }
            if (twice) late.push_back(question);
            return std::optional(answer(question, 0));
        }
        clock += longest;
        return std::optional<Answer>();
    }
    std::chrono::steady_clock::time_point now() override { return clock; }

    Answer answer(const Question& question, std::uint64_t more) const {
        Answer told{question.number, Outcome::answered, {}};
        if (question.what == What::abilities) {
            const auto own = abilities.find(question.lid);
            told.part.abilities =
                own == abilities.end() ? pm::known | pm::extended | pm::additional | pm::waits : own->second;
            return told;
        }
        const bool wide = question.what == What::extended;
        if (wide && refuses_extended) return {question.number, Outcome::refused, {}};
        for (std::size_t i = 0; i < port_counters; ++i)
            told.part.values[i] = question.lid * 1000U + question.port + (wide ? 500U : 0U) + more;
        told.part.has = (1U << port_counters) - 1;
        if (wide) told.part.wide = told.part.has;
        return told;
    }
};

std::vector<CounterTarget> ports(std::uint16_t devices, std::uint8_t each) {
    std::vector<CounterTarget> targets;
    for (std::uint16_t lid = 1; lid <= devices; ++lid)
        for (std::uint8_t port = 1; port <= each; ++port)
            targets.push_back({lid, lid, port, 0});
    return targets;
}

std::size_t answered(const CounterSweep& sweep) {
    return static_cast<std::size_t>(std::count_if(sweep.readings.begin(), sweep.readings.end(),
                                                  [](const auto& reading) { return reading.answered; }));
}

} // namespace

TEST_CASE("all ports are read, each by its own answers, with no more questions than the window") {
    Made line;
    const auto targets = ports(40, 9);
    const auto swept = sweep_counters(line, targets, {.window = 16});
    REQUIRE(swept);
    CHECK(swept->whole);
    CHECK(line.most == 16);
    CHECK(line.sent == 40 + 2 * targets.size());
    REQUIRE(swept->readings.size() == targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const auto& reading = swept->readings[i];
        CHECK(reading.answered);
        CHECK(reading.node == targets[i].node);
        CHECK(reading.port == targets[i].port);
        // Whichever came first, the wide ones count.
        CHECK(reading.at(PortCounter::symbol_errors) == targets[i].lid * 1000U + targets[i].port + 500U);
    }
}

TEST_CASE("what a device can is asked once") {
    Made line;
    auto targets = ports(3, 4);
    auto swept = sweep_counters(line, targets, {});
    REQUIRE(swept);
    for (std::size_t i = 0; i < targets.size(); ++i)
        targets[i].abilities = swept->readings[i].abilities;
    line.sent = 0;
    swept = sweep_counters(line, targets, {});
    REQUIRE(swept);
    CHECK(answered(*swept) == targets.size());
    CHECK(line.sent == 2 * targets.size());
}

TEST_CASE("a device is believed only the counters that it says it has") {
    Made line;
    line.abilities = {{1, pm::known}, {2, pm::known | pm::extended}, {3, pm::known | pm::waits}};
    const auto swept = sweep_counters(line, ports(3, 1), {});
    REQUIRE(swept);
    REQUIRE(answered(*swept) == 3);
    const auto& [plain, extended, waits] =
        std::tie(swept->readings[0], swept->readings[1], swept->readings[2]);
    CHECK(plain.wide == 0);
    CHECK_FALSE(plain.counts(PortCounter::transmit_waits));
    CHECK(plain.counts(PortCounter::symbol_errors));
    CHECK((extended.wide & bit_of(PortCounter::transmit_words)) != 0);
    CHECK((extended.wide & bit_of(PortCounter::symbol_errors)) == 0);
    CHECK(extended.at(PortCounter::symbol_errors) == 2001);
    CHECK(waits.counts(PortCounter::transmit_waits));
}

TEST_CASE("a device that refuses the extended counters has the others") {
    Made line;
    line.refuses_extended = true;
    const auto swept = sweep_counters(line, ports(2, 2), {});
    REQUIRE(swept);
    CHECK(answered(*swept) == 4);
    CHECK(swept->readings[3].at(PortCounter::symbol_errors) == 2002);
}

TEST_CASE("lost questions are asked again, told or not, and late answers are none to others") {
    for (const bool told : {true, false}) {
        INFO(told);
        Made line;
        line.lost = 0.2;
        line.tells_losses = told;
        line.twice = true;
        const auto targets = ports(64, 5);
        const auto swept = sweep_counters(line, targets, {.window = 32, .tries = 12, .longest = 10min});
        REQUIRE(swept);
        CHECK(answered(*swept) == targets.size());
        CHECK(swept->asked_again > 0);
        for (std::size_t i = 0; i < targets.size(); ++i)
            CHECK(swept->readings[i].at(PortCounter::symbol_errors) ==
                  targets[i].lid * 1000U + targets[i].port + 500U);
    }
}

TEST_CASE("a dead switch costs some questions and not those of all its ports") {
    Made line;
    line.dead = {5};
    const auto targets = ports(20, 64);
    const auto swept = sweep_counters(line, targets, {.window = 8});
    REQUIRE(swept);
    CHECK(answered(*swept) == targets.size() - 64);
    for (const auto& reading : swept->readings)
        CHECK(reading.answered == (reading.lid != 5));
    // Its abilities and what was on its way when it was given up, each three times.
    CHECK(line.asked[5] <= 3 * (1 + 8));
}

TEST_CASE("a fabric that falls silent ends the sweep in its time, with what was read") {
    Made line;
    for (std::uint16_t lid = 1; lid <= 3000; ++lid)
        if (lid != 7) line.dead.insert(lid);
    line.tells_losses = false;
    const auto swept = sweep_counters(line, ports(3000, 1), {.window = 4, .longest = 3s});
    REQUIRE(swept);
    CHECK_FALSE(swept->whole);
    CHECK(line.clock.time_since_epoch() < 4s);
    CHECK(swept->readings.size() == 3000);
}

TEST_CASE("a broken line is an error") {
    Made line;
    line.broken = true;
    const auto swept = sweep_counters(line, ports(2, 2), {});
    REQUIRE_FALSE(swept);
    CHECK(swept.error().code == base::Code::io);
    line.broken = false;
    CHECK(sweep_counters(line, {}, {}).value().readings.empty());
}
