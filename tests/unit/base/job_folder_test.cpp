// Files of jobs: in nobody else's hands, there as long as their job, gone afterwards.
#include "base/job_folder.hpp"

#include "base/file.hpp"
#include "base/private_folder.hpp"
#include "base/unique_fd.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

TEST_CASE("a private folder is made readable for all, and one that is not private is refused") {
    const test::Folder folder;
    const auto run = (folder.path / "a/run").string();
    const auto umask = ::umask(077);
    CHECK(base::private_folder(run));
    ::umask(umask);
    CHECK((fs::status(run).permissions() & fs::perms::others_exec) != fs::perms::none);
    CHECK(base::private_folder(run));
    const auto refusal = [&] { return base::private_folder(run).error().text; };

    fs::permissions(run, fs::perms::others_write, fs::perm_options::add);
    CHECK(refusal() == run + ": others can write to it; files for jobs cannot be put there");
    fs::remove(run);
    fs::create_directory_symlink("/tmp", run);
    CHECK(refusal() == run + ": is no folder; files for jobs cannot be put there");
    fs::remove(run);
    std::ofstream(run) << "x";
    CHECK(refusal() == run + ": is no folder; files for jobs cannot be put there");
    fs::remove(run);
    // Where others can exchange it.
    fs::permissions(folder.path / "a", fs::perms::others_write, fs::perm_options::add);
    CHECK(refusal() == run + ": others can write to " + fs::canonical(folder.path / "a").string() +
                           "; files for jobs cannot be put there");
    CHECK_FALSE(fs::exists(run));
    if (::geteuid() != 0) {
        WARN("not root: another user's folder is not tried");
        return;
    }
    fs::permissions(folder.path / "a", fs::perms::others_write, fs::perm_options::remove);
    fs::create_directory(run);
    REQUIRE(::chown(run.c_str(), 1000, 1000) == 0);
    CHECK(refusal() == run + ": belongs to another user; files for jobs cannot be put there");
}

TEST_CASE("a job's folder stays while a life of the job holds it, and goes with the last") {
    const test::Folder folder;
    const auto run = (folder.path / "run").string();
    auto first = base::JobFolder::hold(run, 7);
    REQUIRE(first);
    const auto file = first->path() + "/hosts";
    REQUIRE(base::write_file(file, "n001\n"));
    CHECK(first->path() == run + "/job-7");
    CHECK(base::remove_left_job_folders(run) == 0);

    auto second = base::JobFolder::hold(run, 7); // requeued; the former slurmstepd is still on its way out
    REQUIRE(second);
    first->remove();
    CHECK(fs::exists(file));
    CHECK(base::remove_left_job_folders(run) == 0);
    second->remove();
    CHECK_FALSE(fs::exists(run + "/job-7"));
}

TEST_CASE("what a process that was killed has left is removed, and nothing else") {
    const test::Folder folder;
    const auto run = (folder.path / "run").string();
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const auto child = ::fork();
    if (child == 0) {
        auto held = base::JobFolder::hold(run, 8);
        if (!held || !base::write_file(held->path() + "/hosts", "n001\n")) ::_exit(1);
        [[maybe_unused]] const auto told = ::write(ready[1], "x", 1);
        for (;;)
            ::pause();
    }
    ::close(ready[1]);
    char x = 0;
    REQUIRE(::read(ready[0], &x, 1) == 1);
    ::close(ready[0]);
    for (const char* other : {"job-x", "job-", "jobs", "fabric-n001"})
        fs::create_directory(fs::path(run) / other);
    fs::create_directory_symlink(folder.path, fs::path(run) / "job-9");
    CHECK(base::remove_left_job_folders(run) == 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK(base::remove_left_job_folders(run) == 1);
    CHECK_FALSE(fs::exists(run + "/job-8"));
    CHECK(fs::exists(run + "/job-x"));
    CHECK(fs::is_symlink(run + "/job-9"));
    CHECK(fs::exists(folder.path));
    CHECK(base::remove_left_job_folders((folder.path / "none").string()) == 0);
    CHECK_FALSE(fs::exists(folder.path / "none"));
}

TEST_CASE("another user can read a job's files, but not take the folder's lock, for which nobody waits") {
    const test::Folder folder;
    const auto run = (folder.path / "run").string();
    REQUIRE(base::private_folder(run));
    REQUIRE(base::private_folder(run + "/job-9")); // as an older release made it
    auto held = base::JobFolder::hold(run, 9);
    REQUIRE(held);
    CHECK((fs::status(held->path()).permissions() & fs::perms::others_all) == fs::perms::others_exec);
    held->remove();
    auto again = base::JobFolder::hold(run, 9);
    REQUIRE(again);
    CHECK((fs::status(again->path()).permissions() & fs::perms::others_all) == fs::perms::others_exec);
    const auto path = again->path();
    again = base::Error{}; // let go, not removed
    const base::UniqueFd taken(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::flock(taken.get(), LOCK_EX | LOCK_NB) == 0);
    const auto refused = base::JobFolder::hold(run, 9);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.starts_with(path + ": is locked"));
}
