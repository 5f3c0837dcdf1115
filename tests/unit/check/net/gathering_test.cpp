// The processes of a tournament as threads, on loopback; what they measure is made up.
#include "check/net/gathering.hpp"
#include "check/net/verdict.hpp"

#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <sys/stat.h>
#include <thread>

using namespace check::net;

namespace {

std::string secret_file(const test::Folder& folder, const std::string& name, const std::string& secret) {
    const auto path = (folder.path / name).string();
    std::ofstream(path) << secret;
    ::chmod(path.c_str(), 0600);
    return path;
}

Launch launch_as(std::uint32_t rank, std::uint32_t hosts) {
    Launch launch;
    launch.rank = rank;
    for (std::uint32_t host = 0; host < hosts; ++host)
        launch.hosts.push_back(host == 0 ? "localhost" : "n" + std::to_string(host + 1));
    return launch;
}

// Rail 1 of n3 is slow.
std::vector<Done::Rail> made_up(std::uint32_t rank, const Go& go) {
    std::vector<Done::Rail> rails;
    for (std::size_t rail = 0; rail < go.addresses.size(); ++rail) {
        const bool slow = rail == 1 && (rank == 2 || go.partner == "n3");
        const double wobble = 1 + 0.01 * static_cast<double>((rank * 7 + go.round * 3 + rail) % 5);
        rails.push_back({Measured{5 * wobble, (slow ? 40 : 90) * wobble, (slow ? 40 : 90) * wobble}, {}});
    }
    return rails;
}

struct Trial {
    test::Folder folder;
    Entry entry = *Entry::by_secret(secret_file(folder, "secret", "a secret of many bytes"));
    Plan plan;
    std::vector<std::thread> members;
    std::vector<std::uint16_t> ports;
    Listener listener = *listen_on({0});

    explicit Trial() {
        plan.join_s = 1; // waited for in full where a host does not come
        plan.effort.patience_s = 0.2;
        ports = {listener.port};
    }
    ~Trial() {
        for (auto& member : members)
            member.join();
    }
    void member(std::uint32_t rank, std::uint32_t hosts, MeasureRails measure) {
        members.emplace_back([this, rank, hosts, measure] {
            static_cast<void>(take_part(launch_as(rank, hosts), ports, entry, plan,
                                        {{"a0", "address", ""}, {"a1", "address", ""}}, measure)
                                  .has_value());
        });
    }
    void member(std::uint32_t rank, std::uint32_t hosts) {
        member(rank, hosts, [rank](const Go& go) { return made_up(rank, go); });
    }
    base::Expected<Gathered> gathered(std::uint32_t hosts) {
        return gather(
            std::move(listener), launch_as(0, hosts), entry, plan,
            [](const auto& so_far) { return !judge(so_far, {}).slow.empty(); }, [](const auto&) {});
    }
};

} // namespace

TEST_CASE("hosts measure with each other in turn, and the slow rail of one is named") {
    Trial trial;
    trial.plan.join_s = std::chrono::duration<double>(test::patience()).count(); // all come
    for (std::uint32_t rank = 0; rank < 6; ++rank)
        trial.member(rank, 6);
    const auto gathered = trial.gathered(6);
    REQUIRE(gathered);
    CHECK(gathered->rounds == 5);
    CHECK(gathered->measures.size() == 15 * 2);
    CHECK(gathered->lost.empty());
    const auto verdict = judge(*gathered, {});
    REQUIRE(verdict.slow.size() == 1);
    CHECK(verdict.slow[0].host == "n3");
    CHECK(verdict.slow[0].device == "a1");
    CHECK(verdict.slow[0].says == "n3 a1 (rail 1): 44 % of the others' bandwidth");
}

TEST_CASE("where all pairs have met, what names a host is measured once more, and the better counts") {
    for (const std::uint32_t slow_rounds : {0u, 5u, 10u}) {
        Trial trial;
        trial.plan.again = 1;
        trial.plan.join_s = std::chrono::duration<double>(test::patience()).count(); // all come
        for (std::uint32_t rank = 0; rank < 6; ++rank)
            trial.member(rank, 6, [rank, slow_rounds](const Go& go) {
                auto rails = made_up(rank, go);
                if (go.round >= slow_rounds) rails[1] = rails[0];
                return rails;
            });
        const auto gathered = trial.gathered(6);
        REQUIRE(gathered);
        INFO(slow_rounds);
        CHECK(gathered->rounds == (slow_rounds == 0 ? 5 : 10));
        CHECK(gathered->measures.size() == 15 * 2);
        CHECK(judge(*gathered, {}).slow.size() == (slow_rounds == 10 ? 1 : 0));
    }
}

TEST_CASE("who does not come is named, and the others measure without it") {
    Trial trial;
    for (const std::uint32_t rank : {0u, 1u, 3u})
        trial.member(rank, 4);
    const auto gathered = trial.gathered(4);
    REQUIRE(gathered);
    REQUIRE(gathered->lost.size() == 1);
    CHECK(gathered->lost[0].host == 2);
    CHECK(gathered->lost[0].why == "did not come within 1 s");
    CHECK(gathered->rounds == 3);
    CHECK(gathered->measures.size() == 3 * 2);
}

TEST_CASE("who falls silent in a round is named, and the others go on") {
    std::atomic<bool> over = false;
    Trial trial;
    trial.plan.join_s = std::chrono::duration<double>(test::patience()).count(); // all come
    for (const std::uint32_t rank : {0u, 1u, 2u})
        trial.member(rank, 4);
    trial.member(3, 4, [&over](const Go& go) {
        if (go.round == 1) test::eventually([&over] { return over.load(); });
        return made_up(3, go);
    });
    const auto gathered = trial.gathered(4);
    over = true;
    REQUIRE(gathered);
    REQUIRE(gathered->lost.size() == 1);
    CHECK(gathered->lost[0].host == 3);
    CHECK(gathered->lost[0].why == "fell silent in round 2");
    CHECK(gathered->rounds == 3);
}

TEST_CASE("nobody is let in without the secret, and a host alone measures nothing") {
    Trial trial;
    trial.member(0, 2);
    const auto other =
        Entry::by_secret(secret_file(trial.folder, "other", "another secret, of as many bytes"));
    REQUIRE(other);
    std::thread stranger([&] {
        const auto refused = take_part(launch_as(1, 2), trial.ports, *other, trial.plan, {}, {});
        CHECK_FALSE(refused);
        CHECK(refused.error().code == base::Code::denied);
    });
    const auto gathered = trial.gathered(2);
    stranger.join();
    REQUIRE_FALSE(gathered);
    CHECK(gathered.error().text == "1 of 2 hosts came: n2 did not come within 1 s");
}

TEST_CASE("a rail that works nowhere from one host is that host's, and a device that is not there is told") {
    Gathered gathered;
    gathered.hosts = {"n1", "n2", "n3", "n4"};
    gathered.rails.assign(4, {{"a0", "x", ""}, {"a1", "x", ""}});
    gathered.rails[0][0] = {"a0", "", "a0: no such device"};
    for (std::uint32_t a = 0; a < 4; ++a)
        for (std::uint32_t b = a + 1; b < 4; ++b)
            for (std::uint32_t rail = a == 0; rail < 2; ++rail) {
                Measure one{a, b, rail, Measured{5.0 + 0.1 * (a + b), 90.0 + a + b, 90}, {}};
                if (rail == 1 && b == 3) one = {a, b, rail, {}, "a1: the peer does not answer"};
                gathered.measures.push_back(one);
            }
    const auto verdict = judge(gathered, {});
    REQUIRE(verdict.unusable == std::vector<std::string>{"n1 a0: no such device"});
    REQUIRE(verdict.slow.size() == 1);
    CHECK(verdict.slow[0].says == "n4 a1 (rail 1): does not work");
}

TEST_CASE("a secret that others can read is refused") {
    const test::Folder folder;
    const auto file = secret_file(folder, "open", "a secret of many bytes");
    ::chmod(file.c_str(), 0644);
    CHECK_FALSE(Entry::by_secret(file));
    CHECK_FALSE(Entry::by_secret(secret_file(folder, "short", "abc")));
}
