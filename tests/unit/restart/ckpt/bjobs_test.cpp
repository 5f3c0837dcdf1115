#include "restart/ckpt/bjobs.hpp"

#include "folder.hpp"
#include "restart/ckpt/session.hpp"

#include <cstdlib>

using namespace restart::ckpt;
using namespace ckpt_test;

namespace {

constexpr const char* head =
    "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n";

std::string row(const std::string& id, const std::string& state) {
    return id + "     alice   " + state +
           "   rail       ctl         4*n4:4*n2 train\nEXIT run  Nov 22 01:35\n"; // of several lines
}

// A bjobs of our own on PATH, which answers with the files named by jobs.
class Bjobs {
public:
    Bjobs() {
        write(folder_.path / "bjobs",
              "#!/bin/sh\n[ \"$1\" = -w ] || exit 3\ncd " + folder_.path.string() +
                  "\n[ -e \"$2\" ] || { echo \"Job <$2> is not found\" >&2; exit 255; }\n"
                  "cat \"$2\"; [ ! -e \"$2.next\" ] || mv \"$2.next\" \"$2\"\n");
        std::filesystem::permissions(folder_.path / "bjobs", std::filesystem::perms::all);
        ::setenv("PATH", (folder_.path.string() + ":" + old_).c_str(), 1);
    }
    Bjobs(const Bjobs&) = delete;
    Bjobs& operator=(const Bjobs&) = delete;
    ~Bjobs() { ::setenv("PATH", old_.c_str(), 1); }
    void say(const std::string& id, const std::string& state, const std::string& next = {}) const {
        write(folder_.path / id, head + row(id.substr(0, id.find('[')), state));
        if (!next.empty()) write(folder_.path / (id + ".next"), head + row(id, next));
    }
    void forget(const std::string& id) const { std::filesystem::remove(folder_.path / id); }

private:
    Folder folder_;
    std::string old_ = std::getenv("PATH");
};

Options options(const std::filesystem::path& dir, Work job) {
    Options some;
    some.dir = dir.string();
    some.job = job;
    some.lsf = true;
    return some;
}

constexpr base::Duration patience(60'000), settles(600);

} // namespace

TEST_CASE("a job's state is read from bjobs's row, whatever its name says") {
    CHECK(*read_bjobs(head + row("118", "RUN"), 0, 118) == "RUN");
    CHECK(read_bjobs("Job <118> is not found\n", 255, 118).value_or("x").empty());
    const auto untold = [](std::string_view printed, int status) {
        const auto state = read_bjobs(printed, status, 118);
        REQUIRE_FALSE(state);
        CHECK(state.error().code == base::Code::unavailable);
    };
    untold("", 0);
    untold(head, 0);
    untold(head + row("119", "RUN"), 0);
    untold("Job <119> is not found\n", 255);
    untold("batch system daemon not responding ... still trying\n", 255);
}

TEST_CASE("a job of LSF is over when it is done, forgotten, or has shown as ended for some time") {
    const Bjobs bjobs;
    bjobs.say("40", "RUN");
    const auto state = [](base::JobId job) {
        return state_in_lsf(job, 40, patience, settles).value_or("unknown");
    };
    for (const auto* alive : {"RUN", "PEND", "PSUSP", "UNKWN", "SSUSP"}) {
        bjobs.say("12", alive);
        CHECK(state(12) == alive);
    }
    bjobs.say("12", "DONE");
    CHECK(state(12).empty());
    bjobs.say("12", "EXIT");
    CHECK(state(12).empty());
    bjobs.say("12", "EXIT", "PEND"); // it is being requeued
    CHECK(state(12) == "PEND");
    bjobs.forget("12");
    CHECK(state(12).empty());
    bjobs.say("7[2]", "RUN");
    CHECK(state(base::JobId(7U, 2)) == "RUN");
    bjobs.forget("40"); // another LSF
    CHECK(state(12) == "unknown");
}

TEST_CASE("under LSF a second job is refused while the first is not over, and goes on from it then") {
    const Folder folder;
    const Bjobs bjobs;
    bjobs.say("12", "RUN");
    bjobs.say("40", "RUN");
    auto first = Session::open(options(folder.path, 12));
    REQUIRE(first);
    REQUIRE(first->begin(1));
    REQUIRE(first->commit());
    CHECK_THAT(Session::open(options(folder.path, 40)).error().text, Catch::Contains("bjobs says RUN"));
    bjobs.say("12", "DONE");
    auto second = Session::open(options(folder.path, 40));
    REQUIRE(second);
    CHECK_THAT(second->notice(), Catch::EndsWith("taken over from job 12, which is over"));
    CHECK(second->latest(Depth::checksums)->newest->manifest.job == 12);
}
