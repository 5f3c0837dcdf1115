#include "restart/core/store/state_json.hpp"
#include "restart/ctl/show_checks.hpp"
#include "restart/daemon/check_views.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace restart;

namespace {

const base::Time start = base::time_from_seconds(1'700'000'000);

CheckWord word(double value, const std::string& unit = "Gb/s", CheckVerdict verdict = CheckVerdict::sound) {
    return {"", "net.bandwidth", "mlx5_0:1", verdict, value, 200.0, unit, ""};
}

void take(State& state, const std::string& host, const CheckWord& said, std::uint64_t job) {
    take_check(state.hosts[host].checks, said, {base::JobId(job), 0, 1000},
               start + base::Duration(1000 * job));
}

State fleet(double value, const std::string& unit) {
    State state;
    for (int i = 0; i < 9; ++i)
        take(state, fmt::format("n{}", i), word(i == 4 ? value : 180 + i, unit), 1);
    return state;
}

} // namespace

TEST_CASE("a host below nine tenths of the fleet's median stands out, a slow time likewise") {
    const auto slow = checks_of(fleet(150, "Gb/s"), start, {});
    REQUIRE(slow.rows.size() == 9);
    CHECK(slow.rows[0].host == "n4");
    CHECK(slow.rows[0].signs == std::vector<std::string>{"82 % of the fleet's median"});
    CHECK(slow.rows[1].signs.empty());
    CHECK(slow.rows[1].host == "n0");
    CHECK(checks_of(fleet(150, "us"), start, {}).rows[0].signs.empty());
    CHECK(checks_of(fleet(250, "us"), start, {}).rows[0].signs.size() == 1);
    CHECK(checks_of(fleet(170, "Gb/s"), start, {}).rows[0].signs.empty());
    // A disk is others' too.
    for (const double value : {95.0, 80.0}) {
        auto disks = fleet(value, "MB/s");
        for (auto& [name, host] : disks.hosts)
            host.checks.front().check = "disk.read";
        CHECK(checks_of(disks, start, {}).rows[0].signs.empty() == (value > 92));
    }
    // Too few hosts to have a median that says anything.
    auto few = fleet(150, "Gb/s");
    few.hosts.erase("n0");
    few.hosts.erase("n1");
    CHECK(checks_of(few, start, {}).rows[0].signs.empty());
}

TEST_CASE("what falls below its own earlier values stands out before it is bad") {
    State state;
    for (std::uint64_t job = 1; job <= 3; ++job)
        take(state, "n1", word(190), job);
    CHECK(checks_of(state, start, {}).rows[0].signs.empty());
    take(state, "n1", word(160), 4);
    const auto checks = checks_of(state, start, "n1");
    CHECK(checks.rows.at(0).signs == std::vector<std::string>{"falls: 84 % of what it was"});
    CHECK(checks.rows[0].before == 190.0);
    CHECK(checks.rows[0].readings == 4);
    CHECK(checks_of(state, start, "n2").rows.empty());
    const auto text = show(checks, false);
    CHECK(text.find("falls: 84 % of what it was") != std::string::npos);
    CHECK(text.find("1 results of 1 host: 1 stand out") != std::string::npos);
    const auto read = Checks::from_json(checks.to_json());
    REQUIRE(read);
    CHECK(read->rows == checks.rows);
}

TEST_CASE("what is kept of checks is bounded, and a start's later word replaces its earlier one") {
    State state;
    auto& known = state.hosts["n1"].checks;
    for (std::uint64_t job = 1; job <= 20; ++job) {
        take(state, "n1", word(100), job);
        take(state, "n1", word(100 + static_cast<double>(job)), job);
    }
    REQUIRE(known.size() == 1);
    CHECK(known[0].readings.size() == most_check_readings);
    CHECK(known[0].readings.back().value == 120.0);
    CHECK(known[0].readings.front().value == 115.0);
    for (std::uint64_t i = 0; i < 200; ++i) {
        auto other = word(1);
        other.component = fmt::format("part{}", i);
        take(state, "n1", other, 30 + i);
    }
    CHECK(known.size() == most_known_checks);
    CHECK(known.back().component == "part199");
    auto untold = word(1);
    untold.verdict = CheckVerdict::not_run;
    untold.component = "other";
    take(state, "n1", untold, 999);
    CHECK(known.back().component == "part199");
    const auto copy = state_from_json(to_json(state));
    REQUIRE(copy);
    CHECK(*copy == state);
}

TEST_CASE("what two users' checks agree on says that it is avoided") {
    State state = fleet(180, "Gb/s");
    for (const std::uint32_t uid : {1001U, 1002U})
        take_check(state.hosts["n3"].checks, word(20, "Gb/s", CheckVerdict::bad), {base::JobId(uid), 0, uid},
                   start);
    const auto rows = checks_of(state, start, "n3").rows;
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].signs.front() == "bad");
    CHECK(rows[0].signs.back() == "2 users say so: avoided");
}
