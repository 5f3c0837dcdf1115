#include "restart/daemon/replay.hpp"

#include "base/log.hpp"
#include "restart/core/store/event_log.hpp"
#include "restart/daemon/driver.hpp"
#include "rm_double.hpp"
#include "unit/folder.hpp"
#include "unit/patience.hpp"
#include "unit/trials.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <random>

using namespace std::chrono_literals;
using namespace restart;

namespace {

base::Time at(base::Duration since) {
    return base::Time(std::chrono::seconds(1'700'000'000)) + since;
}

RmNode node(int number, bool drain = false) {
    RmNode made;
    made.name = made.address = fmt::format("n{:03}", number);
    made.port = static_cast<std::uint16_t>(6818 + number);
    made.drain = drain;
    made.state = drain ? "IDLE+DRAIN" : "IDLE";
    if (drain) made.reason = "two\nlines \x01"; // as a resource manager may say it
    return made;
}

RmJob job(std::uint32_t number, const std::string& host) {
    RmJob made;
    made.id = base::JobId(number);
    made.phase = JobPhase::running;
    made.nodes = {host};
    made.node_count = 1;
    made.restart = true;
    return made;
}

// Every kind of event, mostly what was said before.
Event some_event(std::mt19937& random, RmSnapshot& world, FabricReport& links) {
    const auto roll = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
    const auto host = fmt::format("n{:03}", roll(8));
    switch (roll(14)) {
    case 0: return Tick{};
    case 1: return FabricLoaded{{{host, "su1"}, {"n900", "su2"}}};
    case 2: return RmUnavailable{"away\n"};
    case 3: return ActionDone{"i-1/1", base::Error{base::Code::unavailable, "busy"}, roll(2) == 0};
    case 4: return OperatorDrain{host, "fan \x02", "alice"};
    case 5: return OperatorResume{host, "bob"};
    case 6: return Started{};
    case 7:
        if (roll(3) == 0) links.hosts[host] = {roll(9), 8};
        links.complete = true;
        links.hosts_seen = 8;
        return FabricSwept{links};
    case 8:
    case 9:
        switch (roll(8)) { // jobs and nodes come, go, change and change places
        case 0:
            world.jobs.insert(world.jobs.begin() + roll(static_cast<unsigned>(world.jobs.size()) + 1),
                              job(100 + roll(50), host));
            break;
        case 1:
            if (!world.jobs.empty())
                world.jobs.erase(world.jobs.begin() + roll(static_cast<unsigned>(world.jobs.size())));
            break;
        case 2:
            if (!world.jobs.empty()) ++world.jobs[roll(static_cast<unsigned>(world.jobs.size()))].restarts;
            break;
        case 3: world.nodes[roll(8)] = node(static_cast<int>(roll(8)), roll(2) == 0); break;
        case 4: std::shuffle(world.jobs.begin(), world.jobs.end(), random); break;
        case 5: world.config.emplace().takes_flags = roll(2) == 0; break;
        default: break;
        }
        return RmRead{world};
    default: {
        Report report;
        report.host = host;
        report.boot_id = "boot";
        if (roll(5) == 0) report.findings.push_back({"gpu.lost", "gpu0", Severity::fatal, at(1s), "gone"});
        report.looks = roll(2) == 0;
        if (report.looks) report.sights.push_back({roll(3), "n1", base::Knocked::mute});
        return AgentReported{report};
    }
    }
}

} // namespace

TEST_CASE("events are read as they were written, in whatever parts, and step() does the same again") {
    for (int seed = 0; seed < test::trials(20); ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        RmSnapshot world;
        for (int i = 0; i < 8; ++i)
            world.nodes.push_back(node(i));
        FabricReport links;
        Policy policy;
        policy.observe_only = false;
        EventWriter writer;
        EventReader reader;
        State live, again;
        auto now = at(0s);
        std::size_t outcomes = 0;
        for (int chunk = 0; chunk < 30; ++chunk) {
            std::vector<std::pair<base::Time, std::string>> given;
            for (auto i = random() % 20; i > 0; --i) {
                now += base::Duration(static_cast<int>(random() % 3000)) -
                       base::Duration(200); // it may be set back
                if (random() % 40 == 0) policy.silent = base::Duration(1000 + random() % 3000);
                const auto event = some_event(random, world, links);
                writer.event(event, now, policy);
                auto out = step(std::move(live), event, now, policy);
                writer.outcome(out);
                given.emplace_back(now, outcome_text(out));
                live = std::move(out.state);
            }
            reader.feed(writer.take());
            for (const auto& [time, outcome] : given) {
                auto next = reader.next();
                INFO("seed " << seed << (next ? "" : next.error().text));
                REQUIRE(next);
                REQUIRE(*next);
                CHECK((*next)->now == time);
                CHECK((*next)->outcome == outcome);
                auto out = step(std::move(again), (*next)->event, (*next)->now, reader.policy());
                REQUIRE(outcome_text(out) == outcome);
                again = std::move(out.state);
                outcomes += outcome.empty() ? 0 : 1;
            }
            CHECK_FALSE(reader.next()->has_value());
            REQUIRE(again == live);
        }
        CHECK(outcomes > 0);
    }
}

TEST_CASE("what a source says again is a few bytes") {
    EventWriter writer;
    RmSnapshot world;
    for (int i = 0; i < 1000; ++i)
        world.nodes.push_back(node(i));
    const auto tell = [&](int second) {
        for (int i = 0; i < 1000; ++i) {
            Report report;
            report.host = fmt::format("n{:03}", i);
            report.boot_id = "boot";
            writer.event(AgentReported{report}, at(std::chrono::seconds(second)), Policy());
        }
        writer.event(RmRead{world}, at(std::chrono::seconds(second)), Policy());
        return writer.take().size();
    };
    tell(1);
    CHECK(tell(2) < 5000);
    world.nodes[500].drain = true;
    CHECK(tell(3) < 5200);
}

TEST_CASE("bytes that make no events are refused") {
    const auto error = [](std::string_view bytes) {
        EventReader reader;
        reader.feed(bytes);
        for (;;) {
            const auto next = reader.next();
            if (!next) return next.error().code == base::Code::input;
            if (!*next) return false;
        }
    };
    CHECK(error("?"));
    CHECK(error("r"));
    CHECK(error(std::string_view("r\0\5", 3)));     // a reporter that never was
    CHECK(error(std::string_view("R\0\x7f{}", 5))); // cut
    CHECK(error(std::string_view("O\0\0", 3)));     // an outcome of nothing
    CHECK_FALSE(error(std::string_view("t\0t\2", 4)));
}

namespace {

// A journal that a driver has left, with an incident in it.
void live(const std::filesystem::path& path, std::uint64_t keep = 64 << 20) {
    base::log::open("unit_daemon", base::log::Level::error);
    test::RmDouble rm({"n001", "n002", "n003"});
    Metrics metrics;
    DriverOptions options;
    options.policy.observe_only = false;
    options.poll = 10ms;
    options.tick = 5ms;
    options.save = 20ms;
    options.keep_events = keep;
    for (int life = 0; life < 2; ++life) {
        auto journal = Journal::open(path);
        REQUIRE(journal);
        auto driver = Driver::make(*std::move(journal), rm, metrics, options);
        REQUIRE(driver);
        (*driver)->start();
        REQUIRE((*driver)->refresh(test::patience()));
        REQUIRE((*driver)->drain(fmt::format("n00{}", life + 1), "fan", "alice"));
        REQUIRE(rm.wait_for_calls(static_cast<std::size_t>(life) + 1));
        REQUIRE((*driver)->stop(test::patience()));
    }
}

} // namespace

TEST_CASE("a journal is replayed over the lives of its daemon, while one has it open") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    live(path);
    const auto open = Journal::open(path);
    const auto done = replay(path, [](const auto&) {});
    INFO((done ? done->difference.value_or("") : done.error().text));
    REQUIRE(done);
    CHECK_FALSE(done->difference);
    CHECK(done->outcomes >= 2);
    CHECK(done->from < done->until);
}

TEST_CASE("a decision that comes out otherwise is named, with what was and what is") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    live(path);
    {
        auto database = Database::open(path, Database::Open::existing);
        // Another reason of the same length, in what the operator asked for and not in what came of it.
        REQUIRE(database->execute("UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), "
                                  "'\"reason\":\"fan\"', '\"reason\":\"fun\"') AS BLOB) "
                                  "WHERE instr(bytes, CAST('\"reason\":\"fan\"' AS BLOB))"));
    }
    const auto done = replay(path, [](const auto&) {});
    REQUIRE(done);
    REQUIRE(done->difference);
    CHECK_THAT(*done->difference, Catch::Contains("drain of n001 by alice") &&
                                      Catch::Contains("has another outcome") && Catch::Contains("fan") &&
                                      Catch::Contains("fun"));
}

TEST_CASE("events are bounded, and what is left of them replays") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    for (int i = 0; i < 3; ++i)
        live(path, 4096);
    auto database = Database::open(path, Database::Open::existing);
    CHECK(std::stoul(*database->value("SELECT ifnull(sum(length(state)), 0) FROM segments")) < 20'000);
    CHECK(*database->value("SELECT count(*) FROM events WHERE segment NOT IN (SELECT id FROM segments)") ==
          "0");
    const auto done = replay(path, [](const auto&) {});
    INFO((done ? done->difference.value_or("") : done.error().text));
    REQUIRE(done);
    CHECK_FALSE(done->difference);
}

TEST_CASE("a journal without events, of an older or a newer release is told of") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    live(path, 0);
    CHECK(replay(path, [](const auto&) {}).error().code == base::Code::unfit);
    const auto version = [&](int number) {
        auto database = Database::open(path, Database::Open::existing);
        REQUIRE(database->execute(fmt::format("PRAGMA user_version = {}", number)));
    };
    version(4);
    CHECK_THAT(replay(path, [](const auto&) {}).error().text, Catch::Contains("an older release wrote it"));
    version(Journal::version + 1);
    CHECK_THAT(replay(path, [](const auto&) {}).error().text, Catch::Contains("newer restartd"));
    CHECK(replay(folder.path / "none.db", [](const auto&) {}).error().code == base::Code::input);
}

// A member that the events lack would be read back as its default: whoever adds one adds it to
// core/event_fields.hpp, and counts it here.
TEST_CASE("the events hold all of the policy") {
    const auto& [observe, percent, absolute, unit, leaf, pod, hour, report, silent, witness, group, window,
                 lost, lost_unit, racks, restart, mtbf, repair, lemon, prior, least, most, factor, save_min,
                 save_max, requeues, progress, horizon, requeue, start, ladders, every, share, confidence,
                 idle, start_within, cut_off, retry, words] = Policy();
    CHECK(observe);
    (void)std::tie(percent, absolute, unit, leaf, pod, hour, report, silent, witness, group, window, lost,
                   lost_unit, racks, restart, mtbf, repair, lemon, prior, least, most, factor, save_min,
                   save_max, requeues, progress, horizon, requeue, start, ladders, every, share, confidence,
                   idle, start_within, cut_off, retry, words);
    const auto& [at_once, attempts, forget, relapse, clean, limit, resets, cycles, checks, rungs] = ladders;
    (void)std::tie(at_once, attempts, forget, relapse, clean, limit, resets, cycles, checks, rungs);
}
