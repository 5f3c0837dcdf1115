// The runner of the site's programs: what they print, how they fail, and that they cannot hold anything up.

#include "restart/daemon/program.hpp"

#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace std::chrono_literals;
using restart::run_program;

namespace {

namespace fs = std::filesystem;

std::string script(const fs::path& folder, const std::string& text, bool executable = true) {
    const auto path = folder / "program";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(path, executable ? fs::perms::owner_all : fs::perms::owner_read);
    return path.string();
}

bool stays() {
    return false;
}

} // namespace

TEST_CASE("a program gets its arguments as they are, and its last line is kept") {
    const test::Folder folder;
    const auto said = run_program(
        {script(folder.path, "echo first; echo \"$#: $1|$2\"; echo; echo"), "n1; rm -rf $HOME", "a b"},
        test::patience(), stays);
    REQUIRE(said);
    CHECK(*said == "2: n1; rm -rf $HOME|a b");
}

TEST_CASE("what cannot be run is an error that names it") {
    const test::Folder folder;
    const auto missing = run_program({(folder.path / "none").string(), "n001"}, test::patience(), stays);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == base::Code::not_found);
    CHECK(missing.error().text.find("/none: ") != std::string::npos);
    const auto refused = run_program({script(folder.path, "true", false), "n001"}, test::patience(), stays);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::Code::io);
}

TEST_CASE("a program that fails is quoted") {
    const test::Folder folder;
    const auto failed = run_program({script(folder.path, "echo 'no such user' >&2; exit 3"), "n001"},
                                    test::patience(), stays);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == base::Code::io);
    CHECK(failed.error().text.find("status 3: no such user") != std::string::npos);
    const auto found = run_program({script(folder.path, "exit 1"), "n001"}, test::patience(), stays);
    REQUIRE_FALSE(found);
    CHECK(found.error().code == base::Code::unfit); // what a check finds bad
    const auto killed = run_program({script(folder.path, "kill -9 $$"), "n001"}, test::patience(), stays);
    REQUIRE_FALSE(killed);
    CHECK(killed.error().text.find("ended by signal 9") != std::string::npos);
}

TEST_CASE("a program that hangs is killed with all that it started") {
    const test::Folder folder;
    const auto file = (folder.path / "child").string();
    const auto program = script(folder.path, "sleep 1000 & echo $! >" + file + "; echo begun; wait");
    std::string text;
    for (base::Duration limit = 1s; limit < test::patience() && text.find("begun") == std::string::npos;
         limit *= 2) { // a busy machine is slow to start it
        const auto hung = run_program({program, "n001"}, limit, stays);
        REQUIRE_FALSE(hung);
        CHECK(hung.error().code == base::Code::io);
        text = hung.error().text;
    }
    CHECK_THAT(text, Catch::Contains("has not ended within ") && Catch::EndsWith(", and was killed: begun"));
    pid_t child = 0;
    std::ifstream(file) >> child;
    REQUIRE(child > 0);
    // Dead, or a zombie that nobody has buried yet.
    CHECK(test::eventually([&] {
        std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
        std::string number, name, state = "gone";
        stat >> number >> name >> state;
        return state == "gone" || state == "Z" || state.empty();
    }));
}

TEST_CASE("a program may print much, and leave something behind in the background") {
    const test::Folder folder;
    const auto said =
        run_program({script(folder.path, "yes | head -c 20000000; printf '\\a%0999d' 7"), "n001"},
                    test::patience(), stays);
    REQUIRE(said);
    CHECK(said->size() <= 256);
    const auto file = (folder.path / "left").string();
    // What is left behind has the program's output open for longer than the program may take.
    const auto left =
        run_program({script(folder.path, "sleep infinity & echo $! >" + file + "; echo done"), "n001"},
                    test::patience(), stays);
    pid_t child = 0;
    std::ifstream(file) >> child;
    if (child > 0) ::kill(child, SIGKILL);
    REQUIRE(left);
    CHECK(*left == "done");
    CHECK(child > 0);
}

TEST_CASE("a program is given nothing of what restartd has open") {
    const test::Folder folder;
    const int open = ::open("/dev/null", O_RDONLY); // as a library that does not think of it leaves it
    REQUIRE(open > 2);
    const auto seen = run_program(
        {script(folder.path, "test -e /proc/self/fd/$1 && echo open || echo closed"), std::to_string(open)},
        test::patience(), stays);
    ::close(open);
    REQUIRE(seen);
    CHECK(*seen == "closed");
}

TEST_CASE("a program is left alone when restartd stops") {
    const test::Folder folder;
    const auto left = run_program({script(folder.path, "sleep 5"), "n001"}, 600s, [] { return true; });
    REQUIRE_FALSE(left);
    CHECK(left.error().code == base::Code::unavailable);
}
