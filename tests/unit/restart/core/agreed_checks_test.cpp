// What follows when the checks of several users' jobs find the same part of a host bad, and when it does not.
#include "restart/core/detect/agreed_checks.hpp"
#include "restart/core/detect/health.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace restart;
using namespace std::chrono_literals;

namespace {

const base::Time start = base::time_from_seconds(1'700'000'000);

struct Fleet {
    State state;
    base::Time now = start;
    std::uint64_t jobs = 0;

    explicit Fleet(int hosts) {
        for (int i = 0; i < hosts; ++i)
            tell(name(i), 1000, CheckVerdict::sound);
    }
    static std::string name(int i) { return fmt::format("n{:03}", i); }

    void tell(const std::string& host, std::uint32_t uid, CheckVerdict verdict,
              const std::string& component = "mlx5_3:1") {
        now += 1min;
        take_check(state.hosts[host].checks,
                   {host, "net.bandwidth", component, verdict, 50, 400, "Gb/s", "slow"},
                   {base::JobId(++jobs), 0, uid}, now);
    }
    void find_idle(const std::string& host, CheckVerdict verdict) { // by an idle check
        now += 1min;
        take_check(state.hosts[host].checks,
                   {host, "net.bandwidth", "mlx5_3:1", verdict, 50, 400, "Gb/s", ""},
                   {base::JobId(++jobs), 0, 0, true}, now);
    }
    float health(const std::string& host) const {
        const auto weak = health_of(state, now, std::chrono::days(14));
        const auto found = weak.find(host);
        return found == weak.end() ? 1 : found->second.health;
    }
    std::string why(const std::string& host) const {
        return health_of(state, now, std::chrono::days(14)).at(host).why;
    }
};

} // namespace

TEST_CASE("one user's checks move nobody else's jobs, two users' make the host one to avoid") {
    Fleet fleet(8);
    fleet.tell("n003", 1001, CheckVerdict::bad);
    fleet.tell("n003", 1001, CheckVerdict::bad);
    CHECK(fleet.health("n003") == 1);
    fleet.tell("n003", 1002, CheckVerdict::bad);
    CHECK(fleet.health("n003") == Approx(0.6));
    CHECK(fleet.why("n003") == "mlx5_3:1 net.bandwidth is bad in checks of 2 users");
    // However many parts: as the host is tried, so is each of them.
    fleet.tell("n003", 1001, CheckVerdict::bad, "mlx5_4:1");
    fleet.tell("n003", 1003, CheckVerdict::bad, "mlx5_4:1");
    CHECK(fleet.health("n003") == Approx(0.6));
    CHECK(fleet.why("n003") == "mlx5_3:1 net.bandwidth is bad in checks of 2 users, and 1 more");
}

TEST_CASE("a sound result by anybody, a week or a repair ends what checks agreed on") {
    Fleet fleet(8);
    const auto agree = [&] {
        fleet.tell("n003", 1001, CheckVerdict::bad);
        fleet.tell("n003", 1002, CheckVerdict::bad);
        REQUIRE(fleet.health("n003") == Approx(0.6));
    };
    agree();
    fleet.tell("n003", 1003, CheckVerdict::sound);
    CHECK(fleet.health("n003") == 1);
    fleet.tell("n003", 1001, CheckVerdict::bad); // not with what was said before it was sound
    CHECK(fleet.health("n003") == 1);
    fleet.tell("n003", 1002, CheckVerdict::bad);
    fleet.tell("n003", 1003, CheckVerdict::warning); // neither sound nor bad
    CHECK(fleet.health("n003") == Approx(0.6));

    fleet.state.hosts["n003"].returned = Returned{FaultClass::other, 0, fleet.now};
    CHECK(fleet.health("n003") == 1);
    fleet.now += 1min;
    agree();
    fleet.now += 24h * 7 - 1min; // the second of them is the only one left
    CHECK(fleet.health("n003") == 1);
}

TEST_CASE("a check that is bad on many hosts is itself in doubt") {
    Fleet fleet(8);
    for (const int host : {1, 2})
        for (const std::uint32_t user : {1001U, 1002U})
            fleet.tell(Fleet::name(host), user, CheckVerdict::bad);
    CHECK(agreed_checks(fleet.state, fleet.now).size() == 2); // a quarter
    for (const std::uint32_t user : {1001U, 1002U})
        fleet.tell("n003", user, CheckVerdict::bad);
    CHECK(agreed_checks(fleet.state, fleet.now).empty());
    CHECK(fleet.health("n001") == 1);
    // Of few hosts one may be bad.
    Fleet two(2);
    for (const std::uint32_t user : {1001U, 1002U})
        two.tell("n001", user, CheckVerdict::bad);
    CHECK(two.health("n001") == Approx(0.6));
}

TEST_CASE("a result whose user is not known agrees with nobody") {
    Fleet fleet(8);
    fleet.tell("n003", 1001, CheckVerdict::bad);
    fleet.tell("n003", 1002, CheckVerdict::bad);
    fleet.state.hosts["n003"].checks.front().readings.back().uid.reset();
    CHECK(fleet.health("n003") == 1);
}

TEST_CASE("an idle check's word counts alone, until a sound one, and not on many hosts") {
    Fleet fleet(8);
    fleet.find_idle("n003", CheckVerdict::bad);
    CHECK(fleet.health("n003") == Approx(0.6));
    CHECK(fleet.why("n003") == "mlx5_3:1 net.bandwidth is bad in an idle check");
    fleet.tell("n003", 1001, CheckVerdict::sound);
    CHECK(fleet.health("n003") == 1);
    for (const auto* host : {"n001", "n002", "n003"})
        fleet.find_idle(host, CheckVerdict::bad);
    CHECK(agreed_checks(fleet.state, fleet.now).empty()); // what is expected is wrong
}
