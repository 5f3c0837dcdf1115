// What slurmd has loaded: told while it lives, by whatever process it has become, and by nobody else.
#include "base/slurmd_record.hpp"

#include "base/file.hpp"
#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using base::SlurmdRecord;

// A process that does something, says that it is done, and stays.
class Process {
public:
    template <class Work> explicit Process(Work work) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            work();
            [[maybe_unused]] const auto n = ::write(ends[1], "", 1);
            ::pause();
            ::_exit(0);
        }
        char done = 0;
        REQUIRE(::read(ends[0], &done, 1) == 1);
        ::close(ends[0]);
        ::close(ends[1]);
    }
    ~Process() { end(); }
    void end() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

private:
    pid_t pid_ = 0;
};

const SlurmdRecord record{{"select_rail", "spank_rail"}};

} // namespace

TEST_CASE("slurmd_record: the plugins are those that are mapped, once each") {
    const char* maps = "7f1-7f2 r-xp 0 08:01 1 /usr/lib/slurm/select_rail.so\n"
                       "7f3-7f4 r--p 0 08:01 1 /usr/lib/slurm/select_rail.so\n"
                       "7f5-7f6 r-xp 0 08:01 2 /opt/a b/spank_rail.so (deleted)\n"
                       "7f7-7f8 r-xp 0 08:01 3 /usr/lib/slurm/select_cons_tres.so\n"
                       "7f9-7fa rw-p 0 00:00 0\n7fb-7fc rw-p 0 00:00 0 [heap]\n";
    CHECK(base::slurmd_record(maps) == record);
    CHECK(base::slurmd_record("") == SlurmdRecord{});
}

TEST_CASE("slurmd_record: it is told while the daemon lives") {
    const test::Folder folder;
    const auto run = (folder.path / "run").string();
    REQUIRE_FALSE(base::read_slurmd_record(run));
    {
        Process slurmd([&] {
            (void)base::write_slurmd_record(run, {});
            (void)base::write_slurmd_record(run, record); // started anew in place
        });
        const auto read = base::read_slurmd_record(run);
        REQUIRE(read);
        CHECK(*read == record);
        struct stat info {};
        REQUIRE(::stat((run + "/slurmd.json").c_str(), &info) == 0);
        CHECK((info.st_mode & 0777) == 0600); // who can open it could hold the lock
    }
    const auto over = base::read_slurmd_record(run);
    REQUIRE_FALSE(over);
    CHECK(over.error().code == base::Code::not_found);
}

TEST_CASE("slurmd_record: it is told of a daemon that has forked into the background") {
    const test::Folder folder;
    const auto run = (folder.path / "run").string();
    // The parent writes, its child goes on, as slurmd does without -D.
    Process slurmd([&] { (void)base::write_slurmd_record(run, record); });
    CHECK(base::read_slurmd_record(run));
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const auto parent = ::fork();
    if (parent == 0) {
        (void)base::write_slurmd_record(run, record);
        if (const auto child = ::fork(); child != 0) {
            [[maybe_unused]] const auto n = ::write(ends[1], &child, sizeof child);
            ::_exit(0);
        }
        ::pause();
        ::_exit(0);
    }
    pid_t child = 0;
    REQUIRE(::read(ends[0], &child, sizeof child) == sizeof child);
    ::close(ends[0]);
    ::close(ends[1]);
    REQUIRE(::waitpid(parent, nullptr, 0) == parent);
    slurmd.end(); // its record is not the file that is there now
    CHECK(base::read_slurmd_record(run));
    ::kill(child, SIGKILL);
    CHECK(test::eventually([&] { return !base::read_slurmd_record(run); }));
}

TEST_CASE("slurmd_record: what is not one of ours is refused with its place") {
    const test::Folder folder;
    const auto run = folder.path.string();
    const auto path = run + "/slurmd.json";
    const auto refusal = [&](const std::string& text) {
        // Written in place, so that the process that holds the file's lock goes on holding it.
        const auto file = std::fopen(path.c_str(), "w");
        REQUIRE(file != nullptr);
        std::fputs(text.c_str(), file);
        std::fclose(file);
        const auto read = base::read_slurmd_record(run);
        REQUIRE_FALSE(read);
        CHECK(read.error().code == base::Code::input);
        return read.error().text;
    };
    Process slurmd([&] { (void)base::write_slurmd_record(run, record); });
    REQUIRE(base::read_slurmd_record(run));
    CHECK(refusal("").starts_with(path));
    CHECK(refusal("[]").starts_with(path));
    CHECK(refusal(R"({"modules":[]})").find("plugins") != std::string::npos);
    CHECK(refusal(R"({"plugins":["a/b"]})").find("plugins[0]") != std::string::npos);
    CHECK(refusal(R"({"plugins":["x","\u001b[2J"]})").find("plugins[1]") != std::string::npos);
    CHECK(refusal(std::string(10'000, ' ')).starts_with(path));
}
