// The tree of switches that schedulers get.
#include "topo/export/export.hpp"
#include "unit/topo/fabrics.hpp"

using topo::Format;

// Of two servers on a spine slurmctld would warn that no switch reaches them.
TEST_CASE("hosts on a spine have a switch of Slurm's tree below its root") {
    auto fabric = made("units=4 hosts=8 rails=2 spines=2");
    const auto spine = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                    [](const auto& s) { return s.name == "spine-pod1-1"; });
    std::uint8_t port = 60;
    for (auto& link : fabric.links)
        if (link.a.host != topo::none && link.a.host < 2)
            link.b = {topo::none, topo::none, static_cast<int>(spine - fabric.switches.begin()), port++};
    fabric.hosts[0].name = "srv-a";
    fabric.hosts[1].name = "srv-b";
    topo::derive(fabric);
    REQUIRE(fabric.hosts[fabric.find_host("srv-a").value()].unit == topo::none);
    const auto tree = topo::export_fabric(fabric, Format::slurm_tree, {}),
               lsf = topo::export_fabric(fabric, Format::lsf, {});
    REQUIRE(tree);
    REQUIRE(lsf);
    CHECK_THAT(tree->text, Catch::EndsWith("SwitchName=su1 Nodes=n[003-008]\n"
                                           "SwitchName=su2 Nodes=n[009-016]\n"
                                           "SwitchName=su3 Nodes=n[017-024]\n"
                                           "SwitchName=su4 Nodes=n[025-032]\n"
                                           "SwitchName=spine-pod1-1 Nodes=srv-a,srv-b\n"
                                           "SwitchName=pod1 Switches=su[1-4],spine-pod1-1\n"));
    CHECK(tree->notes.empty());
    CHECK(lsf->notes == std::vector<std::string>{"srv-a,srv-b are in no unit and left out"});
}
