// How hosts come back: each class's ladder rung by rung, what is never done, and what survives a restart.

#include "restart/core/facts/ladder.hpp"
#include "restart/core/repair/repair.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using restart::ActionKind;
using restart::FaultClass;
using restart::RepairStage;
using restart::Rung;
using restart::Severity;

namespace {

constexpr double minute = 60, hour = 3600;

std::size_t times_noted(const World& world, std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(world.notes.begin(), world.notes.end(),
                      [&](const restart::Note& note) { return note.text.find(text) != std::string::npos; }));
}

// A cluster in which everything is configured, with shorter times.
World ready(std::size_t hosts = 8) {
    World world(hosts);
    auto& repair = world.policy.repair;
    repair.max_at_once = 2;
    repair.resets_gpus = repair.cycles_power = true;
    repair.clean_window = std::chrono::minutes(2);
    repair.rung_limit = std::chrono::minutes(10);
    world.config.emplace().reboots = true;
    world.run(2);
    return world;
}

void fails(World& world, const std::string& host, FaultClass fault,
           std::optional<Rung> mended_by = std::nullopt) {
    world.find(host, Severity::fatal, "gpu.some", std::string(to_string(fault)));
    if (mended_by) world.mended_by[host] = *mended_by;
}

// The rungs that were done to the host, in their order.
std::vector<Rung> rungs(const World& world, const std::string& host) {
    std::vector<Rung> done;
    for (const auto& action : world.actions)
        if (const auto* repair = restart::as<restart::RepairHost>(action);
            repair != nullptr && repair->host == host)
            done.push_back(repair->rung);
    return done;
}

bool in_use(World& world, const std::string& host) {
    return !world.node(host).drain && !world.node(host).down;
}

std::optional<RepairStage> stage(const World& world, const std::string& host) {
    const auto& repair = world.state().hosts.at(host).repair;
    return repair ? std::optional(repair->stage) : std::nullopt;
}

} // namespace

TEST_CASE("a GPU that is gone: drained, the job moved, the host rebooted, watched, resumed") {
    auto world = ready();
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    fails(world, "n002", FaultClass::gpu_gone, Rung::reboot);
    world.run(20);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK(world.node("n002").drain);
    CHECK(rungs(world, "n002") == std::vector{Rung::reboot});
    CHECK(world.noted("reboot n002 (gpu_gone): attempt 1 of 3 in 7 d 0 h; power_cycle if it does not help"));
    world.run(60 + 100);
    CHECK_FALSE(in_use(world, "n002")); // the clean window is not over
    world.run(40);
    CHECK(in_use(world, "n002"));
    CHECK(world.noted("resume n002: no fault for 2 min 0 s after reboot"));
    CHECK(world.noted("n002 is in use again (reboot)"));
    CHECK(world.count(ActionKind::resume_host) == 1);
    CHECK(rungs(world, "n002").size() == 1);
    CHECK(world.state().incidents.empty());
    CHECK_FALSE(world.state().hosts.at("n002").lost);
    CHECK(times_noted(world, "agent silent") == 0); // that it was silent while it booted is no fault
}

TEST_CASE("each class climbs its ladder, and ends in a person's hands") {
    const auto shipped = restart::Policy::from(base::Conf()).repair;
    for (int at = 0; at <= static_cast<int>(FaultClass::host_lost); ++at) {
        const auto fault = static_cast<FaultClass>(at);
        auto world = ready(4);
        world.policy.repair.rung_limit = std::chrono::minutes(3);
        INFO(to_string(fault));
        const auto ladder = shipped.ladder(fault);
        REQUIRE(ladder.back() == Rung::hands);
        if (fault == FaultClass::host_lost) {
            world.power_off("n002");
            world.never_boots.insert("n002");
            restart::FabricReport dark;
            dark.complete = true;
            dark.hosts["n002"] = {0, 8};
            for (int i = 0; i < 10; ++i) {
                world.send(restart::FabricSwept{dark});
                world.run(2 * minute);
            }
        } else {
            fails(world, "n002", fault);
            world.run(20 * minute);
        }
        std::vector<Rung> acting;
        for (const auto rung : ladder)
            if (acts(rung)) acting.push_back(rung);
        INFO(world.story());
        CHECK(rungs(world, "n002") == acting);
        CHECK(stage(world, "n002") == RepairStage::hands);
        CHECK(world.node("n002").drain);
        CHECK(world.node("n002").reason.find(fmt::format("hands needed ({})", to_string(fault))) !=
              std::string::npos);
        CHECK(world.count(ActionKind::resume_host) == 0);
        CHECK(world.state().incidents.empty());
        CHECK(times_noted(world, "stays drained: hands needed") == 1);

        // A person's resume ends it.
        world.clear("n002");
        if (fault == FaultClass::host_lost) world.start_agent("n002");
        world.run(5);
        world.person_resumes("n002");
        world.run(5);
        CHECK_FALSE(stage(world, "n002"));
        CHECK(in_use(world, "n002"));
    }
}

TEST_CASE("a lost host that comes back by itself is watched, and resumed") {
    auto world = ready();
    world.power_off("n002");
    world.run(2 * minute);
    INFO(world.story());
    REQUIRE(world.node("n002").down);
    CHECK(stage(world, "n002") == RepairStage::watching);
    world.boot("n002");
    world.run(60 + 100);
    CHECK_FALSE(in_use(world, "n002"));
    world.run(40);
    CHECK(in_use(world, "n002"));
    CHECK(rungs(world, "n002").empty());
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a lost host is power-cycled when it is dark, and not while it may live behind a network") {
    auto world = ready();
    const auto dark = GENERATE(true, false);
    restart::FabricReport seen;
    seen.complete = true;
    if (dark) seen.hosts["n002"] = {0, 8};
    world.power_off("n002");
    for (int i = 0; i < 20; ++i) {
        if (!rungs(world, "n002").empty()) seen.hosts.clear();
        world.send(restart::FabricSwept{seen});
        world.run(minute);
    }
    INFO(world.story());
    REQUIRE(world.noted("is lost"));
    CHECK(rungs(world, "n002") == (dark ? std::vector{Rung::power_cycle} : std::vector<Rung>()));
    CHECK(in_use(world, "n002") == dark);
    CHECK(world.noted("it may live behind a network that failed") == !dark);
    if (!dark) CHECK(stage(world, "n002") == RepairStage::hands);
}

TEST_CASE("a host that a person shut down is the person's: its power is not touched") {
    auto world = ready();
    const bool during = GENERATE(false, true); // a repair that waits for it to be without a fault
    restart::FabricReport seen;
    seen.complete = true;
    if (during) {
        fails(world, "n002", FaultClass::gpu_slow);
        world.run(5 * minute);
        REQUIRE(stage(world, "n002") == RepairStage::watching);
    }
    world.shut_down("n002");
    seen.hosts["n002"] = {0, 8};
    for (int i = 0; i < 120; ++i) {
        world.send(restart::FabricSwept{seen});
        world.run(minute);
    }
    INFO(world.story());
    CHECK(rungs(world, "n002").empty());
    CHECK(world.node("n002").drain);
    world.clear("n002");
    world.switch_on("n002");
    seen.hosts.clear();
    for (int i = 0; i < 20; ++i) {
        world.send(restart::FabricSwept{seen});
        world.run(minute);
    }
    CHECK(rungs(world, "n002").empty());
    CHECK(in_use(world, "n002"));
}

TEST_CASE("a fault that is over before its first rung is only watched; if it comes again the rung is taken") {
    auto world = ready();
    const bool again = GENERATE(false, true);
    fails(world, "n002", FaultClass::gpu_gone, Rung::reboot);
    fails(world, "n003", FaultClass::gpu_gone, Rung::reboot);
    world.run(10);
    fails(world, "n004", FaultClass::gpu_gone, Rung::reboot);
    world.run(10);
    INFO(world.story());
    REQUIRE(stage(world, "n004") == RepairStage::waiting); // two are in repair
    world.clear("n004");
    world.run(1.5 * minute);
    REQUIRE_FALSE(in_use(world, "n004"));
    CHECK(rungs(world, "n004").empty());
    if (again) fails(world, "n004", FaultClass::gpu_gone, Rung::reboot);
    world.run(8 * minute);
    CHECK(rungs(world, "n004").size() == (again ? 1 : 0));
    CHECK(in_use(world, "n004"));
    CHECK(world.noted("the fault of n004 is over: it is only watched"));
}

TEST_CASE("no more hosts are in repair than may be; the others wait for their turn, and that is noted once") {
    auto world = ready(16);
    world.policy.max_drained_percent = 100;
    for (int i = 1; i <= 8; ++i)
        fails(world, fmt::format("n{:03}", i), FaultClass::gpu_stuck, Rung::reboot);
    std::size_t most = 0;
    for (int i = 0; i < 900; ++i) {
        world.run(1);
        std::size_t now = 0;
        for (const auto& [name, host] : world.state().hosts)
            if (host.repair && !host.repair->healed && host.repair->stage != RepairStage::waiting &&
                host.repair->stage != RepairStage::returning)
                ++now;
        most = std::max(most, now);
    }
    INFO(world.story());
    CHECK(most == 2);
    CHECK(times_noted(world, "would reboot n008 (max_at_once)") == 1);
    for (int i = 1; i <= 8; ++i)
        CHECK(in_use(world, fmt::format("n{:03}", i)));
}

TEST_CASE("half of all hosts that fail at once are one cause or many, and never more than two are rebooted") {
    auto world = ready(16);
    const bool silent = GENERATE(false, true);
    for (int i = 1; i <= 8; ++i) {
        const auto name = fmt::format("n{:03}", i);
        silent ? world.set_heard(name, false, false) : fails(world, name, FaultClass::gpu_gone, Rung::reboot);
    }
    world.run(5 * minute);
    INFO(world.story());
    if (silent) {
        CHECK(world.count(ActionKind::repair_host) == 0);
        CHECK(world.actions.empty());
    } else {
        CHECK(world.count(ActionKind::repair_host) <= 4);
    }
}

TEST_CASE("a host whose repair did not help long climbs on") {
    auto world = ready();
    world.policy.repair.relapse = std::chrono::minutes(20);
    fails(world, "n002", FaultClass::gpu_gone, Rung::reboot);
    world.run(5 * minute);
    REQUIRE(in_use(world, "n002"));
    const auto soon = GENERATE(true, false);
    world.run(soon ? 10 * minute : 25 * minute);
    fails(world, "n002", FaultClass::gpu_gone);
    world.run(30);
    INFO(world.story());
    CHECK(rungs(world, "n002") ==
          (soon ? std::vector{Rung::reboot, Rung::power_cycle} : std::vector{Rung::reboot, Rung::reboot}));
    CHECK(world.noted("n002 has failed again") == soon);
}

TEST_CASE("attempts are counted over all repairs, and forgotten in time") {
    auto world = ready();
    world.policy.repair.relapse = {};
    world.policy.repair.attempts = 2;
    for (int i = 0; i < 2; ++i) {
        fails(world, "n002", FaultClass::gpu_stuck, Rung::reboot);
        world.run(5 * minute);
        REQUIRE(in_use(world, "n002"));
        world.run(20 * minute);
    }
    const auto later = GENERATE(false, true);
    if (later) world.policy.repair.forget_after = std::chrono::minutes(10);
    fails(world, "n002", FaultClass::gpu_stuck, Rung::reboot);
    world.run(5 * minute);
    INFO(world.story());
    CHECK(in_use(world, "n002") == later);
    CHECK(rungs(world, "n002").size() == (later ? 3 : 2));
    if (!later) CHECK(world.noted("hands needed (gpu_stuck): 2 attempts in 7 d 0 h"));
}

TEST_CASE("a rung that is not configured is passed over, and that is noted") {
    auto world = ready();
    world.config->reboots = false;
    world.policy.repair.cycles_power = false;
    fails(world, "n002", FaultClass::gpu_gone);
    world.run(minute);
    INFO(world.story());
    CHECK(rungs(world, "n002").empty());
    CHECK(times_noted(world, "reboot is passed over: the resource manager has no program to reboot hosts") ==
          1);
    CHECK(times_noted(world, "power_cycle is passed over: [repair] power_cycle_program is not set") == 1);
    CHECK(world.noted("repair of n002 (gpu_gone: hands)"));
    CHECK(stage(world, "n002") == RepairStage::hands);
}

TEST_CASE("a program that fails is a rung that has failed, and is not tried again and again") {
    auto world = ready();
    world.program_error = base::Error{base::Code::unfit, "ipmi: no such user"};
    fails(world, "n002", FaultClass::gpu_error, Rung::reboot);
    world.run(30);
    INFO(world.story());
    CHECK(rungs(world, "n002") == std::vector{Rung::gpu_reset, Rung::reboot});
    CHECK(times_noted(world, "reset GPU 3 of n002: not done: ipmi: no such user") == 1);
}

TEST_CASE("a host that does not boot, or comes back with its fault, goes to the next rung in time") {
    auto world = ready();
    const bool boots = GENERATE(true, false);
    if (!boots) world.never_boots.insert("n002");
    fails(world, "n002", FaultClass::gpu_gone);
    world.run(8 * minute);
    INFO(world.story());
    CHECK((rungs(world, "n002").size() >= 2) == boots);
    CHECK(world.noted("reboot did not help: the fault is still there") == boots);
    world.run(3 * minute);
    CHECK(rungs(world, "n002").size() >= 2);
    if (!boots) CHECK(world.noted("reboot did not help: n002 has not booted again"));
}

TEST_CASE("nothing is repaired while jobs are on the host, nor behind a shut gate") {
    auto world = ready();
    const auto* gate = GENERATE("job", "occupied", "observe_only", "pause", "maintenance");
    if (gate == std::string_view("job")) world.submit({"n002", "n003"}, false);
    world.run(2);
    fails(world, "n002", FaultClass::gpu_gone, Rung::reboot);
    if (gate == std::string_view("occupied")) world.node("n002").occupied = true;
    while (!world.node("n002").drain)
        world.run(0.25);
    if (gate == std::string_view("observe_only")) world.policy.observe_only = true;
    if (gate == std::string_view("pause"))
        world.send(restart::OperatorPause{{}, std::chrono::hours(1), "look", "alice"});
    if (gate == std::string_view("maintenance"))
        world.send(restart::MaintenanceWindows{{{"daily", {"n002"}}}});
    const auto before = world.count(ActionKind::repair_host);
    world.run(2 * minute);
    INFO(gate << "\n" << world.story());
    REQUIRE(before == 0);
    CHECK(world.count(ActionKind::repair_host) == 0);
    const auto plan =
        std::any_of(world.state().incidents.begin(), world.state().incidents.end(), [](const auto& entry) {
            return entry.second.kind == restart::IncidentKind::repair && !entry.second.withheld.empty() &&
                   entry.second.withheld.front().what == "reboot n002";
        });
    CHECK(plan == (gate != std::string_view("job") && gate != std::string_view("occupied")));
    if (gate == std::string_view("job")) world.end_job(base::JobId(1));
    world.node("n002").occupied = false;
    world.policy.observe_only = false;
    world.send(restart::OperatorGo{{}, "alice"});
    world.send(restart::MaintenanceWindows{});
    world.run(5 * minute);
    CHECK(rungs(world, "n002") == std::vector{Rung::reboot});
    CHECK(in_use(world, "n002"));
}

TEST_CASE("a person's hands end a repair at once, and what they did stands") {
    auto world = ready();
    const auto* when = GENERATE("before", "while it boots", "in the clean window");
    fails(world, "n002", FaultClass::gpu_gone, Rung::reboot);
    if (when == std::string_view("before")) world.policy.repair.max_at_once = 0;
    world.run(when == std::string_view("in the clean window") ? 2 * minute : 20);
    const auto* what = GENERATE("drain", "resume", "railctl resume");
    if (what == std::string_view("drain"))
        world.person_drains("n002");
    else if (what == std::string_view("resume"))
        world.person_resumes("n002");
    else
        world.send(restart::OperatorResume{"n002", "alice"});
    const auto done = rungs(world, "n002").size();
    world.policy.repair.max_at_once = 2;
    world.run(20 * minute);
    INFO(when << ", " << what << "\n" << world.story());
    CHECK(rungs(world, "n002").size() == done);
    CHECK_FALSE(stage(world, "n002"));
    CHECK(world.node("n002").drain == (what == std::string_view("drain")));
    CHECK(world.count(ActionKind::resume_host) == (what == std::string_view("railctl resume") ? 1 : 0));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a drain that a person or another program made is never repaired, nor one by railctl") {
    auto world = ready();
    world.person_drains("n002");
    world.node("n003").drain = true;
    world.node("n003").reason = "NHC: gpu is gone";
    world.send(restart::OperatorDrain{"n004", "fan", "alice"});
    fails(world, "n002", FaultClass::gpu_gone);
    fails(world, "n003", FaultClass::gpu_gone);
    fails(world, "n004", FaultClass::gpu_gone);
    world.run(hour);
    INFO(world.story());
    CHECK(world.count(ActionKind::repair_host) == 0);
    CHECK(world.count(ActionKind::resume_host) == 0);
    for (const auto* name : {"n002", "n003", "n004"})
        CHECK(world.node(name).drain);
}

TEST_CASE("nothing repairs or returns a host where max_at_once is 0, or its ladder says nothing") {
    auto world = ready();
    const bool none = GENERATE(true, false);
    if (none)
        world.policy.repair.max_at_once = 0;
    else
        world.policy.repair.ladders["gpu_gone"] = {"nothing"};
    fails(world, "n002", FaultClass::gpu_gone);
    world.run(minute);
    world.clear("n002");
    world.run(hour);
    INFO(world.story());
    CHECK(world.count(ActionKind::repair_host) + world.count(ActionKind::resume_host) == 0);
    CHECK(world.node("n002").drain);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a restart of restartd at any moment: each rung is done once") {
    for (const auto rung : {Rung::reboot, Rung::power_cycle, Rung::gpu_reset}) {
        for (const bool lost : {false, true}) {
            auto world = ready();
            world.round_trip = 7;
            world.policy.repair.ladders["gpu_gone"] = {std::string(to_string(rung)), "hands"};
            fails(world, "n002", FaultClass::gpu_gone, rung);
            while (!world.node("n002").drain)
                world.run(0.25);
            // Killed before the action is performed, or after, before its outcome is heard of.
            (lost ? world.perform : world.report_outcomes) = false;
            while (rungs(world, "n002").empty())
                world.run(0.25);
            world.perform = world.report_outcomes = true;
            world.restart_daemon();
            world.run(30);
            world.restart_daemon();
            world.run(14 * minute);
            world.restart_daemon();
            world.run(14 * minute);
            INFO(to_string(rung) << (lost ? ", not performed\n" : ", performed\n") << world.story());
            const auto done =
                std::count_if(world.performed.begin(), world.performed.end(), [](const std::string& what) {
                    return what.starts_with("reboot") || what.starts_with("power") ||
                           what.starts_with("reset");
                });
            // A program that may have run is not run again: what is not known goes on to the next rung.
            CHECK(done == (lost && by_program(rung) ? 0 : 1));
            CHECK(in_use(world, "n002") == (done == 1));
        }
    }
}

TEST_CASE("a host with a fault of a worse class is repaired for that") {
    auto world = ready();
    world.find("n002", Severity::evict, "gpu.throttle.hw_power_brake", "gpu_slow");
    world.find("n002", Severity::fatal, "gpu.lost", "gpu_gone");
    world.run(20);
    INFO(world.story());
    CHECK(world.noted("repair of n002 (gpu_gone: reboot, power_cycle, hands)"));
}

TEST_CASE("classes and rungs have the names that the configuration and the agents use") {
    for (int at = 0; at <= static_cast<int>(FaultClass::host_lost); ++at)
        CHECK(restart::fault_class(to_string(static_cast<FaultClass>(at))) == static_cast<FaultClass>(at));
    CHECK(restart::fault_class("") == FaultClass::other);
    CHECK(restart::fault_class("of_tomorrow") == FaultClass::other);
    for (int at = 0; at <= static_cast<int>(Rung::hands); ++at)
        CHECK(restart::rung_of(to_string(static_cast<Rung>(at))) == static_cast<Rung>(at));
    CHECK(restart::Policy::from(base::Conf()).repair.ladders.size() ==
          static_cast<std::size_t>(FaultClass::host_lost) + 1);
}
