#include "restart/ckpt/asking.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace restart::ckpt;
using base::parse_ckpt_signal;
using Catch::Contains;

namespace {

// A shell of a job with these variables, once it has done what comes first; killed in the end.
class Program {
public:
    Program(const std::string& variables, const std::string& first,
            const std::string& then = "sleep 600; true") {
        int ready[2];
        REQUIRE(::pipe(ready) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::setsid();
            ::dup2(ready[1], 1);
            const auto text = fmt::format("exec env {} /bin/sh -c '{}; echo; {}'", variables, first, then);
            ::execl("/bin/sh", "sh", "-c", text.c_str(), static_cast<char*>(nullptr));
            ::_exit(127);
        }
        ::close(ready[1]);
        char byte = 0;
        REQUIRE(::read(ready[0], &byte, 1) == 1);
        ::close(ready[0]);
    }
    ~Program() {
        ::kill(-pid_, SIGKILL);
        wait();
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    pid_t pid() const { return pid_; }
    // Its exit status, or minus the signal that ended it.
    int wait() {
        while (!ended_ && ::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {}
        ended_ = true;
        return WIFSIGNALED(status_) ? -WTERMSIG(status_) : WEXITSTATUS(status_);
    }
    bool runs() { return !ended_ && ::waitpid(pid_, &status_, WNOHANG) == 0; }

private:
    pid_t pid_ = -1;
    int status_ = 0;
    bool ended_ = false;
};

// No process but those of one test has it.
std::string job() {
    static int jobs = 0;
    return fmt::format("SLURM_JOB_ID={}{:03}", ::getpid(), ++jobs);
}

Asking asking(const std::string& way, const std::string& of, std::optional<pid_t> script = {}) {
    return {*parse_ckpt_signal(way), {of}, script};
}

constexpr auto saves = "trap \"exit 7\" USR1", waits = "while :; do sleep 0.05; done";

} // namespace

TEST_CASE("a job is known by what its resource manager has put into its environment") {
    std::map<std::string, std::string> environment;
    const auto marks = [&] {
        return job_marks([&](const char* name) -> const char* {
            const auto found = environment.find(name);
            return found == environment.end() ? nullptr : found->second.c_str();
        });
    };
    CHECK(marks().empty());
    environment = {{"RAIL_JOB_ID", "7[3]"}};
    CHECK(marks().empty()); // of which start is not known
    environment["RAIL_RESTART_COUNT"] = "1";
    CHECK(marks() == std::vector<std::string>{"RAIL_JOB_ID=7[3]", "RAIL_RESTART_COUNT=1"});
    environment["SLURM_JOB_ID"] = "12";
    CHECK(marks() == std::vector<std::string>{"SLURM_JOB_ID=12"});
}

TEST_CASE("ranks are what the nearest launcher has given a rank, without what they started") {
    const auto variables = [](std::string_view text) {
        std::string environment(text);
        std::replace(environment.begin(), environment.end(), ' ', '\0');
        return environment;
    };
    const std::map<pid_t, pid_t> parents{{11, 10}, {12, 10}, {21, 11}, {22, 20}, {20, 12}, {30, 2}, {31, 30}};
    const auto parent = [&](pid_t pid) { return parents.count(pid) > 0 ? parents.at(pid) : 1; };
    const auto one = [&](pid_t pid, std::string_view text) {
        return Catcher{pid, parent(pid), variables(text)};
    };
    // srun in the script (9), torchrun in its task (10), two ranks, and their data loaders, one by a shell.
    const std::vector torch{one(9, "SLURM_JOB_ID=1"),          one(10, "SLURM_JOB_ID=1 SLURM_STEP_ID=0"),
                            one(11, "SLURM_STEP_ID=0 RANK=0"), one(12, "SLURM_STEP_ID=0 RANK=1"),
                            one(21, "SLURM_STEP_ID=0 RANK=0"), one(22, "SLURM_STEP_ID=0 RANK=1")};
    CHECK(ranks_among(torch, {}, parent) == std::vector<pid_t>{11, 12});
    const std::vector srun{one(9, "SLURM_JOB_ID=1"), one(10, "SLURM_JOB_ID=1 SLURM_STEP_ID=0")};
    CHECK(ranks_among(srun, {}, parent) == std::vector<pid_t>{10});
    const std::vector mpi{one(9, "LOCAL_RANK=1"), one(11, "OMPI_COMM_WORLD_RANK=3")};
    CHECK(ranks_among(mpi, {}, parent) == std::vector<pid_t>{11});
    // Without a launcher: all but the script, which catches it for reasons of its own.
    const std::vector plain{one(30, "SLURM_JOB_ID=1"), one(31, "SLURM_JOB_ID=1")};
    CHECK(ranks_among(plain, 30, parent) == std::vector<pid_t>{31});
    CHECK(ranks_among({}, 30, parent).empty());
}

TEST_CASE("a program that catches the signal is sent it, and no other process") {
    const auto mine = job(), others = job();
    Program rank(mine + " RANK=0", saves, waits);
    Program deaf(mine + " RANK=1", "true"); // it would die of it
    Program ignores(mine + " RANK=2", "trap \"\" USR1");
    Program another(others + " RANK=0", saves, waits); // of another job
    CHECK(*asking("USR1@ranks", mine).foresee() ==
          fmt::format("SIGUSR1 would be sent to process {} (--ckpt-signal=USR1@ranks)", rank.pid()));
    CHECK(rank.runs());
    const auto asked = asking("USR1@ranks", mine).ask();
    REQUIRE(asked);
    CHECK(*asked == fmt::format("SIGUSR1 sent to process {}", rank.pid()));
    CHECK(rank.wait() == 7);
    CHECK(deaf.runs());
    CHECK(ignores.runs());
    CHECK(another.runs());
}

TEST_CASE("where no process catches the signal it is not sent, and said") {
    const auto mine = job();
    Program deaf(mine + " RANK=0", "true");
    const auto asked = asking("TERM@ranks", mine).ask();
    REQUIRE_FALSE(asked);
    CHECK_THAT(asked.error().text,
               Contains("that SIGTERM may be sent catches it (--ckpt-signal=TERM@ranks)"));
    CHECK(deaf.runs());
    Asking outside(*parse_ckpt_signal("TERM@ranks"), {}, {});
    CHECK_THAT(outside.ask().error().text, Contains("this is not in a job"));
    CHECK_THAT(asking("none", mine).ask().error().text, Contains("no way to ask it is known"));
}

TEST_CASE("a process by its number is sent the signal only where it is the job's and catches it") {
    const auto mine = job(), others = job();
    Program rank(mine, saves, waits), another(others, saves, waits), deaf(mine, "true");
    const auto ask = [&](pid_t pid) { return asking(fmt::format("USR1@{}", pid), mine).ask(); };
    CHECK_FALSE(ask(another.pid()));
    CHECK_FALSE(ask(deaf.pid()));
    CHECK_FALSE(ask(::getpid()));
    CHECK_FALSE(ask(::getppid()));
    CHECK(ask(rank.pid()));
    CHECK(rank.wait() == 7);
    CHECK(another.runs());
    CHECK(deaf.runs());
    CHECK_FALSE(ask(rank.pid())); // it is gone
}

TEST_CASE("the script is the job's, or what was started for it by who runs its line") {
    const auto mine = job();
    Program script(mine, saves, waits);
    CHECK(asking("USR1@script", mine, script.pid()).ask());
    CHECK(script.wait() == 7);
    Program line(mine, saves, waits); // of this process, which is none of the job's
    CHECK(asking("USR1@script", mine, ::getpid()).ask());
    CHECK(line.wait() == 7);
    Program unknown(mine, saves, waits);
    CHECK_FALSE(asking("USR1@script", mine).ask());
    CHECK(unknown.runs());
}

TEST_CASE("a file asks until the program has saved, and one that an earlier start left does not") {
    const test::Folder folder;
    const auto path = folder.path / "save now", link = folder.path / "link";
    const auto text = [&] {
        std::ostringstream all;
        all << std::ifstream(path).rdbuf();
        return all.str();
    };
    {
        auto file = asking("file:" + path.string(), job());
        CHECK_FALSE(std::filesystem::exists(path));
        const auto asked = file.ask();
        REQUIRE(asked);
        CHECK(*asked == path.string() + " made");
        CHECK(text() == "railckpt: save\n");
        CHECK(*file.ask() == path.string() + " is there already");
        file.done();
        CHECK_FALSE(std::filesystem::exists(path));
        REQUIRE(file.ask());
    } // its host is lost
    CHECK(std::filesystem::exists(path));
    auto again = asking("file:" + path.string(), job());
    CHECK(again.foresee()->starts_with(path.string() + " would be made"));
    CHECK(std::filesystem::exists(path));
    again.begin();
    CHECK_FALSE(std::filesystem::exists(path));

    std::ofstream(path) << "a user's own\n";
    auto own = asking("file:" + path.string(), job());
    own.begin();
    CHECK(*own.ask() == path.string() + " is there already");
    own.done();
    CHECK(text() == "a user's own\n");

    std::filesystem::create_symlink(folder.path / "elsewhere", link);
    auto linked = asking("file:" + link.string(), job());
    linked.begin();
    CHECK(linked.ask());
    linked.done();
    CHECK(std::filesystem::is_symlink(link));
    CHECK_FALSE(std::filesystem::exists(folder.path / "elsewhere"));
    auto nowhere = asking("file:" + (folder.path / "none" / "save").string(), job());
    const auto failed = nowhere.ask();
    REQUIRE_FALSE(failed);
    CHECK_THAT(failed.error().text, Contains("No such file or directory"));
}
