// Which of LSF's commands are given, and which are not. The commands are scripts that answer with files and
// write down what they were asked; their texts are as recorded.

#include "restart/rm/lsf_rm.hpp"

#include "base/file.hpp"
#include "base/user.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using base::JobId;
using restart::Action;

namespace {

class Engine {
public:
    explicit Engine(const std::string& gangs_wait) {
        for (const auto* name : {"bhist", "bhosts", "bjobs", "bkill", "bmod", "bqueues", "brequeue",
                                 "bresume", "bstop", "bsub", "bswitch"})
            add(name);
        put("bhosts.-w",
            "HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV \n"
            "n1                 ok              -      8      0      0      0      0      0\n"
            "n2                 ok              -      8      0      0      0      0      0\n");
        put("bqueues.-w",
            "QUEUE_NAME      PRIO STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP \n"
            "gang             40  Open:Active       -    -    -    -     0     0     0     0\n");
        conf_.parking_queues = {"gang"};
        conf_.run_queue = "gangrun";
        conf_.gangs_wait = gangs_wait;
        conf_.bindir = folder_.path.string();
        rm = restart::make_lsf_rm(conf_);
    }

    void add(const std::string& name) {
        put(name, fmt::format("#!/bin/sh\n"
                              "line=\"{0}\"\nfor word; do line=\"$line|$word\"; done\n"
                              "echo \"$line${{RAIL_PREFLIGHT:+|$RAIL_PREFLIGHT}}\" >>{1}/log\n"
                              "[ ! -f {1}/{0}.fails ] || {{ cat {1}/{0}.fails >&2; exit 255; }}\n"
                              "[ ! -f \"{1}/{0}.$1\" ] || cat \"{1}/{0}.$1\"\n",
                              name, folder_.path.string()));
        std::filesystem::permissions(folder_.path / name, std::filesystem::perms::owner_all);
    }
    void put(const std::string& name, const std::string& text) {
        REQUIRE(base::write_file(folder_.path / name, text, 0600));
    }
    void remove(const std::string& name) { std::filesystem::remove(folder_.path / name); }
    // The job 44 of two hosts, as bjobs has it now.
    void job(const std::string& state, const std::string& hosts = "-", const std::string& line = "sleep 60") {
        put("bjobs.-w",
            fmt::format("JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
                        "44      alice   {}   gang       ctl         {}          train      Nov 22 01:35\n",
                        state, hosts));
        put("bjobs.-UF",
            fmt::format(
                "\nJob <44>, Job Name <train>, User <alice>, Project <default>, Status <{}>, Queue <gang>, "
                "Command <{}>\nSun Nov 22 01:35:40: Submitted from host <ctl>, CWD </>, 16 Processors "
                "Requested, Requested Resources <span[ptile=8]>;\n",
                state, line));
    }
    // The lists of jobs that were asked for since the last time.
    std::vector<std::string> lists() {
        auto lines = asked(true);
        std::erase_if(lines, [](const std::string& line) {
            return line.rfind("lsid", 0) != 0 &&
                   (line.rfind("bjobs|", 0) != 0 || line.rfind("bjobs|-UF", 0) == 0);
        });
        return lines;
    }
    // What was asked since the last time, but for lists.
    std::vector<std::string> asked(bool all = false) {
        std::ifstream log(folder_.path / "log");
        std::vector<std::string> lines;
        for (std::string line; std::getline(log, line);)
            if (all || (line.rfind("bjobs|", 0) != 0 && line.rfind("bhosts|", 0) != 0 &&
                        line.rfind("bqueues|", 0) != 0))
                lines.push_back(line);
        log.close();
        std::filesystem::remove(folder_.path / "log");
        return lines;
    }
    bool placeable() {
        const auto queue = rm->queue();
        REQUIRE(queue);
        const auto found = std::find_if(queue->jobs.begin(), queue->jobs.end(),
                                        [](const restart::QueueJob& one) { return one.id == 44; });
        return found != queue->jobs.end() && found->waits_for == restart::WaitsFor::hosts;
    }
    void read() { REQUIRE(rm->read()); }
    // Jobs as they are now, of one host or slot: number, user, state, queue, host or "-", name, -m.
    void jobs(const std::vector<std::array<std::string, 7>>& all) {
        std::string list =
                        "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n",
                    details;
        for (const auto& [id, user, state, queue, host, name, wanted] : all) {
            list += fmt::format("{} {} {} {} ctl {} {} Nov 22 01:35\n", id, user, state, queue, host, name);
            details += fmt::format(
                "\nJob <{}>, Job Name <{}>, User <{}>, Project <default>, Status <{}>, Queue <{}>, "
                "Command <true>\nSun Nov 22 01:35:40: Submitted from host <ctl>, CWD </>, Exclusive "
                "Execution, Specified Hosts <{}>;\n",
                id, name, user, state, queue, wanted);
        }
        put("bjobs.-w", list);
        put("bjobs.-UF", details);
    }
    base::Expected<void> place() { return perform(restart::PlaceJob{target(), {"n2", "n1"}}); }
    base::Expected<void> park() { return perform(restart::ParkJob{target(), "gang"}); }
    base::Expected<void> requeue(bool hold = false, bool ended = false) {
        restart::RequeueJob action;
        action.job = target();
        action.hold = hold;
        action.ended = ended;
        return perform(action);
    }

    std::unique_ptr<restart::ResourceManager> rm;

    base::Expected<void> check(const std::string& host, const std::string& queue) {
        return perform(restart::CheckHost{host, 2, queue, "", ""});
    }
    bool check_is_ready(const std::string& host) {
        return rm->is_ready({"c-1", restart::CheckHost{host, 2, "railcheck", "", ""}});
    }
    base::Expected<void> end_check(base::JobId job, const std::string& host) {
        return perform(restart::EndCheck{restart::target(job, to_string(job), 0, host)});
    }

private:
    static restart::JobTarget target() { return restart::target(44, "44", 0, ""); }
    base::Expected<void> perform(decltype(Action::what) what) {
        Action action;
        action.id = "p-44/1";
        action.what = std::move(what);
        return rm->perform(action);
    }

    test::Folder folder_;
    base::LsfConf conf_;
};

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("a parked gang is given its hosts and moved to the run queue") {
    Engine engine("parked");
    engine.job("PEND");
    engine.read();
    CHECK(engine.placeable());
    engine.asked();
    REQUIRE(engine.place());
    CHECK(engine.asked() == Lines{"bmod|-m|n2+2 n1+1|44", "bswitch|gangrun|44"});
    engine.job("RUN", "8*n2:8*n1");
    engine.read();
    REQUIRE(engine.requeue());
    CHECK(engine.asked() == Lines{"brequeue|44"});
    engine.job("PSUSP"); // in a parking queue that is its user's hold
    engine.read();
    CHECK_FALSE(engine.placeable());
}

TEST_CASE("a held gang is given its hosts and resumed, and requeued held") {
    Engine engine("held");
    engine.job("PSUSP");
    engine.read();
    CHECK(engine.placeable());
    engine.asked();
    REQUIRE(engine.place());
    CHECK(engine.asked() == Lines{"bmod|-m|n2+2 n1+1|44", "bresume|44"});
    engine.job("PEND");
    engine.read();
    REQUIRE(engine.park()); // it did not start in time
    CHECK(engine.asked() == Lines{"bstop|44"});
    engine.job("PSUSP");
    engine.read();
    CHECK(engine.placeable());
    engine.job("RUN", "8*n2:8*n1");
    engine.read();
    CHECK_FALSE(engine.placeable());
    REQUIRE(engine.requeue());
    CHECK(engine.asked() == Lines{"brequeue|-H|44"});
    engine.job("PSUSP");
    engine.read();
    CHECK(engine.placeable());
}

TEST_CASE(
    "a job that a signal ended as its host was lost is requeued from its end, unless a person sent it") {
    Engine engine("parked");
    restart::RmJob job; // as it was seen to end
    job.id = JobId(44);
    job.name = "44";
    job.phase = restart::JobPhase::ended;
    job.nodes = {"n2", "n1"};
    job.failure = restart::RmFailure{137, base::now(), job.nodes, true};
    engine.rm->recall({job});
    engine.job("EXIT", "8*n2:8*n1");
    engine.read();
    engine.asked();
    SECTION("by mpirun that lost a host") {
        engine.put("bhist.-l",
                   "Sun Nov 22 01:21:22: Starting (Pid 678);\nSun Nov 22 01:21:32: Exited by signal 9;\n");
        REQUIRE(engine.requeue());
        CHECK(engine.asked() == Lines{"bhist|-l|44", "brequeue|-e|44"});
    }
    SECTION("by bkill") {
        engine.put("bhist.-l",
                   "Sun Nov 22 01:21:22: Starting (Pid 678);\n"
                   "Sun Nov 22 01:21:30: Signal <KILL> requested by user or administrator <alice>;\n"
                   "Sun Nov 22 01:21:32: Exited by signal 9;\n");
        const auto refused = engine.requeue();
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == base::Code::not_found);
        CHECK(engine.asked() == Lines{"bhist|-l|44"});
        CHECK_FALSE(engine.requeue(false, true)); // by who had not heard of it yet
        CHECK(engine.asked() == Lines{});
        const auto read = engine.rm->read(); // nothing is left of it to act on
        REQUIRE(read);
        CHECK(read->jobs.empty());
    }
}

TEST_CASE("a job that is done is requeued from its end where that is known to be no end") {
    Engine engine("parked");
    restart::RmJob job; // as it was seen to end
    job.id = JobId(44);
    job.name = "44";
    job.phase = restart::JobPhase::ended;
    job.nodes = {"n2", "n1"};
    job.failure = restart::RmFailure{0, base::now(), job.nodes};
    engine.rm->recall({job});
    engine.job("DONE", "8*n2:8*n1");
    engine.read();
    engine.asked();
    const auto refused = engine.requeue();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::Code::not_found);
    CHECK(engine.asked() == Lines{});
    REQUIRE(engine.requeue(false, true));
    CHECK(engine.asked() == Lines{"brequeue|-d|44"});
}

TEST_CASE("what its user holds is not resumed") {
    Engine engine("held");
    SECTION("as it was submitted") {
        engine.job("PSUSP", "-", "/usr/bin/rail-lsf-run --hold=user --line=train");
    }
    SECTION("by a requeue of his, or one that holds") {
        engine.job("RUN", "8*n2:8*n1");
        engine.read();
        REQUIRE(engine.requeue(true));
        CHECK(engine.asked() == Lines{"brequeue|-H|44"});
        engine.job("PSUSP");
    }
    SECTION("by a requeue after ours was refused") {
        engine.job("RUN", "8*n2:8*n1");
        engine.read();
        engine.put("brequeue.fails", "Job <44>: User permission denied\n");
        CHECK_FALSE(engine.requeue());
        engine.asked();
        engine.job("PSUSP");
    }
    engine.read();
    CHECK_FALSE(engine.placeable());
    const auto placed = engine.place();
    REQUIRE_FALSE(placed);
    CHECK(placed.error().text == "job 44 is held by its user");
    CHECK(engine.asked().empty());
}

TEST_CASE("a gang that starts while it is being held is let run") {
    Engine engine("held");
    engine.job("PEND");
    engine.read();
    REQUIRE(engine.park());
    CHECK(engine.asked() == Lines{"bstop|44"});
    engine.job("USUSP", "8*n2:8*n1");
    engine.read();
    CHECK(engine.asked() == Lines{"bresume|44"});
    engine.read(); // once
    CHECK(engine.asked().empty());
}

TEST_CASE("why a gang waits is posted where LSF has bpost, when it is another text") {
    Engine engine("parked");
    engine.job("PEND");
    engine.read();
    engine.asked();
    const auto shown = [&] { return engine.rm->queue()->jobs.at(0).shown; };
    const std::string why = "needs 2 nodes; `touch /tmp/x` $(id)\nno shell";
    REQUIRE(engine.rm->write_why(44, why));
    CHECK(engine.asked().empty()); // the engine has none
    CHECK(shown().empty());
    engine.add("bpost");
    REQUIRE(engine.rm->write_why(44, why));
    CHECK(engine.asked() == Lines{"bpost|-i|100|-d|needs 2 nodes, `touch /tmp/x` $(id) no shell|44"});
    CHECK(shown() == "needs 2 nodes, `touch /tmp/x` $(id) no shell");
    REQUIRE(engine.rm->write_why(44, why));
    REQUIRE(engine.rm->write_why(45, why)); // none of ours
    CHECK(engine.asked().empty());
    REQUIRE(engine.rm->write_why(44, ""));
    CHECK(engine.asked() == Lines{"bpost|-i|100|-d|-|44"});
    CHECK(shown().empty());
    REQUIRE(engine.rm->write_why(44, ""));
    CHECK(engine.asked().empty());
    engine.put("bpost.fails", "Job <44>: User permission denied\n");
    const auto refused = engine.rm->write_why(44, why);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::Code::denied);
    engine.put("bpost.fails", "Job <44>: No matching job found\n");
    CHECK(engine.rm->write_why(44, why)); // it has ended
    CHECK(shown().empty());
}

TEST_CASE("IBM's LSF is asked for fields, and for columns where they cannot be read") {
    const std::string fields =
        "bjobs|-noheader|-o|jobid jobindex stat user queue exec_host delimiter='^'|-u|all";
    Engine engine("parked");
    engine.add("lsid");
    engine.put("lsid.", "IBM Spectrum LSF Standard 10.1.0.13, Apr 30 2023\n");
    engine.job("PEND");
    SECTION("fields") {
        engine.put("bjobs.-noheader", "44^0^PEND^alice^gang^-\n");
        engine.read();
        CHECK(engine.placeable());
        CHECK(engine.lists() == Lines{"lsid", fields});
        REQUIRE(engine.place()); // by what the job is now
        CHECK(engine.lists().at(0) ==
              "bjobs|-noheader|-o|jobid jobindex stat user queue exec_host delimiter='^'|-a|44");
    }
    SECTION("not as they are documented") {
        engine.put("bjobs.-noheader", "JOBID USER\n");
        const auto read = engine.rm->read();
        REQUIRE(read);
        CHECK(
            std::any_of(read->config->missing.begin(), read->config->missing.end(), [](const auto& sentence) {
                return sentence.find(
                           "bjobs -o: its answer is not understood: \"JOBID USER\" (IBM Spectrum LSF") == 0;
            }));
        CHECK(engine.placeable());
        CHECK(engine.lists() == Lines{"lsid", fields, "bjobs|-w|-u|all"});
        engine.read();
        CHECK(engine.lists() == Lines{"bjobs|-w|-u|all"}); // not again
        engine.put("bjobs.-noheader", "44^0^PEND^alice^gang^-\n");
        for (int reading = 0; reading < 59; ++reading)
            engine.read();
        engine.lists();
        engine.read(); // but not for good
        CHECK(engine.lists() == Lines{"lsid", fields});
    }
    SECTION("a notice that LSF is busy beside the answer") {
        engine.put("bjobs.-noheader", "LSF is processing your request. Please wait ...\n"
                                      "44^0^PEND^alice^gang^-\n");
        engine.put("bhosts.-w",
                   "batch system daemon not responding ... still trying\n"
                   "HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV \n"
                   "n1                 ok              -      8      0      0      0      0      0\n"
                   "n2                 ok              -      8      0      0      0      0      0\n");
        engine.read();
        CHECK(engine.placeable());
        engine.lists();
        engine.read();
        CHECK(engine.lists() == Lines{fields});
    }
    SECTION("a limit of queries that passes") {
        engine.put("bjobs.-noheader", "44^0^PEND^alice^gang^-\n");
        engine.put("bjobs.fails", "Batch system concurrent query limit exceeded\n");
        const auto read = engine.rm->read();
        REQUIRE_FALSE(read);
        CHECK(read.error().code == base::Code::unavailable);
        engine.remove("bjobs.fails");
        engine.lists();
        engine.read();
        CHECK(engine.lists() == Lines{"lsid", fields});
        CHECK(engine.placeable());
    }
    SECTION("an answer of no jobs behind a notice") {
        engine.put("bjobs.fails", "LSF is processing your request. Please wait ...\n"
                                  "No unfinished job found\n");
        engine.read();
        engine.remove("bjobs.fails");
        engine.put("bjobs.-noheader", "44^0^PEND^alice^gang^-\n");
        engine.lists();
        engine.read();
        CHECK(engine.lists() == Lines{fields});
        CHECK(engine.placeable());
    }
    SECTION("a refusal behind a notice is no reason to ask again") {
        engine.put("bmod.fails", "LSF is processing your request. Please wait ...\nBad resource name\n");
        engine.put("bjobs.-noheader", "44^0^PEND^alice^gang^-\n");
        engine.read();
        const auto placed = engine.place();
        REQUIRE_FALSE(placed);
        CHECK(placed.error().code == base::Code::unfit);
        CHECK(placed.error().text == "bmod: Bad resource name");
    }
    SECTION("an lsid that fails once") {
        engine.put("lsid.fails", "lsid: ls_getclustername(): a socket operation has failed\n");
        engine.put("bjobs.-noheader", "44^0^PEND^alice^gang^-\n");
        engine.read();
        CHECK(engine.lists() == Lines{"lsid", "bjobs|-w|-u|all"});
        engine.remove("lsid.fails");
        for (int reading = 0; reading < 60; ++reading)
            engine.read();
        engine.lists();
        engine.read();
        CHECK(engine.lists() == Lines{"lsid", fields});
    }
    SECTION("an LSF that does not answer may be another when it does") {
        engine.put("bjobs.fails", "LSF is down. Please wait ...\n");
        CHECK_FALSE(engine.rm->read());
        engine.lists();
        engine.put("lsid.", "volclava project 2.2, Nov 22 2026\n");
        engine.remove("bjobs.fails");
        engine.read();
        CHECK(engine.lists() == Lines{"lsid", "bjobs|-w|-u|all"});
    }
}

TEST_CASE("an idle host is tried by an exclusive job of our own, which gives way to those that wait") {
    const auto us = base::user_name(::geteuid());
    Engine engine("parked");
    engine.jobs({});
    engine.read();
    engine.asked();
    CHECK(engine.check_is_ready("n1"));
    CHECK(engine.check("n1", "").error().text == "[idle_checks] partition names no queue of LSF for it");
    REQUIRE(engine.check("n1", "railcheck"));
    CHECK(engine.asked() ==
          Lines{"bsub|-a|rail|-q|railcheck|-m|n1|-n|1|-x|-J|railyard-check|-W|5|-o|/dev/null|true|full"});

    // Ours is known by its user, whatever others call their jobs, while it waits and while it runs.
    const auto checks = [&] {
        Lines found;
        for (const auto& job : engine.rm->read()->jobs)
            found.push_back(fmt::format("{}{}", job.checks, job.wanted ? " wanted" : ""));
        return found;
    };
    engine.jobs({{"50", us, "PEND", "railcheck", "-", "railyard-check", "n1"},
                 {"51", "alice", "RUN", "normal", "n2", "railyard-check", "n2"},
                 {"52", us, "RUN", "normal", "n2", "other", "n2"}});
    CHECK(checks() == Lines{"n1", "", ""});
    engine.jobs({{"50", us, "RUN", "railcheck", "n1", "railyard-check", "n1"}});
    CHECK(checks() == Lines{"n1"});
    engine.asked();
    REQUIRE(engine.check("n1", "railcheck"));
    CHECK(engine.asked().empty()); // there is one

    // A job that is held waits for nothing; one that waits could use any host.
    engine.jobs({{"50", us, "RUN", "railcheck", "n1", "railyard-check", "n1"},
                 {"53", "alice", "PSUSP", "normal", "-", "train", "n1"}});
    CHECK(checks() == Lines{"n1", ""});
    CHECK(engine.check_is_ready("n2"));
    engine.jobs({{"50", us, "RUN", "railcheck", "n1", "railyard-check", "n1"},
                 {"53", "alice", "PEND", "normal", "-", "train", "n1"}});
    CHECK(checks() == Lines{"n1 wanted", ""});
    CHECK_FALSE(engine.check_is_ready("n2"));

    engine.asked();
    REQUIRE(engine.end_check(50, "n2"));
    REQUIRE(engine.end_check(53, "n1"));
    CHECK(engine.asked().empty());
    REQUIRE(engine.end_check(50, "n1"));
    CHECK(engine.asked() == Lines{"bkill|-s|KILL|50"});
}
