#include "check/apart.hpp"

#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

using namespace check;
using namespace std::chrono_literals;

namespace {

Task task(std::string name, std::function<void(Sink&)> work, base::Duration deadline = test::patience()) {
    return {
        .work = std::move(work), .deadline = deadline, .part = {.name = std::move(name)}, .test = "t.start"};
}

Result sound(std::string_view test) {
    return {.check = "t", .test = std::string(test), .part = {.name = "p"}, .verdict = Verdict::sound};
}

} // namespace

TEST_CASE("a task that hangs is killed, and named by the step it was in; the others' results stand") {
    std::vector<std::string> steps;
    Request request;
    request.progress = [&](std::string_view step) { steps.emplace_back(step); };
    const auto outcomes = run_apart("t",
                                    {task(
                                         "gpu0",
                                         [](Sink& sink) {
                                             sink.begin({.name = "gpu0"}, "t.first");
                                             sink.add(sound("t.first"));
                                             sink.begin({.name = "gpu0"}, "t.second");
                                             for (;;)
                                                 ::pause();
                                         },
                                         1s),
                                     task("gpu1", [](Sink& sink) { sink.add(sound("t.other")); })},
                                    request);
    REQUIRE(outcomes.size() == 2);
    REQUIRE(outcomes[0].results.size() == 2);
    CHECK(outcomes[0].results[0].test == "t.first");
    const auto& hung = outcomes[0].results[1];
    CHECK(hung.test == "t.second");
    CHECK(hung.part.name == "gpu0");
    CHECK(hung.verdict == Verdict::bad);
    CHECK(hung.says == "no end within 1.0 s: given up");
    CHECK(steps == std::vector<std::string>{"gpu0: t.first", "gpu0: t.second"});
    REQUIRE(outcomes[1].results.size() == 1);
    CHECK(outcomes[1].whole);
    CHECK_FALSE(outcomes[0].whole);
}

TEST_CASE("a task that dies leaves a result that is not run") {
    const auto outcomes =
        run_apart("t",
                  {task("a", [](Sink&) { ::raise(SIGKILL); }), task("b", [](Sink&) { ::_exit(3); }),
                   task("c", [](Sink&) { throw std::runtime_error("thrown"); })},
                  {});
    const char* said[] = {"its process was ended by signal 9", "its process ended without a word", "thrown"};
    for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE(outcomes[i].results.size() == 1);
        CHECK(outcomes[i].results[0].verdict == Verdict::not_run);
        CHECK(outcomes[i].results[0].says == said[i]);
    }
}

TEST_CASE("those that meet wait for all, and not for one that has died or hangs") {
    const auto late = [](Sink& sink) {
        sink.meet();
        sink.add(sound("t.met"));
    };
    const auto outcomes = run_apart("t",
                                    {task("a", late), task("b", late),
                                     task(
                                         "hangs", [](Sink&) { ::pause(); }, 300ms),
                                     task("dies", [](Sink&) { ::_exit(1); })},
                                    {});
    for (const int i : {0, 1}) {
        REQUIRE(outcomes[static_cast<std::size_t>(i)].results.size() == 1);
        CHECK(outcomes[static_cast<std::size_t>(i)].results[0].test == "t.met");
    }
    CHECK(outcomes[2].results[0].verdict == Verdict::bad);
}

TEST_CASE("a companion ends with the others, and what it told stands") {
    const test::Folder folder;
    const auto told = folder.path / "told";
    auto watching = task("clocks", [&](Sink& sink) {
        sink.fact("seen", "1");
        sink.fact("seen", "2");
        std::ofstream(told) << "\n";
        ::pause();
    });
    watching.companion = true;
    const auto until_told = [&](Sink&) { test::eventually([&] { return std::filesystem::exists(told); }); };
    const auto outcomes = run_apart("t", {task("a", until_told, test::patience()), std::move(watching)}, {});
    CHECK(outcomes[1].results.empty());
    CHECK(outcomes[1].facts.at("seen") == "2");
}

TEST_CASE("an interrupt ends all") {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    REQUIRE(::write(ends[1], "i", 1) == 1);
    Request request;
    request.interrupt = ends[0];
    const auto outcomes = run_apart("t", {task("a", [](Sink&) { ::pause(); })}, request);
    CHECK(outcomes[0].results.at(0).says == "interrupted");
    ::close(ends[0]);
    ::close(ends[1]);
}
