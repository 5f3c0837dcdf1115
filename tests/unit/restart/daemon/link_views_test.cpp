// What railctl explain says of the links that a job or a host uses.
#include "restart/ctl/show.hpp"
#include "restart/ctl/show_links.hpp"
#include "restart/daemon/link_views.hpp"
#include "restart/wire/status.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using restart::Passing;
using restart::used_links;

namespace {

const auto now = base::time_from_seconds(1'700'000'000);

restart::LinkFinding on(const std::string& a, const std::string& a_port, const std::string& b,
                        const std::string& b_port) {
    return {.rule = "link.symbol_errors",
            .severity = restart::Severity::warn,
            .since = now - 60s,
            .evidence = "20 symbol errors",
            .a = a,
            .a_port = a_port,
            .b = b,
            .b_port = b_port,
            .rail = 1,
            .unit = "",
            .pod = "pod1",
            .hosts = ""};
}

// Two units of a pod, two hosts each; a leaf a rail and unit, a spine, a core. n009 stands in no file.
restart::State world() {
    restart::State state;
    for (const char* name : {"n001", "n002", "n003", "n004"}) {
        const std::string unit = std::string(name) < "n003" ? "su1" : "su2";
        auto& host = state.hosts[name];
        host.unit = unit;
        host.pod = "pod1";
        host.leaves = {"leaf-" + unit + "-r0", "leaf-" + unit + "-r1"};
        host.ports = {{"mlx5_0:1", 0, host.leaves[0], {}}, {"mlx5_1:1", 1, host.leaves[1], {}}};
        for (const auto& leaf : host.leaves)
            state.switches[leaf] = {0, "pod1", 4, {}};
    }
    state.hosts["n009"];
    state.switches["spine1"] = {1, "pod1", 8, {}};
    state.switches["core1"] = {2, "", 2, {}};
    state.swept = now - 2s;
    state.links_judged = now - 2s;
    state.counters = restart::CounterCoverage{64, 64, 0.01};
    return state;
}

std::string passing(const restart::State& state, const std::vector<std::string>& hosts, bool job = true) {
    std::string text;
    for (const auto& link : used_links(state, now, hosts, job, {}).findings) {
        text += text.empty() ? "" : " ";
        for (const auto& host : link.hosts)
            text += host + ",";
        text += std::array{"all", "some", "none", "other"}[static_cast<std::size_t>(link.passing)];
    }
    return text;
}

} // namespace

TEST_CASE("what passes a link depends on where it is and where the job's other hosts are") {
    auto state = world();
    SECTION("a host's own") {
        state.links = {on("n001", "mlx5_1:1", "leaf-su1-r1", "1")};
        CHECK(passing(state, {"n001", "n003"}) == "n001,all");
        CHECK(passing(state, {"n002", "n003"}).empty()); // it is not on their way
        CHECK(passing(state, {"n001"}, false) == "n001,all");
    }
    SECTION("a leaf's upwards: of use only to who goes beyond the leaf") {
        state.links = {on("leaf-su1-r1", "30", "spine1", "1")};
        CHECK(passing(state, {"n001", "n002"}) == "n001,n002,none");
        CHECK(passing(state, {"n001", "n003"}) == "n001,some");
        CHECK(passing(state, {"n003", "n004"}).empty());
        CHECK(passing(state, {"n001"}, false) == "n001,some");
    }
    SECTION("above leaves, by pods") {
        state.links = {on("spine1", "9", "core1", "1")};
        CHECK(passing(state, {"n001", "n003"}) == "n001,n003,none");
        state.hosts["n003"].pod = "pod2";
        CHECK(passing(state, {"n001", "n003"}) == "n001,some");
        state.links[0].pod = "pod7";
        CHECK(passing(state, {"n001", "n003"}).empty());
    }
    SECTION("a rail of a unit") {
        auto rail = on("unit su1", "rail 1", "", "");
        rail.unit = "su1";
        state.links = {rail};
        CHECK(passing(state, {"n001", "n003"}) == "n001,all");
        CHECK(passing(state, {"n003", "n004"}).empty());
    }
    SECTION("another host's, for which they wait") {
        state.links = {on("n004", "mlx5_1:1", "leaf-su2-r1", "2")};
        CHECK(passing(state, {"n001", "n002"}).empty());
        state.links[0].hosts = "n[001-002,004]";
        CHECK(passing(state, {"n001", "n009"}) == "n001,other");
        CHECK(passing(state, {"n004", "n001"}) == "n004,all");
    }
}

TEST_CASE("that there is no finding is said only when that is known") {
    auto state = world();
    const auto told = [&](const std::vector<std::string>& hosts) {
        return restart::show(used_links(state, now, hosts, true, {}), now, "links");
    };
    CHECK(told({"n001", "n002"}) ==
          "links: none of them has a finding (judged 2.0 s ago, by the counters of 64 of 64 ports)\n");
    CHECK_THAT(told({"n001", "n009"}), Catch::Contains("not known: n009 is not in the fabric file"));
    CHECK_THAT(told({"n001", "nobody", "n009"}), Catch::Contains("n009, nobody are not in the fabric file"));
    state.links_judged = now - 180s;
    CHECK_THAT(told({"n001"}), Catch::Contains("not known: fabricwatchd last judged them 3 min 0 s ago"));
    // What was there then is told as that.
    state.links = {on("n001", "mlx5_1:1", "leaf-su1-r1", "1")};
    CHECK_THAT(told({"n001"}), Catch::Contains("; they were:\n  n001 mlx5_1:1 - leaf-su1-r1 port 1: "));
    state.links_judged.reset();
    CHECK_THAT(told({"n001"}), Catch::Contains("has not read the counters of any port"));
    state.swept.reset();
    CHECK_THAT(told({"n001"}), Catch::Contains("fabricwatchd has told nothing of links"));
}

TEST_CASE("links that are down are told with their leaf, and not all of thousands") {
    auto state = world();
    state.switches["leaf-su1-r1"].down = {"leaf-su1-r1 port 30 - spine1 port 1", "n001 mlx5_1:1",
                                          "n002 mlx5_1:1"};
    CHECK(used_links(state, now, {"n001"}, true, {}).down ==
          std::vector<std::string>{"leaf-su1-r1 port 30 - spine1 port 1", "n001 mlx5_1:1 - leaf-su1-r1"});
    CHECK(used_links(state, now, {"n003"}, true, {}).down.empty());
    auto& down = state.switches["leaf-su1-r0"].down;
    for (int i = 0; i < 1000; ++i)
        down.push_back("leaf-su1-r0 port " + std::to_string(i) + " - spine1 port 1");
    const auto many = used_links(state, now, {"n003", "n002"}, true, {}).down;
    CHECK(many.size() == restart::most_down_shown + 1);
    CHECK(many.back() == "970 more");
}

TEST_CASE("to whom hosts are not shown no other host is named") {
    auto state = world();
    auto other = on("n004", "mlx5_1:1", "leaf-su2-r1", "2");
    other.hosts = "n[001-004]";
    other.evidence = "n004 mlx5_1:1: it takes too little";
    auto uplink = on("leaf-su1-r1", "30", "spine1", "1");
    uplink.hosts = "n[001-002]";
    state.links = {other, uplink};
    restart::View view{false, 1000, {}, {}};
    view.hides.nodes = true;
    const auto links = used_links(state, now, {"n001", "n003"}, true, view);
    REQUIRE(links.findings.size() == 2);
    restart::JobExplanation explanation;
    explanation.links = links;
    const auto json = explanation.to_json();
    for (const char* secret : {"n002", "n004", "[001-002]", "[001-004]"})
        CHECK(json.find(secret) == std::string::npos);
    CHECK(links.findings[1].finding.hosts == "n001");
}

TEST_CASE("links come over the wire as they were sent, and are shown with both ends and the rail") {
    auto state = world();
    state.links = {on("n001", "mlx5_1:1", "leaf-su1-r1", "1")};
    restart::JobExplanation job;
    job.time = now;
    job.job.emplace().id = base::JobId(12);
    job.job->state = "running";
    job.links = used_links(state, now, {"n001", "n003"}, true, {});
    const auto read = restart::JobExplanation::from_json(job.to_json());
    REQUIRE(read);
    CHECK(read->links == job.links);
    const auto text = restart::show(*read);
    REQUIRE(text);
    CHECK_THAT(*text,
               Catch::Contains("links it uses: 1 finding (judged 2.0 s ago") &&
                   Catch::Contains("  n001 mlx5_1:1 - leaf-su1-r1 port 1: link.symbol_errors, warn, rail 1, "
                                   "since ") &&
                   Catch::Contains("    all that n001 sends and receives on rail 1 passes it\n"));
    restart::HostExplanation host;
    host.host.emplace().name = "n001";
    host.links = used_links(state, now, {"n001"}, false, {});
    const auto again = restart::HostExplanation::from_json(host.to_json());
    REQUIRE(again);
    CHECK(again->links == host.links);
    CHECK_THAT(restart::show(*again), Catch::Contains("links it uses: 1 finding"));
}
