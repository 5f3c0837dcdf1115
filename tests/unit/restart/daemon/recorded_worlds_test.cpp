// Simulated clusters whose journals are kept and replayed: every kind of event and of action, repairs with
// their reboots and programs, hosts that are shut down, persons' hands, new lives of restartd. What a journal
// loses of a step's input shows as a difference.

#include "restart/core/store/event_log.hpp"
#include "restart/daemon/journal.hpp"
#include "restart/daemon/replay.hpp"
#include "unit/folder.hpp"
#include "unit/restart/core/truth.hpp"
#include "unit/trials.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace std::chrono_literals;
using namespace restart;

namespace {

// Keeps what a world is told as a driver does: in parts, and in segments from a state.
class Recorder {
public:
    Recorder(World& world, const std::filesystem::path& path) : world_(world), journal_(opened(path)) {
        journal_.keep_events(1 << 30);
        begin();
        world.recorded = [this](const Event& event, const Step& out) {
            ++events;
            kinds.insert(event.index());
            for (const auto& action : out.actions) {
                actions.insert(std::string(to_string(kind_of(action))));
                if (const auto* repair = as<RepairHost>(action))
                    actions.insert(std::string(to_string(repair->rung)));
            }
            if (const auto* done = std::get_if<ActionDone>(&event)) {
                obsolete = obsolete || done->obsolete;
                failed = failed || (done->error && !done->obsolete);
                said = said || !done->said.empty();
            }
            refused = refused || out.refused;
            writer_.event(event, world_.now(), world_.policy);
            writer_.outcome(out);
            if (writer_.size() > 200'000) full_ = true;
            if (events % 50 == 0) flush();
        };
    }
    ~Recorder() { world_.recorded = nullptr; }

    // A segment ends; between two events of the world.
    void begin() {
        flush();
        full_ = false;
        writer_.reset();
        Record record;
        record.began = std::make_shared<const State>(world_.state());
        REQUIRE(journal_.commit(record, world_.now()));
    }
    void begin_if_full() {
        if (full_) begin();
    }
    void restart_daemon() {
        begin();
        world_.restart_daemon();
    }

    void check_replay() {
        begin(); // with the last state
        const auto done = replay(journal_.path(), [](const auto&) {});
        INFO((done ? std::string() : done.error().text));
        REQUIRE(done);
        INFO(done->difference.value_or(""));
        CHECK_FALSE(done->difference);
        CHECK(done->events == events);
        // A part of it, from the state of a segment that began before.
        const ReplayRange range{events / 2, events / 2 + events / 4};
        const auto part = replay(
            journal_.path(), [](const auto&) {}, range);
        REQUIRE(part);
        CHECK_FALSE(part->difference);
        CHECK_FALSE(part->before);
        CHECK(part->first == events / 2);
        CHECK(part->events == events / 4 + 1);
    }

    std::uint64_t events = 0;
    std::set<std::size_t> kinds;   // of events, by their places in the variant
    std::set<std::string> actions; // kinds and rungs
    bool obsolete = false, failed = false, said = false, refused = false;

private:
    static Journal opened(const std::filesystem::path& path) {
        auto journal = Journal::open(path);
        REQUIRE(journal);
        return *std::move(journal);
    }
    void flush() {
        Record record;
        record.events = writer_.take();
        if (!record.empty()) REQUIRE(journal_.commit(record, world_.now()));
    }

    World& world_;
    Journal journal_;
    EventWriter writer_;
    bool full_ = false;
};

void allow_repairs(World& world) {
    auto& repair = world.policy.repair;
    repair.max_at_once = 2;
    repair.resets_gpus = repair.cycles_power = true;
    repair.clean_window = 1min;
    repair.rung_limit = 3min;
    world.config.emplace().reboots = true;
    world.run(2);
}

void fails(World& world, const std::string& host, FaultClass fault, Rung mended_by) {
    world.find(host, Severity::fatal, "gpu.some", std::string(to_string(fault)));
    world.mended_by[host] = mended_by;
}

} // namespace

TEST_CASE("every kind of event and of action is kept, and comes out of a replay as it was") {
    const test::Folder folder;
    World world(24);
    allow_repairs(world);
    Recorder recorder(world, folder.path / "journal.db");

    // Repairs: by each rung, by a program that fails, of a host that never boots, over a new life.
    world.submit({"n001", "n002"});
    world.run(3);
    fails(world, "n002", FaultClass::gpu_gone, Rung::reboot);
    world.run(20);
    recorder.restart_daemon();
    fails(world, "n003", FaultClass::gpu_error, Rung::gpu_reset);
    world.run(200);
    world.program_error = base::Error{base::Code::unfit, "/opt/reset: status 3: \x01 no GPU\n"};
    fails(world, "n004", FaultClass::gpu_error, Rung::reboot);
    world.never_boots.insert("n005");
    fails(world, "n005", FaultClass::gpu_gone, Rung::power_cycle);
    world.run(400);
    world.program_error.reset();
    recorder.begin();
    world.run(900);
    world.never_boots.clear();
    world.clear("n005");
    world.switch_on("n005");
    world.person_resumes("n005");
    world.run(30);

    // Hosts that leave: shut down in order, by a reboot that Slurm was asked for, by a planned power saving.
    world.shut_down("n006");
    world.boot("n007");
    world.set_away("n008", true);
    world.run(90);
    recorder.restart_daemon();
    world.run(60);
    world.switch_on("n006");
    world.set_away("n008", false);
    world.run(60);

    // Losses: dark and repaired by its power, answered for by itself, inside an allocation.
    const auto inside = world.submit({"n011", "n012", "n013"});
    world.run_inside(inside, 1);
    world.run(5);
    world.commit(inside, 100);
    world.power_off("n012");
    world.run(20);
    const auto freeing = world.submit({"n022", "n023", "n024"});
    world.run_inside(freeing, 1);
    world.run(5);
    world.commit(freeing, 100);
    fails(world, "n023", FaultClass::gpu_gone, Rung::reboot);
    world.run(200);
    world.end_job(freeing);
    world.power_off("n014");
    world.send(HostAsked{"n014", Life::mute});
    world.wire_up(2);
    FabricReport dark;
    dark.complete = true;
    dark.hosts["n014"] = {0, 8};
    world.send(FabricSwept{dark});
    world.run(30);
    world.sweep({{"su1r0", "5", "spine1", "1"}});
    world.run(400);

    // Jobs: one that saves before it is moved, one that fails, one that cannot be launched.
    const auto saves = world.submit({"n017", "n018"});
    const auto fails_itself = world.submit({"n019"}), unlaunched = world.submit({"n020"});
    world.run(5);
    world.commit(saves, 100);
    world.find("n018", Severity::evict);
    world.fail_job(fails_itself, 1);
    world.fail_launch(unlaunched);
    world.run(60);
    world.clear("n018");

    // One that waits while a person puts the host back that it was moved off, and one that nothing can start
    // again.
    world.submit({"n019", "n020"});
    world.job(world.submit({"n010"}, std::nullopt)).interactive = true;
    world.run(5);
    world.never_restart = true;
    world.find("n020", Severity::fatal);
    world.find("n010", Severity::fatal);
    world.run(10);
    world.send(OperatorResume{"n020", "alice"});
    world.run(10);
    world.never_restart = false;
    world.clear("n020");
    world.run(30);

    // Persons: what they ask for, and what is refused; windows; their own hands.
    world.send(OperatorDrain{"n021", "a \x02 fan", "alice"});
    world.send(OperatorDrain{"n999", "a fan", "alice"});
    world.run(5);
    world.send(OperatorResume{"n021", "bob"});
    world.send(OperatorPause{{"n022"}, 1h, "new cables", "carol"});
    world.send(MaintenanceWindows{{{"Sat 02:00-04:00 n023", {"n023"}}}});
    world.find("n022", Severity::fatal);
    world.find("n023", Severity::fatal);
    world.run(10);
    world.send(OperatorGo{{"n022"}, "carol"});
    world.send(MaintenanceWindows{});
    world.run(10);
    world.person_drains("n024");
    world.run(10);
    world.person_resumes("n024");

    // A gang whose hosts are chosen, which is taken back once.
    world.gang_start_delay = 90;
    const auto gang = world.submit_gang(2);
    world.run(2);
    world.plan(gang, {"n001", "n002"});
    world.run(70);
    world.gang_start_delay = 1;
    world.plan(gang, {"n003", "n004"});
    world.run(10);
    world.end_job(gang);

    // An idle host that is tried, and wanted.
    world.allow_idle_checks(24h, 1);
    world.run(2);
    world.job(world.idle_checks().at(0)).wanted = true;
    world.run(2);
    world.policy.idle_checks.every = {};

    // The resource manager away, an action that is overtaken meanwhile; another policy; a clock set back.
    world.rm_answers = false;
    world.send(OperatorDrain{"n009", "smoke", "alice"});
    world.run(10);
    world.rm_answers = true;
    world.policy.silent = 4s;
    world.policy.repair.ladders["gpu_slow"] = {"hands"};
    world.run(10);
    world.sleep(-3600);
    world.run(30);
    world.perform = false; // they are taken up at the next start, or overtaken
    world.send(OperatorDrain{"n015", "smoke", "alice"});
    world.send(OperatorDrain{"n016", "smoke", "alice"});
    const auto overtaken = world.actions.back().id;
    world.perform = true;
    world.send(ActionDone{overtaken, base::Error{base::Code::unfit, "no longer needed"}, true, {}});
    recorder.restart_daemon();
    world.run(60);
    world.send(ActionDone{overtaken, {}, false, "done, it says"});

    INFO(world.story());
    recorder.check_replay();
    CHECK(recorder.kinds.size() == std::variant_size_v<Event>);
    for (const auto* kind : {"drain_host", "down_host", "resume_host", "requeue_job", "update_job",
                             "keep_off", "tell_job", "repair_host", "free_host", "place_job", "park_job",
                             "check_host", "end_check", "gpu_reset", "reboot", "power_cycle"}) {
        INFO(kind);
        CHECK(recorder.actions.contains(kind));
    }
    CHECK(recorder.obsolete);
    CHECK(recorder.failed);
    CHECK(recorder.said);
    CHECK(recorder.refused);
}

TEST_CASE("a suspicion that peers keep open over new lives of restartd comes out of a replay as it was") {
    const test::Folder folder;
    World world(24);
    world.peers_look = true;
    world.policy.witness_wait = 3s;
    world.run(5);
    Recorder recorder(world, folder.path / "journal.db");
    world.power_off("n002", 1e6);
    world.run(12);
    REQUIRE(world.state().incidents.size() == 1);
    const auto opened = world.state().incidents.begin()->second.opened;
    for (const double away : {0.0, 5.0, 120.0}) {
        world.sleep(away);
        recorder.restart_daemon();
        world.run(20);
    }
    INFO(world.story());
    REQUIRE(world.state().incidents.size() == 1);
    CHECK(world.state().incidents.begin()->second.opened == opened);
    recorder.check_replay();
}

TEST_CASE("random worlds with repairs, departures and persons come out of a replay as they were") {
    std::set<std::string> actions;
    for (int seed = 1; seed <= test::trials(4); ++seed) {
        const test::Folder folder;
        Truth truth(24, static_cast<unsigned>(seed));
        auto& world = truth.world;
        Recorder recorder(world, folder.path / "journal.db");
        for (int move = 0; move < 60; ++move) {
            const auto host = truth.any_host();
            switch (truth.roll(16)) {
            case 0: truth.power_off(host); break;
            case 1: truth.hang(host); break;
            case 2: truth.darken(host); break;
            case 3:
            case 4:
            case 5: truth.breaks(host, truth.roll(3) == 0 ? Severity::evict : Severity::fatal); break;
            case 6: recorder.restart_daemon(); break;
            case 7: world.rm_answers = !world.rm_answers; break;
            case 8:
                world.program_error = truth.roll(2) == 0
                                          ? std::nullopt
                                          : std::optional(base::Error{base::Code::unfit, "status 1"});
                break;
            case 9: truth.cut({host}); break;
            case 10: {
                Report last;
                last.host = host;
                last.boot_id = "b-" + host;
                last.leaving = true;
                world.deliver(last);
                truth.power_off(host);
                break;
            }
            case 11: world.send(OperatorDrain{host, "worlds", "alice"}); break;
            case 12: world.send(OperatorResume{host, "alice"}); break;
            case 13:
                world.send(OperatorPause{{}, 60s, "worlds", "alice"});
                truth.run(10);
                world.send(OperatorGo{{}, "alice"});
                break;
            case 14: world.sleep(truth.roll(20)); break;
            default: truth.mend(host); break;
            }
            truth.run(0.25 * (1 + truth.roll(80)));
            recorder.begin_if_full();
        }
        truth.mend_all();
        truth.run(300);
        INFO("seed " << seed);
        recorder.check_replay();
        actions.merge(recorder.actions);
    }
    for (const auto* kind :
         {"drain_host", "down_host", "resume_host", "requeue_job", "gpu_reset", "reboot", "power_cycle"}) {
        INFO(kind);
        CHECK(actions.contains(kind));
    }
}
