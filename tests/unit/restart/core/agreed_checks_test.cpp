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
    static constexpr std::uint32_t root = 0, own = 64030;
    State state;
    base::Time now = start;
    std::uint64_t jobs = 0;

    explicit Fleet(int hosts) {
        for (int i = 0; i < hosts; ++i)
            tell(name(i), 1000, CheckVerdict::sound);
    }
    static std::string name(int i) { return fmt::format("n{:03}", i); }

    void tell(const std::string& host, std::uint32_t uid, CheckVerdict verdict,
              const std::string& component = "mlx5_3:1", std::uint32_t level = 1) {
        now += 1min;
        take_check(state.hosts[host].checks,
                   {host, "net.bandwidth", component, verdict, 50, 400, "Gb/s", "slow"},
                   {base::JobId(++jobs), 0, uid, false, level}, now);
    }
    // By an idle check.
    void find_idle(const std::string& host, CheckVerdict verdict, std::uint32_t level = 1) {
        now += 1min;
        take_check(state.hosts[host].checks,
                   {host, "net.bandwidth", "mlx5_3:1", verdict, 50, 400, "Gb/s", ""},
                   {base::JobId(++jobs), 0, own, true, level}, now);
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

TEST_CASE("a sound result, a week or a repair ends what the checks of jobs agreed on") {
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

TEST_CASE("an idle check's word counts alone, and not on many hosts") {
    Fleet fleet(8);
    fleet.find_idle("n003", CheckVerdict::bad);
    CHECK(fleet.health("n003") == Approx(0.6));
    CHECK(fleet.why("n003") == "mlx5_3:1 net.bandwidth is bad in an idle check");
    for (const auto* host : {"n001", "n002"})
        fleet.find_idle(host, CheckVerdict::bad);
    CHECK(agreed_checks(fleet.state, fleet.now).empty()); // what is expected is wrong
}

TEST_CASE(
    "what an idle check found ends by an idle check or root, at its level or above, and by no other user") {
    Fleet fleet(8);
    fleet.find_idle("n003", CheckVerdict::bad, 2);
    fleet.tell("n003", 1001, CheckVerdict::sound, "mlx5_3:1", 3);
    CHECK(fleet.health("n003") == Approx(0.6));
    CHECK(fleet.why("n003") == "mlx5_3:1 net.bandwidth is bad in an idle check");
    fleet.find_idle("n003", CheckVerdict::sound, 1); // sees less
    CHECK(fleet.health("n003") == Approx(0.6));
    const bool by_root = GENERATE(false, true);
    const auto level = GENERATE(2U, 3U);
    by_root ? fleet.tell("n003", Fleet::root, CheckVerdict::sound, "mlx5_3:1", level)
            : fleet.find_idle("n003", CheckVerdict::sound, level);
    CHECK(fleet.health("n003") == 1);
}

TEST_CASE("what jobs found ends by a sound result of the same level or above, of anybody") {
    Fleet fleet(8);
    for (const std::uint32_t user : {1001U, 1002U})
        fleet.tell("n003", user, CheckVerdict::bad, "mlx5_3:1", 2);
    fleet.tell("n003", 1003, CheckVerdict::sound, "mlx5_3:1", 1);
    CHECK(fleet.health("n003") == Approx(0.6));
    GENERATE(false, true) ? fleet.tell("n003", 1003, CheckVerdict::sound, "mlx5_3:1", 2)
                          : fleet.find_idle("n003", CheckVerdict::sound, 2);
    CHECK(fleet.health("n003") == 1);
}

TEST_CASE("however much jobs say, it removes nothing that an idle check found, nor the other way round") {
    Fleet fleet(8);
    fleet.find_idle("n003", CheckVerdict::bad);
    for (std::size_t i = 0; i < 2 * most_check_readings; ++i)
        fleet.tell("n003", 1001, CheckVerdict::sound); // of one part,
    for (std::size_t i = 0; i < 2 * most_known_checks; ++i)
        fleet.tell("n003", 1001, CheckVerdict::sound, fmt::format("made-up{}", i)); // or of many
    CHECK(fleet.health("n003") == Approx(0.6));
    CHECK(fleet.state.hosts["n003"].checks.size() == most_known_checks);

    for (const std::uint32_t user : {1001U, 1002U})
        fleet.tell("n004", user, CheckVerdict::bad);
    for (std::size_t i = 0; i < 2 * most_check_readings; ++i)
        fleet.find_idle("n004", CheckVerdict::warning);
    CHECK(fleet.why("n004") == "mlx5_3:1 net.bandwidth is bad in checks of 2 users");
}

TEST_CASE("a GPU whose products have other bits than those of most hosts is one to avoid") {
    Fleet fleet(8);
    const auto tell = [&](int host, const std::string& digest, bool by_us = true,
                          const char* kind = "cuBLAS 130100, H100") {
        fleet.now += 1min;
        take_check(
            fleet.state.hosts[Fleet::name(host)].checks,
            {"", std::string(product_bits), "gpu3", CheckVerdict::sound, {}, {}, "", digest + ": " + kind},
            {base::JobId(++fleet.jobs), 0, by_us ? Fleet::own : 1001, by_us, 2}, fleet.now);
    };
    const std::string right = "0123456789abcdef", other = "fedcba9876543210";
    tell(0, right);
    tell(1, right);
    tell(3, other);
    CHECK(fleet.health("n003") == 1); // two agree
    for (const int host : {2, 4})
        tell(host, right, false); // as any job could say
    CHECK(fleet.health("n003") == 1);
    tell(2, right);
    CHECK(fleet.health("n003") == Approx(0.6));
    CHECK(fleet.why("n003") == "gpu3 gemm.bits differs from that of 3 hosts");
    CHECK(fleet.health("n002") == 1);
    tell(5, other, true, "cuBLAS 120800, H100"); // another release, which may make others
    CHECK(fleet.health("n005") == 1);
    for (const int host : {4, 6})
        tell(host, other); // as many as those: nobody knows who is right
    CHECK(fleet.health("n003") == 1);
    tell(3, right);
    CHECK(fleet.health("n004") == Approx(0.6));
}
