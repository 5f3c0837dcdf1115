#include "base/file.hpp"
#include "sessions.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace restart::ckpt;
using namespace ckpt_test;
namespace fs = std::filesystem;

TEST_CASE("a committed checkpoint is found, with its files and measured cost") {
    const Folder folder;
    auto session = open(folder.path);
    CHECK_FALSE(session.latest(Depth::checksums)->newest);
    const auto stage = session.begin(400);
    REQUIRE(stage);
    CHECK(stage->is_absolute());
    write(*stage / "a", "12345");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_FALSE(session.latest(Depth::checksums)->newest); // not before the commit
    const auto done = session.commit();
    REQUIRE(done);
    CHECK(done->path == folder.path / "ckpt-E0000-S000000000400");
    CHECK(done->manifest.cost_s >= 0.02);
    const auto latest = session.latest(Depth::checksums);
    REQUIRE(latest->newest);
    CHECK(latest->newest->manifest.files.size() == 1);
    CHECK(latest->newest->manifest.job == 12);
    CHECK(read(latest->newest->path / "a") == "12345");
    check_clean(folder.path);
}

TEST_CASE("a checkpoint damaged in any way is passed over by name") {
    const auto damage = GENERATE(std::string("no manifest"), "torn manifest", "missing file", "cut file",
                                 "longer file", "changed byte", "file is a link", "folder is a link",
                                 "file is a pipe", "manifest is a link", "renamed", "is a file", "is a link");
    const Folder folder;
    auto session = open(folder.path);
    put(session, 1);
    put(session, 2);
    const auto bad = folder.path / "ckpt-E0000-S000000000002";
    const auto file = bad / "rank-0.bin", manifest = bad / "MANIFEST.json";
    const auto as_link = [&](const fs::path& path) {
        fs::rename(path, folder.path / "elsewhere");
        fs::create_symlink(folder.path / "elsewhere", path);
    };
    if (damage == "no manifest") fs::remove(manifest);
    if (damage == "torn manifest") fs::resize_file(manifest, fs::file_size(manifest) - 3);
    if (damage == "missing file") fs::remove(file);
    if (damage == "cut file") fs::resize_file(file, 3);
    if (damage == "longer file") fs::resize_file(file, 50);
    if (damage == "changed byte") write(file, "stape");
    if (damage == "file is a link") as_link(file);
    if (damage == "folder is a link") as_link(bad / "sub");
    if (damage == "manifest is a link") as_link(manifest);
    if (damage == "is a link") as_link(bad);
    if (damage == "file is a pipe") {
        fs::remove(file);
        REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    }
    if (damage == "renamed") fs::rename(bad, folder.path / "ckpt-E0000-S000000000003");
    if (damage == "is a file") {
        fs::remove_all(bad);
        write(bad, "x");
    }
    INFO(damage);
    const auto latest = session.latest(Depth::checksums);
    REQUIRE(latest);
    REQUIRE(latest->newest);
    CHECK(latest->newest->manifest.id.step == 1);
    REQUIRE(latest->skipped.size() == 1);
    CHECK_THAT(latest->skipped[0], Catch::StartsWith(folder.path.string() + "/ckpt-E0000-S00000000000"));
    if (damage != "changed byte") CHECK(newest(session, Depth::sizes) == 1);
}

TEST_CASE("a restarted job fences the old incarnation off, whatever it was doing") {
    const Folder folder;
    auto old = open(folder.path, 0);
    put(old, 100);
    const auto stage = old.begin(200);
    REQUIRE(stage);
    write(*stage / "a", "old");

    auto fresh = open(folder.path, 1);
    CHECK(newest(fresh, Depth::checksums) == 100);
    const auto late = old.commit();
    REQUIRE_FALSE(late);
    CHECK(late.error().code == base::Code::denied);
    CHECK_THAT(late.error().text, Catch::Contains("fenced off"));
    CHECK(old.begin(300).error().code == base::Code::denied);
    CHECK(newest(fresh) == 100);
    put(fresh, 150);
    CHECK(newest(fresh) == 150);
    check_clean(folder.path);
}

TEST_CASE("a stage that is taken away is an error, not a checkpoint") {
    const Folder folder;
    auto old = open(folder.path, 0);
    const auto stage = old.begin(200);
    REQUIRE(stage);
    fs::remove_all(*stage);
    const auto gone = old.commit();
    REQUIRE_FALSE(gone);
    CHECK(gone.error().code == base::Code::not_found);
    CHECK_THAT(gone.error().text, Catch::Contains("has vanished"));

    const auto again = old.begin(200);
    REQUIRE(again);
    auto fresh = open(folder.path, 1);
    put(fresh, 150); // removes what older epochs staged
    CHECK_FALSE(fs::exists(*again));
    CHECK(old.commit().error().code == base::Code::denied);
    CHECK(newest(fresh) == 150);
}

TEST_CASE("two writers of one incarnation: the second is refused, the first goes on") {
    const Folder folder;
    auto one = open(folder.path), two = open(folder.path);
    const auto stage = one.begin(5);
    REQUIRE(stage);
    write(*stage / "a", "x");
    const auto refused = two.begin(5);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::Code::unavailable);
    CHECK_FALSE(two.begin(6));
    REQUIRE(one.commit());
    const auto again = two.begin(5);
    REQUIRE_FALSE(again);
    CHECK(again.error().code == base::Code::unfit);
    put(two, 6);
    CHECK(newest(one) == 6);
}

TEST_CASE("many processes committing at once never leave a torn directory") {
    const Folder folder;
    std::vector<pid_t> children;
    for (int who = 0; who < 4; ++who) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            Options options;
            options.dir = folder.path.string();
            options.job = 12;
            auto session = Session::open(options);
            int committed = 0;
            for (std::uint64_t step = 1; session && step <= 40; ++step) {
                const auto stage = session->begin(step);
                if (!stage) continue;
                if (!base::write_file(*stage / "a",
                                      std::string(static_cast<std::size_t>(who + 1) * 1000, 'x')))
                    ::_exit(90);
                if (session->commit()) ++committed;
            }
            ::_exit(committed);
        }
        children.push_back(pid);
    }
    int total = 0;
    for (const pid_t pid : children) {
        int status = 0;
        ::waitpid(pid, &status, 0);
        REQUIRE(WIFEXITED(status));
        REQUIRE(WEXITSTATUS(status) <= 40);
        total += WEXITSTATUS(status);
    }
    CHECK(total >= 1);
    auto session = open(folder.path);
    const auto latest = session.latest(Depth::checksums);
    CHECK(latest->skipped.empty());
    CHECK(latest->newest);
    check_clean(folder.path);
}

TEST_CASE(
    "a process killed at any point of a checkpoint leaves the last one, and its stage is cleared away") {
    const Folder folder;
    {
        auto session = open(folder.path);
        put(session, 1);
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
        Options options;
        options.dir = folder.path.string();
        options.job = 12;
        auto session = Session::open(options);
        for (std::uint64_t step = 2;; ++step) {
            const auto stage = session->begin(step);
            if (!stage || !base::write_file(*stage / "a", std::string(3'000'000, 'x')) || !session->commit())
                ::_exit(1);
        }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    write(folder.path / ".stage-E0000-S000000000999" / "sub" / "half", "written"); // whatever the moment was
    auto session = open(folder.path, 1);
    const auto latest = session.latest(Depth::checksums);
    CHECK(latest->skipped.empty());
    REQUIRE(latest->newest);
    put(session, 1000);
    CHECK(newest(session) == 1000);
    check_clean(folder.path);
}

TEST_CASE("clearing a dead stage away follows no link") {
    const Folder folder, other;
    write(other.path / "precious", "x");
    fs::create_directory(folder.path / ".stage-E0000-S000000000001");
    fs::create_directory_symlink(other.path, folder.path / ".stage-E0000-S000000000001" / "link");
    fs::create_directory_symlink(other.path, folder.path / ".trash-E0000-S000000000002");
    write(folder.path / ".stage-E0007-S000000000001" / "a", "of a later incarnation");
    auto session = open(folder.path);
    put(session, 1);
    CHECK(read(other.path / "precious") == "x");
    CHECK(names(folder.path, ".trash-").empty());
    CHECK(names(folder.path, ".stage-") == std::vector<std::string>{".stage-E0007-S000000000001"});
}

TEST_CASE("what a checkpoint cannot hold is refused and nothing is published") {
    const auto what = GENERATE(std::string("link"), "pipe", "manifest", "bytes");
    const Folder folder;
    auto session = open(folder.path);
    put(session, 1);
    const auto stage = *session.begin(2);
    write(stage / "good", "x");
    if (what == "link") fs::create_symlink("/etc/passwd", stage / "bad");
    if (what == "pipe") REQUIRE(::mkfifo((stage / "bad").c_str(), 0600) == 0);
    if (what == "manifest") write(stage / "MANIFEST.json", "{}");
    if (what == "bytes") write(stage / "bad\xff", "x");
    INFO(what);
    const auto done = session.commit();
    REQUIRE_FALSE(done);
    CHECK(done.error().code == base::Code::usage);
    CHECK_THAT(done.error().text, Catch::StartsWith(stage.string()));
    CHECK(newest(session) == 1);
    check_clean(folder.path);
}

TEST_CASE("what NFS keeps of removed files is no part of a checkpoint") {
    const Folder folder;
    auto session = open(folder.path);
    const auto stage = *session.begin(1);
    write(stage / "a", "x");
    write(stage / ".nfs00000000000a1b2c0000001f", "removed, and open in some process");
    write(stage / ".nfs-notes", "a file of the program's");
    const auto done = session.commit();
    REQUIRE(done);
    CHECK(done->manifest.files.size() == 2);
    fs::remove(done->path / ".nfs00000000000a1b2c0000001f"); // closed
    CHECK(session.latest(Depth::checksums)->skipped.empty());
}

TEST_CASE("a file in the stage that has another name is published as a copy of its own") {
    const Folder folder, other;
    write(other.path / "weights", "before");
    auto session = open(folder.path);
    const auto stage = *session.begin(1);
    fs::create_hard_link(other.path / "weights", stage / "weights");
    fs::permissions(stage / "weights", fs::perms::owner_read | fs::perms::owner_write);
    const auto done = session.commit();
    INFO((done ? "" : done.error().text));
    REQUIRE(done);
    write(other.path / "weights", "after!");
    CHECK(read(done->path / "weights") == "before");
    CHECK(fs::hard_link_count(done->path / "weights") == 1);
    CHECK((fs::status(done->path / "weights").permissions() & fs::perms::all) ==
          static_cast<fs::perms>(0600));
    CHECK(session.latest(Depth::checksums)->skipped.empty());
    CHECK(names(done->path, "").size() == 2);
}

TEST_CASE("an aborted or forgotten checkpoint leaves nothing") {
    const Folder folder;
    {
        auto session = open(folder.path);
        write(*session.begin(1) / "a", "x");
        CHECK(session.abort());
        CHECK(session.abort());
        check_clean(folder.path);
        write(*session.begin(1) / "a", "x");
        CHECK_THAT(session.begin(2).error().text, Catch::Contains("is begun already"));
        CHECK(session.begin(2).error().code == base::Code::usage);
    }
    check_clean(folder.path);
    auto session = open(folder.path);
    CHECK(session.commit().error().code == base::Code::usage);
    CHECK_THAT(session.begin(max_step + 1).error().text, Catch::Contains("beyond"));
    put(session, max_step);
}

TEST_CASE("a full disk ends in a clear error with the last checkpoint in place") {
    const Folder folder;
    auto session = open(folder.path);
    put(session, 1);
    write(*session.begin(2) / "a", "state");
    // Files may not grow any more: the manifest cannot be written.
    struct rlimit old {};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small { 64, old.rlim_max };
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto done = session.commit();
    ::setrlimit(RLIMIT_FSIZE, &old);
    ::signal(SIGXFSZ, handler);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == base::Code::io);
    CHECK_THAT(done.error().text, Catch::Contains("MANIFEST.json: File too large"));
    CHECK_FALSE(session.due().due());
    CHECK(newest(session, Depth::checksums) == 1);
    check_clean(folder.path);
    put(session, 2);
    CHECK(newest(session) == 2);
}

TEST_CASE("a directory that cannot be used is named with a way out") {
    const Folder folder;
    Options options;
    options.dir = (folder.path / "no").string();
    const auto missing = Session::open(options);
    CHECK(missing.error().code == base::Code::not_found);
    CHECK_THAT(missing.error().text, Catch::Contains("create it (mkdir -p)"));
    write(folder.path / "file", "x");
    options.dir = (folder.path / "file").string();
    CHECK_THAT(Session::open(options).error().text, Catch::Contains("is not a directory"));
    options.dir = (folder.path / "file" / "below").string();
    CHECK(Session::open(options).error().code == base::Code::io);
    options.dir = "/proc/self"; // nothing can be created there, not even by root
    const auto read_only = Session::open(options);
    REQUIRE_FALSE(read_only);
    CHECK(read_only.error().code == base::Code::io);
    options.read_only = true;
    auto looking = Session::open(options);
    REQUIRE(looking);
    CHECK_FALSE(looking->latest(Depth::sizes)->newest);
    CHECK_THAT(looking->begin(1).error().text, Catch::Contains("opened only to look"));
}

TEST_CASE("a directory reached by a link is used where it stands") {
    const Folder folder;
    fs::create_directory(folder.path / "real");
    fs::create_directory_symlink(folder.path / "real", folder.path / "link");
    auto session = open(folder.path / "link");
    put(session, 1);
    CHECK(session.latest(Depth::sizes)->newest->path.parent_path() == folder.path / "real");
}

TEST_CASE("the measured cost sets the interval without an agent") {
    const Folder folder;
    auto session = open(folder.path);
    CHECK(session.due().interval.source == Source::first);
    put(session, 1);
    CHECK(session.due().interval.source == Source::young);
    CHECK_FALSE(session.due().due());
    // A command started later goes by the files.
    auto later = open(folder.path);
    later.count_from_files();
    CHECK(later.interval().source == Source::young);
    CHECK_FALSE(later.due().due());
}

TEST_CASE("a checkpoint that is written beside the work costs what the program stood still for it") {
    const Folder folder;
    Options options;
    options.dir = folder.path.string();
    options.mtbf = restart::Seconds{1e6}; // an hour for 6.5 s
    auto opened = Session::open(options);
    REQUIRE(opened);
    auto& session = *opened;
    REQUIRE(session.begin(1));
    const auto done = session.commit({{}, restart::Seconds{6.5}});
    REQUIRE(done);
    CHECK(done->manifest.cost_s == 6.5);
    const auto young = restart::young_interval(restart::Seconds{6.5}, restart::Seconds{1e6});
    CHECK(session.interval().length == *young);
    // Nothing of the time to the commit is part of the interval: the program worked since begin.
    REQUIRE(session.begin(2));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    REQUIRE(session.commit({{}, restart::Seconds{0}}));
    const auto verdict = session.due();
    CHECK(verdict.left.count() <= verdict.interval.length.count() - 0.03);
}
