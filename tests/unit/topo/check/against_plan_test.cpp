#include "topo/check/against_plan.hpp"

#include "topo/fabric_json.hpp"
#include "topo/guid.hpp"
#include "topo/names.hpp"
#include "topo/read/plan_file.hpp"
#include "unit/topo/fabrics.hpp"

#include <fmt/format.h>

namespace {

using topo::Fabric;

topo::CablingPlan plan(std::string_view text, const Fabric& seen) {
    auto read = topo::read_plan(text, "p", seen);
    if (!read) FAIL(read.error().text);
    return *std::move(read);
}

std::string error(std::string_view text, const Fabric& seen) {
    const auto read = topo::read_plan(text, "p", seen);
    return read ? "was read" : read.error().text;
}

// "CODE: EVIDENCE; FIX", a line each.
std::string deviations(const Fabric& planned, const Fabric& seen) {
    std::string all;
    for (const auto& finding : topo::check_against(planned, seen))
        all += (all.empty() ? "" : "\n") + finding.code + ": " + finding.text;
    return all;
}

// The link of an HCA of a host, by rail.
topo::Link& link(Fabric& fabric, std::string_view host, int rail) {
    const auto h = fabric.find_host(host);
    REQUIRE(h);
    for (const auto& hca : fabric.hosts[*h].hcas)
        if (hca.rail == rail) return fabric.links[topo::at(hca.ports[0].link)];
    FAIL("no such rail");
    return fabric.links[0];
}

topo::End& leaf_end(topo::Link& link) {
    return link.a.switch_ != topo::none ? link.a : link.b;
}

} // namespace

TEST_CASE("a fabric is as its own plan, as JSON and as CSV", "[plan]") {
    const auto fabric = made("pods=2 units=2 hosts=4 rails=4 storage=1");
    CHECK(deviations(plan(topo::print_fabric(topo::blessed(fabric)), fabric).fabric, fabric).empty());
    const auto table = plan(topo::plan_csv(fabric), fabric);
    CHECK(table.notes.empty());
    CHECK(deviations(table.fabric, fabric).empty());
    CHECK(error(topo::print_fabric(fabric), fabric).find("railtopo bless makes a plan of it") !=
          std::string::npos);
}

TEST_CASE("each deviation from a plan is told once", "[plan]") {
    const auto sound = made("units=2 hosts=4 rails=4");
    const auto planned = plan(topo::plan_csv(sound), sound).fabric;
    auto seen = sound;
    SECTION("whole hosts exchanged, which no sibling tells") {
        for (int r = 0; r < 4; ++r)
            std::swap(leaf_end(link(seen, "n001", r)), leaf_end(link(seen, "n002", r)));
        topo::derive(seen);
        CHECK(topo::check(seen).empty());
        CHECK(deviations(planned, seen) == "plan.hosts_exchanged: n001 and n002 have changed places, with 4 "
                                           "cables each; exchange the cables of the "
                                           "hosts, all of them, or the hosts");
    }
    SECTION("a cable in a free port") {
        auto& end = leaf_end(link(seen, "n003", 1));
        const auto before = topo::end_name(seen, end);
        end.port = 60;
        topo::derive(seen);
        CHECK(deviations(planned, seen) == fmt::format("plan.port: n003 mlx5_1/1 leads to leaf-su1-r1/60, "
                                                       "not to {0} as planned; move the cable from "
                                                       "leaf-su1-r1/60 to {0}, or change the plan",
                                                       before));
    }
    SECTION("two cables swapped") {
        std::swap(leaf_end(link(seen, "n003", 1)), leaf_end(link(seen, "n004", 2)));
        topo::derive(seen);
        CHECK(deviations(planned, seen)
                  .starts_with("plan.swapped: the cables of n003 mlx5_1/1 (rail 1) and n004 "));
    }
    SECTION("a cable missing, a host missing") {
        const auto gone = link(seen, "n005", 0).a.host != topo::none
                              ? topo::end_name(seen, link(seen, "n005", 0).a)
                              : topo::end_name(seen, link(seen, "n005", 0).b);
        std::erase_if(seen.links, [&](const topo::Link& l) {
            return topo::end_name(sound, l.a) == gone || topo::end_name(sound, l.b) == gone;
        });
        topo::derive(seen);
        remove_host(seen, "n008");
        const auto said = deviations(planned, seen);
        CHECK(said.find("plan.host_missing: n008 is planned and not seen") != std::string::npos);
        CHECK(said.find("plan.missing: the link ") != std::string::npos);
        CHECK(std::count(said.begin(), said.end(), '\n') == 1);
    }
    SECTION("a host that is not planned") {
        auto smaller = sound;
        remove_host(smaller, "n004");
        const auto said = deviations(plan(topo::plan_csv(smaller), sound).fabric, sound);
        CHECK(said ==
              "plan.host_extra: n004 is not in the plan: 4 HCAs, in su1; add it to the plan, or look what it "
              "does there");
    }
}

TEST_CASE("plans as people write them", "[plan]") {
    const auto seen = made("hosts=2 rails=2");
    const auto switch_guid = topo::format_guid(seen.switches[0].guid);
    const std::string rest = "leaf-su1-r1,1,n001,mlx5_1\nleaf-su1-r1,2,n002,mlx5_1:1\n";
    for (const auto& text :
         {"leaf-su1-r0,1,n001,mlx5_0\n" + switch_guid + ",Port 2,n002 mlx5_0,1\n" + rest,
          std::string("\xEF\xBB\xBF#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort\r\n"
                      "leaf-su1-r0,1/1/1,rack 1,n001,mlx5_0/1\r\n\"leaf-su1-r0\",1/1/2,,n002,mlx5_0\r\n"
                      "leaf-su1-r1,1,,n001,mlx5_1\nleaf-su1-r1,2,,n002,mlx5_1\n"),
          std::string(
              "# by "
              "hand\ndevice_a;port_a;device_b;port_b\nn001;mlx5_0;leaf-su1-r0;1\nn002;mlx5_0;leaf-su1-r0;2\n"
              "n001;mlx5_1;leaf-su1-r1;1\nn002;mlx5_1;leaf-su1-r1;2\n")}) {
        INFO(text);
        const auto read = plan(text, seen);
        REQUIRE(read.notes.size() == 1); // that it has no uplinks
        CHECK(deviations(read.fabric, seen).empty());
    }
    CHECK(error("", seen).find("holds no cable") != std::string::npos);
    CHECK(error("a,1,b\n", seen) == "p:1: a cable is wanted: device, port, device, port");
    CHECK(error("leaf-su1-r0,x,n001,mlx5_0\n", seen) ==
          "p:1: 'x': a port of leaf-su1-r0 is wanted, a number");
    CHECK(error("leaf-su1-r0,1,n001,1\n", seen) == "p:1: n001 has 2 HCAs: say which, such as mlx5_0/1");
    CHECK(error("leaf-su1-r0,1,n001,mlx5_0\nleaf-su1-r0,1,n002,mlx5_0\n", seen) ==
          "p:2: leaf-su1-r0 1 is planned twice, in line 1 too");
    auto twins = seen;
    for (auto& s : twins.switches)
        s.name = "leaf";
    CHECK(error("leaf,1,n001,mlx5_0\n", twins) == "p:1: 2 switches are called leaf: give its GUID");
    CHECK(deviations(plan(topo::plan_csv(twins), twins).fabric, twins).find("plan.") == std::string::npos);
}

TEST_CASE("a plan as YAML", "[plan]") {
    const auto seen = made("hosts=2 rails=1");
    const auto list =
        plan("- [leaf-su1-r0, 1, n001, mlx5_0]\n- {device_a: n002, port_a: mlx5_0, device_b: leaf-su1-r0, "
             "port_b: 2}\n",
             seen);
    CHECK(deviations(list.fabric, seen).empty());
    CHECK(deviations(
              plan("cables:\n  - [leaf-su1-r0, 2, n001, mlx5_0]\n  - [leaf-su1-r0, 1, n002, mlx5_0]\n", seen)
                  .fabric,
              seen)
              .starts_with("plan.swapped: "));
    CHECK(error("- [leaf-su1-r0, 1, n001]\n", seen).starts_with("p:1: a cable is wanted"));
    const auto unseen = plan("- [leaf-su1-r0, 1, n001, mlx5_0]\n- [leaf-su1-r0, 2, n002, mlx5_0]\n"
                             "- [leaf-su1-r0, 3, n003, mlx5_0]\n",
                             seen);
    CHECK(deviations(unseen.fabric, seen).starts_with("plan.host_missing: n003 is planned and not seen"));
}

TEST_CASE("a switch that is not seen is no host, however few of its ports are planned", "[plan]") {
    const auto seen = made("hosts=2 rails=2");
    for (const auto* host : {"n001,mlx5_0", "n001 mlx5_0,1", "n003,mlx5_0"}) {
        const auto text = std::string(host) + ",lefa-su1-r0,1\nleaf-su1-r0,2,n002,mlx5_0\n"
                                              "leaf-su1-r1,1,n001,mlx5_1\nleaf-su1-r1,2,n002,mlx5_1\n";
        const auto said = deviations(plan(text, seen).fabric, seen);
        INFO(text << said);
        CHECK(said.find("plan.switch_missing: lefa-su1-r0 is planned and not seen") != std::string::npos);
        CHECK(said.find("host_missing: lefa") == std::string::npos);
    }
}
