#include "restart/ckpt/squeue.hpp"

#include "folder.hpp"
#include "restart/ckpt/session.hpp"

#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace restart::ckpt;
using namespace ckpt_test;

namespace {

// A squeue of our own on PATH for one test, a script that may be replaced.
class Squeue {
public:
    explicit Squeue(const std::string& body) { say(body); }
    Squeue(const Squeue&) = delete;
    Squeue& operator=(const Squeue&) = delete;
    ~Squeue() { ::setenv("PATH", old_.c_str(), 1); }
    void say(const std::string& body) {
        write(folder_.path / "squeue", "#!/bin/sh\n" + body + "\n");
        std::filesystem::permissions(folder_.path / "squeue", std::filesystem::perms::all);
        ::setenv("PATH", (folder_.path.string() + ":" + old_).c_str(), 1);
    }

private:
    Folder folder_;
    std::string old_ = std::getenv("PATH");
};

Options options(const std::filesystem::path& dir, Work job, std::uint32_t restart = 0) {
    Options some;
    some.dir = dir.string();
    some.job = job;
    some.restart = restart;
    some.cluster = "east";
    return some;
}

} // namespace

TEST_CASE("a job's state is read from squeue's lines, in which the asker must stand") {
    CHECK(*read_queue("12 RUNNING\n40 RUNNING\n", 12, 40) == "RUNNING");
    CHECK(read_queue("120 RUNNING\n40 RUNNING\n", 12, 40).value_or("x").empty());
    CHECK(read_queue("12 PENDING\n40 RUNNING\n", 12, 40).value_or("") == "PENDING");
    const auto untold = [](std::string_view lines, const char* why) {
        const auto state = read_queue(lines, 12, 40);
        REQUIRE_FALSE(state);
        CHECK(state.error().code == base::Code::unavailable);
        CHECK_THAT(state.error().text, Catch::Contains(why));
    };
    untold("", "does not know job 40");
    untold("12 RUNNING\n", "does not know job 40");
    untold("40 RUNNING\n12 RUNN", "cut off");
    untold("JOBID STATE\n", "says \"JOBID STATE\"");
    untold("40 \n", "says");
}

TEST_CASE("squeue is asked plainly whatever the environment and signals are") {
    Squeue squeue("[ -z \"$SQUEUE_FORMAT$SLURM_CLUSTERS\" ] || exit 3\n"
                  "echo \"$*\" | grep -q -- '--user='\"$(id -u)\"' ' || exit 4\n"
                  "echo noise >&2; echo 12 RUNNING; echo 40 RUNNING");
    ::setenv("SQUEUE_FORMAT", "%j", 1);
    ::setenv("SLURM_CLUSTERS", "west", 1);
    CHECK(state_in_queue(12, 40).value_or("-") == "RUNNING");
    CHECK(state_in_queue(13, 40).value_or("-").empty());
    ::unsetenv("SQUEUE_FORMAT");
    ::unsetenv("SLURM_CLUSTERS");
    squeue.say("echo 40 RUNNING; exit 1");
    CHECK_THAT(state_in_queue(12, 40).error().text, Catch::Contains("status 1"));
    squeue.say("exec sleep infinity"); // only the limit ends the wait
    CHECK_THAT(state_in_queue(12, 40, base::Duration(50)).error().text, Catch::Contains("no answer in time"));
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", "/nowhere", 1);
    CHECK_THAT(state_in_queue(12, 40).error().text, Catch::Contains("No such file"));
    ::setenv("PATH", path.c_str(), 1);
    // A program that ignores SIGCHLD leaves no status: that is not an answer.
    squeue.say("echo 40 RUNNING");
    const auto handler = ::signal(SIGCHLD, SIG_IGN);
    const auto state = state_in_queue(12, 40);
    ::signal(SIGCHLD, handler);
    REQUIRE_FALSE(state);
    CHECK_THAT(state.error().text, Catch::Contains("cannot be known"));
}

TEST_CASE("a second job or array task is refused while the first is not over, which goes on") {
    const Folder folder;
    Squeue squeue("echo 12 RUNNING; echo 40 RUNNING");
    auto first = Session::open(options(folder.path, 12));
    REQUIRE(first);
    for (const char* state : {"RUNNING", "PENDING", "SUSPENDED", "COMPLETING"}) { // pending: it is requeued
        squeue.say(std::string("echo 12 ") + state + "; echo 40 RUNNING");
        const auto second = Session::open(options(folder.path, 40));
        REQUIRE_FALSE(second);
        CHECK(second.error().code == base::Code::denied);
        CHECK_THAT(second.error().text,
                   Catch::StartsWith(folder.path.string() + ": job 12 owns") && Catch::Contains(state));
    }
    CHECK(read(folder.path / "epoch") == "0\n12 0 east\n");
    REQUIRE(first->begin(1));
    REQUIRE(first->commit());
    squeue.say("exit 1"); // slurmctld is away
    CHECK_THAT(Session::open(options(folder.path, 40)).error().text, Catch::Contains("not known to be over"));
    squeue.say("echo 40 RUNNING"); // the first has ended
    auto second = Session::open(options(folder.path, 40));
    REQUIRE(second);
    CHECK_THAT(second->notice(), Catch::EndsWith("taken over from job 12, which is over"));
    CHECK(Session::open(options(folder.path, 40))->notice().empty());
    CHECK(first->begin(2).error().code == base::Code::denied);
    CHECK(second->latest(Depth::checksums)->newest->manifest.job == 12); // a chain goes on from it
}

TEST_CASE("a later incarnation of the owner asks nobody") {
    const Folder folder;
    Squeue squeue("exit 1");
    REQUIRE(Session::open(options(folder.path, 12)));
    CHECK(Session::open(options(folder.path, 12, 1)));
}

TEST_CASE("a job of another cluster is not over because this one does not know it") {
    const Folder folder;
    Squeue squeue("echo 40 RUNNING; echo 12 RUNNING");
    REQUIRE(Session::open(options(folder.path, 12)));
    for (const Work job : {Work(40), Work(12)}) {
        auto other = options(folder.path, job);
        other.cluster = "west";
        CHECK_THAT(Session::open(other).error().text, Catch::Contains("it is of cluster east"));
    }
}

TEST_CASE("work outside of a job must name the owner, and then fences it off") {
    const Folder folder;
    Squeue squeue("echo 0 RUNNING"); // asked or not
    auto owner = Session::open(options(folder.path, 12));
    REQUIRE(owner);
    auto person = options(folder.path, 0);
    CHECK_THAT(Session::open(person).error().text, Catch::Contains("--take-over=12"));
    person.take_over = Work(13);
    CHECK_FALSE(Session::open(person));
    CHECK(owner->begin(1));
    REQUIRE(owner->commit());
    person.take_over = Work(12);
    const auto taken = Session::open(person);
    REQUIRE(taken);
    CHECK_THAT(taken->notice(), Catch::EndsWith("taken over from job 12"));
    CHECK_THAT(owner->begin(2).error().text, Catch::Contains("work outside of any job has taken"));
}
