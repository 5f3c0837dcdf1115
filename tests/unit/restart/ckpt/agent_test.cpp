#include "restart/ckpt/agent.hpp"
#include "restart/ckpt/session.hpp"

#include "agent_double.hpp"
#include "folder.hpp"
#include "unit/patience.hpp"

using namespace restart::ckpt;
using namespace ckpt_test;
using Clock = std::chrono::steady_clock;

namespace {
const std::string calm = R"({"interval_s":37.5,"save_by":null,"incident":null})";
const std::string save = R"({"interval_s":37.5,"save_by":1700000009.0,"incident":"i-7"})";

// For answers that must come, however busy the machine is.
const auto patient = test::patience();

double took(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}
} // namespace

TEST_CASE("the agent is greeted once and asked on a kept connection") {
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    const AgentDouble agent(socket, usual(save));
    Agent client(socket, 12, 1, patient);
    for (int i = 0; i < 3; ++i) {
        const auto state = client.due();
        INFO((state ? "" : state.error().text));
        REQUIRE(state);
        CHECK(state->interval_s == 37.5);
        CHECK(state->save_by_s == 1700000009.0);
        CHECK(state->incident == "i-7");
    }
    CHECK(client.committed({400, "/scratch/run7/ckpt", 0.5, 123}));
    const auto asked = agent.asked();
    REQUIRE(asked.size() == 5);
    CHECK(asked[0] == R"({"op":"hello","job":12,"epoch":1,"rank":0})");
    CHECK(asked[1] == R"({"op":"due"})");
    CHECK(asked[4] == R"({"op":"commit","step":400,"path":"/scratch/run7/ckpt","cost_s":5E-1,"bytes":123})");
}

TEST_CASE("nulls mean: not known yet, nobody asks") {
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    const AgentDouble agent(socket, usual(R"({"interval_s":null})"));
    const auto state = Agent(socket, 12, 1, patient).due();
    REQUIRE(state);
    CHECK_FALSE(state->interval_s);
    CHECK_FALSE(state->save_by_s);
    CHECK(state->incident.empty());
}

TEST_CASE("an agent that is away costs nothing and is tried again") {
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    Agent client(socket, 12, 1, patient);
    const auto start = Clock::now();
    for (int i = 0; i < 100; ++i) {
        const auto state = client.due();
        REQUIRE_FALSE(state);
        CHECK(state.error().code == base::Code::unavailable);
    }
    CHECK_THAT(client.due().error().text, Catch::Contains("job.sock: No such file"));
    const AgentDouble agent(socket, usual(calm));
    CHECK(test::eventually([&] { return client.due().has_value(); }));
    CHECK(took(start) >= 0.9);
}

TEST_CASE("an agent that was restarted is greeted anew at once") {
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    auto first = std::make_unique<AgentDouble>(socket, usual(calm));
    Agent client(socket, 12, 1, patient);
    CHECK(client.due());
    first.reset();
    const AgentDouble second(socket, usual(save));
    const auto state = client.due();
    REQUIRE(state);
    CHECK(state->save_by_s);
}

TEST_CASE("an agent that hangs is waited for briefly, then left alone for longer and longer") {
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    const AgentDouble agent(socket, [](const std::string&) { return std::string(); });
    Agent client(socket, 12, 1);
    const auto start = Clock::now();
    CHECK_THAT(client.due().error().text, Catch::Contains("does not answer"));
    CHECK(took(start) >= 0.09);
    for (int i = 0; i < 100; ++i)
        CHECK_FALSE(client.due());
    CHECK(agent.asked().size() < 10); // 101, were it greeted each time
}

TEST_CASE("answers that are not the protocol are errors, never a wrong interval") {
    const auto answer =
        GENERATE(std::string("x"), "[]", "{}x", R"({"interval_s":"1"})", R"({"interval_s":0})",
                 R"({"interval_s":-5})", R"({"save_by":"soon"})", R"({"incident":7})", R"({"ok":"yes"})",
                 R"({"ok":false,"error":"not your job"})");
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    const AgentDouble agent(socket, usual(answer));
    Agent client(socket, 12, 1, patient);
    const auto state = client.due();
    INFO(answer);
    REQUIRE_FALSE(state);
    CHECK_THAT(state.error().text, Catch::StartsWith("nodewatchd at " + socket + ": "));
    if (answer.find("not your job") != std::string::npos) CHECK(state.error().code == base::Code::denied);
}

TEST_CASE("an answer without an end is not waited for for ever") {
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    const AgentDouble agent(socket, [](const std::string&) { return std::string(100'000, ' '); });
    CHECK_THAT(Agent(socket, 12, 1, patient).due().error().text, Catch::Contains("does not end"));
    const AgentDouble closing(socket, [](const std::string&) { return std::string("close"); });
    CHECK_THAT(Agent(socket, 12, 1, patient).due().error().text, Catch::Contains("closed the connection"));
    CHECK_THAT(Agent(std::string(200, 'x'), 12, 1).due().error().text,
               Catch::Contains("longer than the 107 bytes"));
}

TEST_CASE("a session asks at most each 200 ms, saves on request once, and tells the commit") {
    const Folder folder;
    const auto socket = (folder.path / "job.sock").string();
    std::atomic<bool> asks_to_save = false;
    const AgentDouble agent(socket,
                            [&](const std::string& line) { return usual(asks_to_save ? save : calm)(line); });
    std::filesystem::create_directory(folder.path / "d");
    Options options;
    options.dir = (folder.path / "d").string();
    options.socket = socket;
    options.job = 12;
    options.restart = 1;
    options.patience = patient;
    auto session = Session::open(options);
    REQUIRE(session);
    const auto start = Clock::now();
    const auto verdict = session->due();
    CHECK_FALSE(verdict.due());
    CHECK(verdict.interval.length == restart::Seconds{37.5});
    CHECK(verdict.interval.source == Source::agent);
    asks_to_save = true;
    CHECK(test::eventually([&] { return session->due().due(); }));
    CHECK(took(start) >= 0.2);
    CHECK(agent.asked().size() == 3); // hello, due, due

    const auto stage = session->begin(400);
    REQUIRE(stage);
    write(*stage / "a", "12345");
    REQUIRE(session->commit());
    CHECK(session->commit_troubles().empty());
    const auto commit = agent.asked().back();
    CHECK_THAT(commit, Catch::StartsWith(R"({"op":"commit","step":400,"path":")" + options.dir +
                                         R"(/ckpt-E0001-S000000000400","cost_s":)") &&
                           Catch::EndsWith(R"(,"bytes":5})"));
    // Written beside the program's work: how long it stood still, and how long it took until it was safe.
    REQUIRE(session->begin(500));
    REQUIRE(session->commit({{}, restart::Seconds{0.25e-6}}));
    const auto beside = agent.asked().back();
    CHECK_THAT(beside, Catch::Contains(R"("cost_s":2.5E-7,)") && Catch::Contains(R"("safe_s":)"));
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    CHECK_FALSE(session->due().due()); // still asked by the same incident: served
}
