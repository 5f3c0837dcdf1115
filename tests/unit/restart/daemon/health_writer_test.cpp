#include "restart/daemon/health_writer.hpp"

#include "base/file.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

TEST_CASE("the health file is written for a checkpoint within ten seconds, and not for each") {
    const test::Folder folder;
    const auto path = folder.path / "health.json";
    const auto start = base::time_from_seconds(1'700'000'000);
    restart::HealthWriter writer;
    const auto saved_at = [&](base::Duration later, base::Duration saved) {
        writer.write(path, {start + later, {}, {}, {{12, start + saved}}});
        const auto text = base::read_file(path, 1 << 20);
        REQUIRE(text);
        return base::parse_health(*text, "health.json")->saved.at(12) - start;
    };
    CHECK(saved_at(0s, 0s) == 0s);
    CHECK(saved_at(4s, 4s) == 0s);
    CHECK(saved_at(9s, 8s) == 0s);
    CHECK(saved_at(10s, 8s) == 8s);
    CHECK(saved_at(11s, 11s) == 8s);
    writer.write(path, {start + 12s, {{"n1", {0.5F, "link"}}}, {}, {{12, start + 11s}}}); // hosts at once
    CHECK(base::parse_health(*base::read_file(path, 1 << 20), "health.json")->saved.at(12) == start + 11s);
}
