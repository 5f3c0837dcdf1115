#include "restart/core/detect/health.hpp"
#include "restart/core/store/state_json.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

using restart::Severity;

namespace {

restart::LinkFinding finding(Severity severity, const std::string& rule = "link.symbol_errors") {
    return {.rule = rule,
            .severity = severity,
            .since = {},
            .evidence = "leaf1 port 2: 20 symbol errors",
            .a = "n002",
            .a_port = "mlx5_1:1",
            .b = "leaf1",
            .b_port = "2",
            .rail = 1,
            .unit = "su1",
            .pod = "pod1",
            .hosts = "n002"};
}

void tell(World& world, std::vector<restart::LinkFinding> findings) {
    restart::FabricReport report;
    report.changes = true;
    report.findings = std::move(findings);
    report.counters = {64, 63, 0.01};
    world.send(restart::FabricSwept{report});
}

std::size_t times(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++count;
    return count;
}

} // namespace

TEST_CASE("what fabricwatchd says of links is kept and noted once, and moves nobody") {
    World world(4);
    world.round_trip = 1;
    const auto job = world.submit({"n001", "n002"});
    world.run(10);
    for (int i = 0; i < 5; ++i) {
        auto warning = finding(Severity::warn);
        warning.evidence += std::string(static_cast<std::size_t>(i), '!'); // numbers grow
        tell(world, {warning, finding(Severity::info, "link.waiting")});
        world.run(2);
    }
    INFO(world.story());
    CHECK(world.state().links.size() == 2);
    CHECK(world.state().counters->answered == 63);
    CHECK(times(world.story(), "link n002 mlx5_1:1 - leaf1 port 2: link.symbol_errors (warn)") == 1);
    CHECK(times(world.story(), "link.waiting") == 0);
    CHECK(world.state().incidents.empty());
    CHECK(world.has_job(job));
    CHECK(restart::health_of(world.state(), world.now(), std::chrono::days(14)).empty());
    CHECK(*restart::state_from_json(to_json(world.state())) == world.state());

    // What is repeated after a reading that failed was not judged now.
    const auto judged = world.state().links_judged;
    REQUIRE(judged);
    restart::FabricReport unread;
    unread.findings = world.state().links;
    unread.counters = {64, 0, 0.01};
    world.send(restart::FabricSwept{unread});
    CHECK(world.state().links_judged == judged);

    // A report that says nothing of links, as of an older fabricwatchd, ends nothing.
    restart::FabricReport sweep;
    sweep.complete = true;
    world.send(restart::FabricSwept{sweep});
    CHECK(world.state().links.size() == 2);
    tell(world, {});
    CHECK(world.state().links.empty());
    CHECK(times(world.story(), "link n002 mlx5_1:1 - leaf1 port 2: link.symbol_errors: cleared") == 1);
}
