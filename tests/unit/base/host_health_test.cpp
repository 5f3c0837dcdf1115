#include "base/host_health.hpp"

#include <catch2/catch.hpp>

using base::parse_health;

TEST_CASE("the health file is read back as it was written") {
    const base::HealthFile file{base::time_from_seconds(1700000000.5),
                                {{"n003", {0.6F, "mlx5_2:1 \"symbol errors\""}}, {"n010", {0.054F, ""}}}};
    const auto read = parse_health(base::print_health(file), "health.json");
    REQUIRE(read);
    CHECK(read->written == file.written);
    CHECK(read->hosts == file.hosts);
    CHECK_FALSE(read->spare_floor);
    CHECK(parse_health(base::print_health({}), "x")->hosts.empty());
    CHECK(parse_health(base::print_health({{}, {}, base::SpareFloor{3, 0.01}}), "x")->spare_floor ==
          base::SpareFloor{3, 0.01});
    CHECK(parse_health(base::print_health({{}, {}, base::SpareFloor{0, 0.5}}), "x")->spare_floor ==
          base::SpareFloor{0, 0.5});
    const base::SavedMap saved{{7, base::time_from_seconds(1700000000)}, {812, base::time_from_seconds(5)}};
    CHECK(parse_health(base::print_health({{}, {}, {}, saved}), "x")->saved == saved);
}

TEST_CASE("a broken health file is refused with the place") {
    CHECK_FALSE(parse_health(R"({"v": 1, "written": 1, "hosts": {}, "saved": {"x": 1}})", "x"));
    CHECK_FALSE(parse_health(R"({"v": 1, "written": 1, "hosts": {}, "saved": {"7": -1}})", "x"));
    const auto refusal = [](std::string_view text) {
        const auto read = parse_health(text, "health.json");
        REQUIRE_FALSE(read);
        return read.error().text;
    };
    CHECK_THAT(refusal("{"), Catch::StartsWith("health.json: "));
    CHECK_THAT(refusal(R"({"v":2,"written":1,"hosts":{}})"), Catch::StartsWith("health.json: v"));
    CHECK_THAT(refusal(R"({"v":1,"hosts":{}})"), Catch::Contains("written"));
    CHECK_THAT(refusal(R"({"v":1,"written":1e300,"hosts":{}})"), Catch::Contains("written"));
    CHECK_THAT(refusal(R"({"v":1,"written":1})"), Catch::Contains("hosts"));
    CHECK_THAT(refusal(R"({"v":1,"written":1,"hosts":{"n1":{"health":1.5,"why":""}}})"),
               Catch::Contains("hosts.n1") && Catch::Contains("between 0 and 1"));
    CHECK_THAT(refusal(R"({"v":1,"written":1,"hosts":{},"spare_floor":-1})"), Catch::Contains("spare_floor"));
    CHECK_THAT(refusal(R"({"v":1,"written":1,"hosts":{"n1":{"health":0.5}}})"), Catch::Contains("hosts.n1"));
}

TEST_CASE("the health file lies beside the journal unless it is named") {
    const auto path = [](std::string_view text) {
        const auto conf = base::Conf::from_text(text, "railyard.conf");
        REQUIRE(conf);
        return base::health_path(conf->placement, conf->restartd);
    };
    CHECK(path("") == "/var/lib/railyard/health.json");
    CHECK(path("[restartd]\njournal = \"/state/rail.db\"\n") == "/state/health.json");
    CHECK(path("[placement]\nhealth = \"/run/h\"\n") == "/run/h");
}
