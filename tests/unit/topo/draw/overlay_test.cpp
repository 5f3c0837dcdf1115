#include "topo/draw/overlay.hpp"

#include "topo/derive.hpp"
#include "topo/draw/marks.hpp"
#include "topo/names.hpp"
#include "topo/synth/synth.hpp"
#include "topo/tool/status_overlay.hpp"

#include <catch2/catch.hpp>

namespace {

topo::Fabric fabric() {
    return *topo::synthesise(*topo::parse_synth("units=2 hosts=4 rails=2"));
}

} // namespace

TEST_CASE("state lines are laid over the hosts, the worse one winning") {
    using base::HostState;
    const auto f = fabric();
    topo::Overlay overlay;
    REQUIRE(topo::add_states(
        overlay, f, "n[1-3] idle\nn002 drain 0.5\nn003 alloc\nn002 idle 0.7\nn003 idle\nx9 down\n", "s"));
    CHECK_FALSE(overlay.hosts[0].state); // n1 is not n001
    CHECK(overlay.hosts[1].state == HostState::drained);
    CHECK(overlay.hosts[1].health == 0.5F);
    CHECK(overlay.hosts[2].state == HostState::busy);
    CHECK(overlay.unknown == std::vector<std::string>{"n1", "n2", "n3", "x9"});
    topo::Overlay other;
    const auto bad = topo::add_states(other, f, "n001 idle\nn002\n", "s.txt");
    REQUIRE_FALSE(bad);
    CHECK(bad.error().text == "s.txt:2: n002: no state; a line is HOST STATE [HEALTH]");
}

TEST_CASE("the status of restartd brings states, jobs and findings") {
    using base::HostState;
    const auto f = fabric();
    topo::Overlay overlay;
    const auto* status = R"( {"v":1,"hosts":[
        {"name":"n001","state":"IDLE+DRAIN","reason":"railyard: rail 1","down":false,"drain":true,"lost":false,
         "findings":[{"rule":"ib.link_down","component":"mlx5_1:1","severity":"evict","since":1,"evidence":"down 20 s"},
                     {"rule":"gpu.ecc","component":"gpu3","severity":"warn","since":1,"evidence":"1 error"}]},
        {"name":"n002","state":"ALLOCATED","down":false,"drain":false,"lost":true,"findings":[]},
        {"name":"n003","state":null,"down":false,"drain":false,"lost":false},
        {"name":"n004","state":"of another manager"},
        {"name":"login","state":"IDLE"}],
      "jobs":[{"id":17,"nodes":["n004","n002","login"]},{"id":18,"nodes":[]}],"incidents":[]})";
    const auto done = topo::tool::add_status(overlay, f, status, "status.json");
    if (!done) FAIL(done.error().text);
    CHECK(overlay.hosts[0].state == HostState::drained);
    CHECK(overlay.hosts[0].reason == "railyard: rail 1");
    CHECK(overlay.hosts[1].state == HostState::down);
    CHECK_FALSE(overlay.hosts[2].state);
    CHECK(overlay.hosts[3].state == HostState::busy);
    CHECK(overlay.unknown == std::vector<std::string>{"login"});
    REQUIRE(overlay.jobs.size() == 1);
    CHECK(overlay.jobs[0].name == "17");
    CHECK(overlay.jobs[0].hosts == std::vector<std::uint32_t>{1, 3});
    REQUIRE(overlay.findings.size() == 2);
    CHECK(overlay.findings[0].ends == std::vector<std::string>{"n001 mlx5_1/1"});
    CHECK(overlay.findings[0].severity == topo::Severity::error);
    CHECK(overlay.findings[1].ends == std::vector<std::string>{"n001"});
    CHECK(overlay.findings[1].severity == topo::Severity::warning);

    const auto refused = [&](std::string_view text) {
        topo::Overlay scratch;
        const auto result = topo::tool::add_status(scratch, f, text, "s");
        return result ? std::string("taken") : result.error().text;
    };
    CHECK(refused("{}") == "s: top level: no \"hosts\": this is not what railctl status --json prints");
    CHECK(refused("{\"hosts\":[]}") ==
          "s: top level: no \"jobs\": this is not what railctl status --json prints");
    CHECK(refused("{\"v\":1,\"hosts\":[{\"name\":3}],\"jobs\":[]}") ==
          "s: hosts[0].name: a string is wanted, not a number");
    CHECK(refused("{\"v\":1,\"hosts\":[{\"name\":\"n001\",\"drain\":1}],\"jobs\":[]}")
              .starts_with("s: hosts[0].drain: "));
    CHECK(refused("{\"hosts\":").starts_with("s: line 1"));
}

TEST_CASE("a host's use counts, in whatever words its state is told") {
    const auto f = fabric();
    topo::Overlay overlay;
    const auto done =
        topo::tool::add_status(overlay, f, R"({"v":1,"time":1,"observe_only":false,"incidents":[],"jobs":[],
        "hosts":[{"name":"n001","unit":"","state":"closed_Adm","use":"drained"},
                 {"name":"n002","unit":"","state":"ok","use":"free"},
                 {"name":"n003","unit":"","state":"idle"},
                 {"name":"n004","unit":"","state":"ok"}]})",
                               "status.json");
    REQUIRE(done);
    using base::HostState;
    CHECK(overlay.hosts[0].state == HostState::drained);
    CHECK(overlay.hosts[1].state == HostState::free);
    CHECK(overlay.hosts[2].state == HostState::free); // an older restartd's: Slurm's word
    CHECK(overlay.hosts[3].state == HostState::busy); // nobody knows
}

TEST_CASE("a job is a name and hosts of the fabric") {
    const auto f = fabric();
    topo::Overlay overlay;
    REQUIRE(topo::add_job(overlay, f, "train=n[003-004],n003,n001"));
    CHECK(overlay.jobs[0].hosts == std::vector<std::uint32_t>{0, 2, 3});
    const auto refused = [&](std::string_view text) { return topo::add_job(overlay, f, text).error().text; };
    CHECK(refused("n001") == "--job n001: a job is NAME=HOSTLIST");
    CHECK(refused("=n001") == "--job =n001: a job is NAME=HOSTLIST");
    CHECK(refused("a=") == "--job a=: names no host; a job is NAME=HOSTLIST");
    CHECK(refused("a=n9") == "--job a=n9: n9 is not in the fabric");
    CHECK(refused("a=n[1").starts_with("--job a=n[1: "));
    CHECK(overlay.jobs.size() == 1);
}

TEST_CASE("findings come as JSON or as lines") {
    auto findings = topo::parse_findings(
        R"({"findings":[{"code":"link.slow","severity":"warning","ends":["n001 mlx5_0/1"],"text":"slow","more":1}]})",
        "f");
    REQUIRE(findings);
    REQUIRE(findings->size() == 1);
    CHECK((*findings)[0].severity == topo::Severity::warning);
    findings = topo::parse_findings("# bad cables\nleaf-su1-r0/2\tflaps\r\n\nn003 mlx5_1/1\n", "f");
    REQUIRE(findings);
    REQUIRE(findings->size() == 2);
    CHECK((*findings)[0].text == "leaf-su1-r0/2: flaps");
    CHECK((*findings)[1].ends == std::vector<std::string>{"n003 mlx5_1/1"});
    CHECK(topo::parse_findings("n001\n\tflaps\n", "f").error().text ==
          "f:2: no end; a line is END, a tab and what is wrong");
    CHECK(topo::parse_findings("{\"findings\":[{\"code\":\"a\"}]}", "f")
              .error()
              .text.starts_with("f: findings[0]"));
}

TEST_CASE("findings are drawn where their ends are") {
    using topo::Severity;
    const auto f = fabric();
    const auto leaf_port = [&](std::uint32_t host, std::size_t hca) {
        const auto& link = f.links[static_cast<std::size_t>(f.hosts[host].hcas[hca].ports[0].link)];
        const auto& end = link.a.host == topo::none ? link.a : link.b;
        return f.switches[static_cast<std::size_t>(end.switch_)].name + "/" + std::to_string(end.port);
    };
    const std::vector<topo::Finding> findings{
        {"a", Severity::warning, {"n002 mlx5_1/1", leaf_port(1, 1)}, {}, {}, "both ends of one link"},
        {"b", Severity::error, {"n002 mlx5_1"}, {}, {}, "the same link again"},
        {"c", Severity::error, {"leaf-su1-r0"}, {}, {}, "a switch"},
        {"d", Severity::warning, {"n[003-004]"}, {}, {}, "hosts"},
        {"e", Severity::info, {"n001"}, {}, {}, "information"},
        {"f", Severity::error, {"nobody mlx5_0/1", "nothing/7", "[", ""}, {}, {}, "ends that are not there"},
        {"g", Severity::warning, {"n004 mlx5_7/1"}, {}, {}, "an HCA the host does not have"}};
    const auto marks = topo::draw::place_marks(f, findings);
    REQUIRE(marks.links.size() == 1);
    CHECK(marks.links.begin()->second.findings == std::vector<std::size_t>{0, 1});
    CHECK(marks.links.begin()->second.severity == Severity::error);
    CHECK(marks.switches.size() == 1);
    CHECK(marks.hosts.size() == 2);
    CHECK(marks.hosts.at(3).findings == std::vector<std::size_t>{3, 6});
    CHECK_FALSE(topo::draw::mark_of_host(f, marks, 0));
    CHECK(topo::draw::mark_of_host(f, marks, 1)->findings == std::vector<std::size_t>{0, 1});
    CHECK(topo::draw::marks_of_switches(f, marks).size() == 1); // a link to a host is the host's
}

TEST_CASE("a GUID says which of two things of one name a finding is about") {
    auto f = fabric();
    f.switches[1].name = f.switches[0].name;
    f.hosts[0].hcas[1].device = f.hosts[0].hcas[0].device;
    topo::derive(f);
    const auto marks = topo::draw::place_marks(
        f, {{"a", topo::Severity::warning, {topo::switch_name(f, 1)}, {}, {}, "a switch"},
            {"b", topo::Severity::warning, {topo::end_name(f, {0, 1, topo::none, 1})}, {}, {}, "a link"}});
    REQUIRE(marks.switches.size() == 1);
    CHECK(marks.switches.begin()->first == 1);
    REQUIRE(marks.links.size() == 1);
    CHECK(marks.links.begin()->first == static_cast<std::size_t>(f.hosts[0].hcas[1].ports[0].link));
}
