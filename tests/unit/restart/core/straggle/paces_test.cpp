// From reports to a word about a job: what is kept of paces, when it is judged, and that nothing moves for
// it.
#include "restart/core/detect/health.hpp"
#include "restart/core/store/state_json.hpp"
#include "unit/restart/core/world.hpp"

#include <catch2/catch.hpp>

using namespace restart;

namespace {

const std::vector<std::string> hosts{"n001", "n002", "n003", "n004"};

std::size_t times(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++count;
    return count;
}

// Each host's window, with one process of the job that waits for `waited` of its time; of n003 `slow`.
struct Pacer {
    World& world;
    base::JobId job;
    std::uint64_t window = 0;
    std::uint32_t more_uid = 0; // added to the owner's

    void tell(double slow, double waited = 0.5, int epoch = 0) {
        ++window;
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            Report report;
            report.host = hosts[i];
            report.boot_id = "b-" + hosts[i];
            report.pace = HostPace{window, 10, {}, {}};
            JobReport said;
            said.id = job;
            said.epoch = static_cast<std::uint32_t>(epoch);
            said.uid = world.job(job).uid + more_uid;
            said.ranks = {{static_cast<std::uint32_t>(i), 1, hosts[i] == "n003" ? slow : waited}};
            report.jobs.push_back(said);
            world.deliver(report);
        }
        world.run(10);
    }
    const std::optional<JobPace>& pace() const { return world.state().jobs.at(job).pace; }
};

} // namespace

TEST_CASE("a host that holds a job back is noted once, moves nobody, and is cleared") {
    World world(4);
    world.policy.straggler_every = std::chrono::seconds(10);
    world.round_trip = 7;
    const auto job = world.submit(hosts);
    world.run(15);
    const auto did = world.actions.size();
    Pacer pacer{world, job};
    for (int i = 0; i < 4; ++i)
        pacer.tell(0.49);
    REQUIRE(pacer.pace());
    CHECK(pacer.pace()->verdict == StragglerVerdict::none);
    CHECK(times(world.story(), "held back") == 0);

    for (int i = 0; i < 6; ++i)
        pacer.tell(0.05 + 0.001 * i);
    INFO(world.story());
    CHECK(pacer.pace()->held_back);
    CHECK(pacer.pace()->suspect.host == "n003");
    CHECK(times(world.story(), "held back by n003: score 0.4") == 2); // of the job, and of its host
    CHECK(world.state().hosts.at("n003").paces.size() == most_pace_windows);
    CHECK(world.state().incidents.empty());
    CHECK(world.actions.size() == did);
    CHECK(health_of(world.state(), world.now(), std::chrono::days(14)).empty());
    CHECK(*state_from_json(to_json(world.state())) == world.state());

    // One sound judgement is not enough, four sound windows are.
    for (int i = 0; i < 5; ++i)
        pacer.tell(0.5);
    CHECK_FALSE(pacer.pace()->held_back);
    CHECK(times(world.story(), "no longer held back by n003") == 2);
    CHECK(times(world.story(), "held back by n003: score") == 2);
}

TEST_CASE("a job whose agents fall silent about it, or that no policy judges, is held back by nobody") {
    World world(4);
    world.policy.straggler_every = std::chrono::seconds(10);
    const auto job = world.submit(hosts);
    world.run(15);
    Pacer pacer{world, job};
    for (int i = 0; i < 5; ++i)
        pacer.tell(0.05);
    REQUIRE(pacer.pace());
    CHECK(pacer.pace()->held_back);
    world.run(120); // windows age
    CHECK(pacer.pace()->verdict == StragglerVerdict::unknown);
    CHECK_FALSE(pacer.pace()->held_back);
    world.policy.straggler_every = {};
    for (int i = 0; i < 5; ++i)
        pacer.tell(0.05);
    CHECK_FALSE(pacer.pace());
    for (const auto& host : hosts)
        CHECK(world.state().hosts.at(host).paces.empty());
}

TEST_CASE("marks of another user or another start are not the job's") {
    World world(4);
    world.policy.straggler_every = std::chrono::seconds(10);
    const auto job = world.submit(hosts);
    world.run(15);
    Pacer forger{world, job, 0, 1};
    for (int i = 0; i < 5; ++i)
        forger.tell(0.05);
    REQUIRE(forger.pace());
    CHECK(forger.pace()->verdict == StragglerVerdict::unknown);
    Pacer early{world, job, 100, 0};
    for (int i = 0; i < 5; ++i)
        early.tell(0.05, 0.5, 1);
    CHECK(early.pace()->verdict == StragglerVerdict::unknown);
    for (const auto& host : hosts)
        for (const auto& stored : world.state().hosts.at(host).paces)
            CHECK(stored.marks.empty());
}

TEST_CASE("what a host did for two jobs at once is neither's") {
    World world(4);
    world.policy.straggler_every = std::chrono::seconds(10);
    const auto job = world.submit(hosts);
    world.submit({"n001", "n002", "n003", "n004"});
    world.run(15);
    for (std::uint64_t window = 1; window < 6; ++window) {
        for (const auto& host : hosts) {
            Report report;
            report.host = host;
            report.boot_id = "b-" + host;
            report.pace = HostPace{window, 10, {}, {}};
            for (std::uint32_t gpu = 0; gpu < 4; ++gpu)
                report.pace->gpus.push_back({gpu, host == "n002" ? 900.0 : 1755.0, {}, {}, 0.99, {}});
            world.deliver(report);
        }
        world.run(10);
    }
    const auto& pace = world.state().jobs.at(job).pace;
    REQUIRE(pace);
    CHECK(pace->verdict == StragglerVerdict::unknown);
    REQUIRE(!pace->missing.empty());
    CHECK(pace->missing.back() == "the GPUs and ports of 4 hosts, which other jobs use too");
}

TEST_CASE("what NCCL's RAS says of a host's processes is kept with its paces, and alone holds nobody back") {
    World world(4);
    world.policy.straggler_every = std::chrono::seconds(10);
    const auto job = world.submit(hosts);
    world.run(15);
    const auto did = world.actions.size();
    for (std::uint64_t window = 1; window < 6; ++window) {
        for (const auto& host : hosts) {
            Report report;
            report.host = host;
            report.boot_id = "b-" + host;
            report.pace = HostPace{window, 10, {}, {}};
            JobReport said;
            said.id = job;
            said.uid = world.job(job).uid;
            said.nccl = NcclWord{window, {}, {}};
            if (host == "n002") said.nccl->here = {{5, true, 0}};
            report.jobs.push_back(said);
            world.deliver(report);
        }
        world.run(10);
    }
    const auto& pace = world.state().jobs.at(job).pace;
    REQUIRE(pace);
    CHECK(pace->verdict == StragglerVerdict::found); // which railctl explain shows as "perhaps"
    CHECK(name_of(pace->suspect) == "n002 gpu 5");
    CHECK(pace->suspect.confidence == 0.5);
    CHECK_FALSE(pace->held_back); // it takes [straggler] confidence
    CHECK(world.actions.size() == did);
    REQUIRE(!world.state().hosts.at("n002").paces.back().marks.empty());
    CHECK(world.state().hosts.at("n002").paces.back().marks[0].ras == std::vector<RasSign>{{5, true, 0}});
    CHECK(world.state().hosts.at("n001").paces.back().marks.empty());
    CHECK(*state_from_json(to_json(world.state())) == world.state());
}
