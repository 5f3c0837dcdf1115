#include "restart/ckpt/marks.hpp"
#include "restart/ckpt/railckpt.h"

#include "agent_double.hpp"
#include "folder.hpp"

#include <limits>

using namespace restart::ckpt;
using namespace ckpt_test;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds patient{10}; // for answers that must come, however busy the machine is

const char* nothing(const char*) {
    return nullptr;
}

} // namespace

TEST_CASE("marks are told in one line each five seconds, as durations") {
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    const AgentDouble agent(socket, [](const std::string& line) {
        return line.find("hello") != std::string::npos ? R"({"ok":true,"interval_s":null,"save_by":null})"
                                                         "\n"
                                                       : "{\"ok\":true}\n";
    });
    Marks marks(Agent(socket, 12, 1, patient), 3);
    Marks::Clock::time_point now{};
    CHECK(marks.step(1, now)); // begins the count
    for (int i = 0; i < 50; ++i)
        CHECK(marks.step(0.025, now += 100ms));
    const auto asked = agent.asked();
    REQUIRE(asked.size() == 2);
    CHECK(asked[1].find(R"("op":"mark","rank":3,"steps":50,"seconds":)") != std::string::npos);
    const auto read = restart::read_job_request(asked[1]);
    REQUIRE(read);
    const auto& told = std::get<restart::JobMark>(*read);
    CHECK(told.seconds == Approx(5));
    CHECK(told.waited_s == Approx(1.25));
    CHECK(told.first); // its first step was over when the count began
    for (int i = 0; i < 50; ++i)
        CHECK(marks.step(0.025, now += 100ms));
    REQUIRE(agent.asked().size() == 3);
    const auto next = restart::read_job_request(agent.asked()[2]);
    REQUIRE(next);
    CHECK_FALSE(std::get<restart::JobMark>(*next).first);
}

TEST_CASE("what is no time is not told") {
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    const AgentDouble agent(socket, [](const std::string&) { return std::string("{\"ok\":true}\n"); });
    Marks marks(Agent(socket, 12, 1, patient), 0);
    Marks::Clock::time_point now{};
    CHECK(marks.step(0, now));
    for (const double waited : {std::numeric_limits<double>::quiet_NaN(), -1.0,
                                std::numeric_limits<double>::infinity(), 1e300, 0.5})
        CHECK(marks.step(waited, now += 1s));
    const auto asked = agent.asked();
    REQUIRE(asked.size() == 2);
    const auto read = restart::read_job_request(asked[1]);
    REQUIRE(read);
    CHECK(std::get<restart::JobMark>(*read).waited_s == Approx(2.5)); // two whole steps and a half
}

TEST_CASE("an agent of an older release that takes no marks is left alone") {
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    const AgentDouble agent(socket, [](const std::string& line) {
        return line.find("mark") != std::string::npos ? "{\"ok\":false,\"error\":\"op: must be hello\"}\n"
                                                      : "{\"ok\":true}\n";
    });
    Marks marks(Agent(socket, 12, 1, patient), 0);
    Marks::Clock::time_point now{};
    CHECK(marks.step(0, now));
    for (int i = 0; i < 100; ++i)
        static_cast<void>(marks.step(0, now += 1s).has_value());
    CHECK(agent.asked().size() == 2);
}

TEST_CASE("marks need neither an agent nor a checkpoint directory") {
    auto alone = Marks::open(nothing);
    REQUIRE(alone);
    for (int i = 0; i < 10; ++i)
        CHECK(alone->step(0, Marks::Clock::time_point(i * 10s)));
    CHECK_FALSE(Marks::open(
        [](const char* name) { return std::string_view(name) == "SLURM_PROCID" ? "first" : nullptr; }));
    railckpt_marks* marks = nullptr;
    CHECK(railckpt_marks_open(nullptr) == RAILCKPT_EUSAGE);
    REQUIRE(railckpt_marks_open(&marks) == RAILCKPT_OK);
    CHECK(railckpt_mark(marks, 0.5) == RAILCKPT_OK);
    CHECK(railckpt_mark(nullptr, 0.5) == RAILCKPT_EUSAGE);
    railckpt_marks_close(marks);
    railckpt_marks_close(nullptr);
}
