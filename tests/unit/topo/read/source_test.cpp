#include "topo/read/source.hpp"

#include "topo/names.hpp"
#include "topo/read/loss.hpp"
#include "topo/read/outline.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace {

using topo::SourceFormat;

topo::Assembly read(std::string_view text, SourceFormat format = SourceFormat::automatic) {
    auto assembly = topo::read_source(text, "t", format);
    if (!assembly) FAIL(assembly.error().text);
    return *std::move(assembly);
}

std::string error(std::string_view text, SourceFormat format = SourceFormat::automatic) {
    const auto assembly = topo::read_source(text, "t", format);
    if (assembly) FAIL("was read");
    return assembly.error().text;
}

// "n[1-2] n[3-4]": the hosts of each unit.
std::string units(const topo::Fabric& fabric) {
    std::string text;
    for (const auto& unit : fabric.units)
        text += (text.empty() ? "" : " ") + topo::host_names(fabric, unit.hosts);
    return text;
}

topo::Fabric fabric(std::string_view words) {
    const auto spec = topo::parse_synth(words);
    REQUIRE(spec);
    auto made = topo::synthesise(*spec);
    REQUIRE(made);
    return *std::move(made);
}

// As opensm writes it, each link from both ends.
std::string subnet(const topo::Fabric& fabric) {
    std::string text;
    const auto side = [&](const topo::End& end) {
        if (end.switch_ != topo::none) {
            const auto& s = fabric.switches[topo::at(end.switch_)];
            return fmt::format(
                "{{ SW Ports:{:02X} SystemGUID:{:016x} NodeGUID:{:016x} PortGUID:{:016x} VenID:0002C9 "
                "DevID:D2F2 Rev:000000A1 {{{}}} LID:0001 PN:{:02X} }} ",
                s.ports, s.guid, s.guid, s.guid, s.name, end.port);
        }
        const auto& host = fabric.hosts[topo::at(end.host)];
        const auto& hca = host.hcas[topo::at(end.hca)];
        return fmt::format(
            "{{ CA Ports:01 SystemGUID:{:016x} NodeGUID:{:016x} PortGUID:{:016x} VenID:000002C9 "
            "DevID:10210000 Rev:000000A1 {{{} {}}} LID:000A PN:{:02X} }} ",
            hca.guid, hca.guid, hca.guid + 1, host.name, hca.device, end.port);
    };
    for (const auto& link : fabric.links) {
        text += side(link.a) + side(link.b) + "PHY=4x LOG=ACT SPD=50\n";
        text += side(link.b) + side(link.a) + "PHY=4x LOG=ACT SPD=50\n";
    }
    return text;
}

// Texts that grow in one way each, `size` long.
std::vector<std::pair<std::string, SourceFormat>> long_texts(int size) {
    std::string names = "SwitchName=a Nodes=n0", lines, quotes = "- topology: a\n  tree: [", members;
    for (int i = 1; i < size; ++i) {
        names += ",n" + std::to_string(i);
        lines += "SwitchName=s" + std::to_string(i) + " Nodes=n" + std::to_string(i) + "\n";
        quotes += "\"a\",";
        members += "g" + std::to_string(i) + " (g" + std::to_string(i - 1) + ")\n";
    }
    const auto signs = static_cast<std::size_t>(size) * 10;
    return {{names, SourceFormat::slurm},
            {lines, SourceFormat::slurm},
            {quotes + "]", SourceFormat::slurm},
            {"Begin HostGroup\nGROUP_NAME GROUP_MEMBER\ng0 (n1)\n" + members + "End HostGroup\n",
             SourceFormat::lsf},
            {"{ CA Ports:" + std::string(signs, '{'), SourceFormat::opensm},
            {std::string(signs, '\\'), SourceFormat::slurm}};
}

// CPU time of this thread, in s: what else runs on the machine does not count. The best of three.
double cpu_time_of(const std::pair<std::string, SourceFormat>& text) {
    const auto spent = [] {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
    };
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
        const auto before = spent();
        static_cast<void>(topo::read_source(text.first, "t", text.second));
        best = std::min(best, spent() - before);
    }
    return best;
}

} // namespace

TEST_CASE("formats are detected from content", "[source]") {
    const auto format = [](std::string_view text) { return topo::to_string(topo::detect_format(text)); };
    CHECK(format("# x\n\nSwitch 8 \"S-1\"") == "ibnetdiscover");
    CHECK(format("CA 1 1 0x1 4x HDR") == "ibnetdiscover");
    CHECK(format("width=3\nspeed=7\n") == "ibsim");
    CHECK(format("{ CA Ports:01 SystemGUID:1 NodeGUID:1") == "opensm");
    CHECK(format("# x\nswitchname=a nodes=b") == "slurm");
    CHECK(format("BlockSizes=2") == "slurm");
    CHECK(format("---\n- topology: a") == "slurm");
    CHECK(format("#\nBegin Host") == "lsf");
    CHECK(format("CA: n1 mlx5_0:") == "iblinkinfo");
    CHECK(format("0x1 \"n1 mlx5_0\" 1 1[  ] ==( 4X 10.0 Gbps Active/  LinkUp)==>") == "iblinkinfo");
    CHECK(format("# x\n\"leaf\", Mellanox, 0x1, LID 2") == "net_dump");
    CHECK(format("START_NODES") == "db_csv");
    CHECK(format("[ {\"number\": 1}") == "ufm");
    CHECK(format("HTTP/1.1 200 OK\n\n{\n") == "ufm");
    CHECK(format("[root@sm1 ~]# ibnetdiscover\nvendid=0x2c9") == "ibnetdiscover");
    CHECK(format("") == "auto");
    CHECK(error("{\"railyard_fabric\":1}") == "t: is a fabric file already");
}

TEST_CASE("opensm's subnet list gives the fabric that ibnetdiscover gives", "[source]") {
    const auto made = fabric("units=2 hosts=4 rails=4");
    const auto assembly = read(subnet(made));
    CHECK(assembly.missing.empty());
    CHECK(assembly.fabric.rails == 4);
    CHECK(assembly.fabric.links.size() == made.links.size());
    CHECK(units(assembly.fabric) == "n[001-004] n[005-008]");
    CHECK(assembly.fabric.links[0].mbps == 200000);
    CHECK(assembly.fabric.links[0].state == topo::LinkState::active);
    CHECK(topo::losses(made, assembly.fabric).empty());
}

TEST_CASE("a description with braces, an aggregation node, a link listed at one end", "[source]") {
    auto made = fabric("hosts=2 rails=1");
    made.switches[0].name = "leaf } LID {x}";
    auto text = subnet(made);
    text.erase(0, text.find('\n') + 1);
    CHECK(read(text).fabric.switches[0].name == "leaf } LID {x}");
    made.hosts[1].name = "Mellanox Technologies Aggregation Node";
    CHECK(read(subnet(made)).fabric.hosts.size() == 1);
}

TEST_CASE("a cut or damaged subnet list", "[source]") {
    const auto text = subnet(fabric("hosts=2 rails=2"));
    const auto cut = read(std::string_view(text).substr(0, text.size() - 20));
    REQUIRE_FALSE(cut.missing.empty());
    CHECK(cut.missing[0] == "t:8: the text was cut here; what followed is not known");
    const auto bad = [&](std::string_view from, std::string_view to) {
        auto changed = text;
        changed.replace(changed.find(from), from.size(), to);
        return error(changed);
    };
    CHECK(bad("LOG=ACT", "ACT") == "t:1: 'ACT': PHY=, LOG= or SPD= is wanted");
    CHECK(bad("{ CA", "{ XA") == "t:1: 'XA': SW, CA or Rt is wanted");
    CHECK(bad("PN:01", "PN:FF") == "t:1: 'FF': a port number is wanted");
}

// Of a port that is not up opensm prints no speed; UFM's converters print SPD=? and no numbers of ports.
TEST_CASE("an unknown word of a subnet list is unknown, and the rest is read", "[source]") {
    const auto made = fabric("units=2 hosts=4 rails=4");
    const auto changed = [&](std::string_view from, std::string_view to) {
        auto text = subnet(made);
        for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
        const auto assembly = read(text);
        CHECK(assembly.missing.empty());
        CHECK(assembly.fabric.links.size() == made.links.size());
        return assembly.fabric;
    };
    for (const auto* speed : {"", " SPD=?", " SPD=50x", " SPD="}) {
        INFO(speed);
        const auto seen = changed(" SPD=50", speed);
        CHECK(seen.links[0].mbps == 0);
        CHECK(seen.links[0].width == 4);
        CHECK(seen.units.size() == 2);
    }
    CHECK(changed("PHY=4x", "PHY=??").links[0].width == 0);
    CHECK(changed("LOG=ACT", "LOG=UPP").links[0].state == topo::LinkState::unknown);
    CHECK(changed(" LOG=ACT", "").links[0].mbps == 200000);
    CHECK(changed(" SPD=50", " SPD=50 RCV=7").links[0].mbps == 200000);
}

TEST_CASE("a subnet list that does not count ports", "[source]") {
    const auto made = fabric("units=2 hosts=4 rails=4");
    auto text = subnet(made);
    for (auto at = text.find("Ports:"); at != std::string::npos; at = text.find("Ports:", at + 1))
        text.replace(at + 6, 2, "00");
    const auto seen = read(text).fabric;
    CHECK(seen.links.size() == made.links.size());
    for (const auto& link : seen.links)
        for (const auto* end : {&link.a, &link.b})
            if (end->switch_ != topo::none) CHECK(seen.switches[topo::at(end->switch_)].ports >= end->port);
}

TEST_CASE("nodes of a subnet list without a description", "[source]") {
    auto text = subnet(fabric("hosts=2 rails=1"));
    for (const std::string name : {" {n001 mlx5_0}", " {n002 mlx5_0}", " {leaf-su1-r0}"})
        for (auto at = text.find(name); at != std::string::npos; at = text.find(name))
            text.erase(at, name.size());
    const auto seen = read(text).fabric;
    CHECK(seen.hosts.size() == 2);
    CHECK(seen.links.size() == 2);
    CHECK(seen.hosts[0].name.starts_with("0x"));
}

TEST_CASE("an unknown rate of a tool is unknown, and the rest is read", "[source]") {
    const auto rate = [](std::string_view said) {
        const auto text = fmt::format("Switch 8 \"S-01\" # \"leaf\" base port 0 lid 1 lmc 0\n"
                                      "[1] \"H-02\"[1](3) # \"n1 mlx5_0\" lid 2 {0}\n\n"
                                      "Ca 1 \"H-02\" # \"n1 mlx5_0\"\n"
                                      "[1](3) \"S-01\"[1] # lid 2 lmc 0 \"leaf\" lid 1 {0}\n",
                                      said);
        const auto link = read(text).fabric.links.at(0);
        return std::pair<int, unsigned>(link.width, link.mbps);
    };
    CHECK(rate("4xHDR") == std::pair(4, 200000U));
    CHECK(rate("4xWARP") == std::pair(4, 0U));
    CHECK(rate("?xHDR") == std::pair(0, 0U));
    CHECK(rate("undefined (7)") == std::pair(0, 0U));
    const auto port = [](std::string_view said) {
        return read(fmt::format("CA 1 1 0x00000000000000a1 {0} - SW 3 1 0x00000000000000b1 ( 'n1 mlx5_0' - "
                                "'leaf' )\n"
                                "SW 3 1 0x00000000000000b1 {0} - CA 1 1 0x00000000000000a1 ( 'leaf' - 'n1 "
                                "mlx5_0' )\n",
                                said))
            .fabric.links.at(0)
            .mbps;
    };
    CHECK(port("4x NDR") == 400000);
    CHECK(port("5x NDR") == 0);
    CHECK(port("4x WARP") == 0);
}

TEST_CASE("ibnetdiscover's text that was cut in a line", "[source]") {
    const std::string_view text = "Switch 8 \"S-01\" # \"leaf\" base port 0 lid 1 lmc 0\n"
                                  "[1] \"H-02\"[1](3) # \"n1 mlx5_0\" lid 2 4xHDR\n"
                                  "[2] \"H-04\"[1](5) # \"n2 ml";
    const auto cut = read(text);
    CHECK(cut.missing[0] == "t:3: the text was cut here; what followed is not known");
    CHECK(error(std::string(text) + "\n").starts_with("t:3: "));
}

TEST_CASE("ibsim's net files call nodes by any name", "[source]") {
    const auto named =
        read("switchguid=0x10\nSwitch 4 \"Leaf 1\"\n[1] \"A\"[1]\n[2] \"B\"[2]\n\n"
             "Hca 1 \"A\"\n[1] \"Leaf 1\"[1]\n\nHca 2 \"B\" # \"n2 mlx5_0\"\n[2] \"Leaf 1\"[2]\n");
    CHECK(named.missing.empty());
    CHECK(named.fabric.switches[0].guid == 0x10);
    CHECK(units(named.fabric) == "A,n2");
    CHECK(named.fabric.links.size() == 2);
}

TEST_CASE("topology.conf: a tree, in Slurm's spelling", "[source]") {
    const auto tree = read("# x\nSwitchName=s1 nodes=\"n[1-2],n9\" \\\n  LinkSpeed=100 # fast\n"
                           "switchname=s2 Nodes=n[3-4]\nSwitchName=top Switches=s[1-2]\n");
    CHECK(units(tree.fabric) == "n[1-2,9] n[3-4]");
    CHECK(tree.fabric.pods.size() == 1);
    CHECK(tree.fabric.rails == 1);
    CHECK(tree.fabric.source == "slurm (units only, no rails), t");
    REQUIRE(tree.notes.size() == 1);
    CHECK(topo::is_outline(tree.fabric));
    const auto blocks = read("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n");
    CHECK(units(blocks.fabric) == "n[1-2] n[3-4]");
    CHECK(blocks.fabric.islands.size() == 1);
    const auto twice = read("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[2-3]\n");
    CHECK(twice.notes[0] == "t: in several groups, of which the first is taken: n2");
    CHECK(twice.fabric.hosts.size() == 3);
}

TEST_CASE("topology.conf: two ranges in one name", "[source]") {
    const auto tree = read("SwitchName=s0 Nodes=rack[0-1]_blade[0-1]\n"
                           "SwitchName=s1 Nodes=rack[2-3]_blade[0-1]\nSwitchName=top Switches=s[0-1]\n");
    CHECK(tree.fabric.hosts.size() == 8);
    CHECK(units(tree.fabric) == "rack0_blade[0-1],rack1_blade[0-1] rack2_blade[0-1],rack3_blade[0-1]");
}

TEST_CASE("topology.conf that Slurm would refuse, too", "[source]") {
    CHECK(error("SwitchName=a\n") == "t:1: switch a must have either Nodes or Switches");
    CHECK(error("SwitchName=a Nodes=n1 Switches=b\n") == "t:1: switch a must have either Nodes or Switches");
    CHECK(error("SwitchName=a Nodes=n[1-\n") == "t:1: Nodes: host list \"n[1-\": [ without ]");
    CHECK(error("SwitchName=a Knots=n1\n") ==
          "t:1: 'Knots=n1': SwitchName, Switches, Nodes, LinkSpeed, BlockName or BlockSizes is wanted");
    CHECK(error("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n") == "t:2: a stands in line 1 already");
    CHECK(error("SwitchName=a Nodes=n1\nSwitchName=b Switches=c\n") == "t:2: c is nowhere told");
    CHECK(error("SwitchName=a Switches=b\nSwitchName=b Switches=a\n") ==
          "t:1: a is inside itself, by way of others");
    CHECK(error("SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n") ==
          "t:2: the file has both switches and blocks");
    CHECK(error("SwitchName=a Nodes=n1 \\\n") == "t:1: the file ends in a line that should be continued");
    CHECK(error("SwitchName=a Nodes=n[1-1000000]\nSwitchName=b Nodes=m[1-1000000]\n") ==
          "t:2: the file names more than a million things");
}

TEST_CASE("topology.yaml: the default topology, lists of names, trees and blocks", "[source]") {
    const auto tree =
        read("- topology: a\n  flat: true\n- topology: b\n  cluster_default: true\n  tree:\n"
             "    switches:\n      - switch: top\n        children: s[1-2]\n"
             "      - switch: s1\n        nodes: n[1-2]\n      - switch: s2\n        nodes: [n3, \"n4\"]\n"
             "- topology: c\n  block:\n    blocks: []\n");
    CHECK(units(tree.fabric) == "n[1-2] n[3-4]");
    CHECK(tree.notes[0] == "t: topology b is read, not a, c");
    const auto blocks =
        read("---\n- topology: c\n  block:\n    block_sizes: [2, 4]\n    blocks:\n"
             "    - block: b1\n      nodes: n[1-2]\n    -\n      block: b2\n      nodes: n3\n");
    CHECK(units(blocks.fabric) == "n[1-2] n3");
}

TEST_CASE("topology.yaml that is none", "[source]") {
    const auto yaml = [](std::string_view text) { return error(text, SourceFormat::slurm); };
    CHECK(yaml("- topology: a\n  flat: true\n") ==
          "t:1: no topology of it is a tree or has blocks; others tell no units");
    CHECK(yaml("- topology: a\n  tree:\n    switches:\n      - switch: s\n") ==
          "t:4: switch s must have either nodes or children");
    CHECK(yaml("- topology: a\n  tree:\n    switches:\n      - switch: s\n        knots: n1\n") ==
          "t:5: unknown key knots; there are switch, children, nodes");
    CHECK(yaml("- topology: a\n  tree: {x: 1}\n") == "t:2: unknown key x; there are switches");
    CHECK(yaml("- topology: a\n  : b\n").starts_with("t:2: "));
    CHECK(yaml("- topology: a\n\ttree: x\n") ==
          "t:2: while scanning a plain scalar found a tab character that "
          "violates indentation");
    CHECK(yaml("- topology: a\n    tree: x\n").starts_with("t:2: "));
    CHECK(yaml("- topology: &a b\n") == "t:1: anchors are not read: write plain values");
    CHECK(yaml("- topology: !!str b\n") == "t:1: tags are not read: write plain values");
    CHECK(yaml("- topology: *b\n") == "t:1: aliases are not read: write the value itself");
    CHECK(yaml("- topology: a\n  block:\n    blocks:\n    - block: b\n      nodes: {n: 1}\n") ==
          "t:5: nodes: a list of names is wanted");
    CHECK(yaml("- [a, b]: c\n") == "t:1: a key must be a word");
    CHECK(yaml("- topology: a\n---\n- topology: b\n") == "t:2: a second document");
    CHECK(yaml("- topology: \"a\n") == "t:2: while scanning a quoted scalar found unexpected end of stream");
    CHECK(yaml("- topology: a\xff\n").starts_with("t:1: "));
    CHECK(yaml("- topology: a\n  topology: b\n") == "t:2: key 'topology' stands twice");
    CHECK(yaml("- " + std::string(200000, '[')).starts_with("t:1: "));
    std::string deep;
    for (int i = 0; i < 20000; ++i)
        deep += "- ";
    CHECK(yaml(deep + "a") == "t:1: more than 32 levels inside each other");
}

TEST_CASE("lsb.hosts: compute units over host groups", "[source]") {
    const std::string groups = "Begin Host\nHOST_NAME MXJ\nn[1-4] 8\ndefault !\nEnd Host\n"
                               "Begin HostGroup\nGROUP_NAME GROUP_MEMBER\na (n1 n2) # two\nb (n* ~a)\n"
                               "both (a b)\nEnd HostGroup\n";
    const auto units_only = read(
        groups +
        "Begin ComputeUnit\nNAME TYPE MEMBER\ncu1 enclosure (a)\ncu2 enclosure (b)\nr rack (cu1 \\\ncu2)\n"
        "End ComputeUnit\n");
    CHECK(units(units_only.fabric) == "n[1-2] n[3-4]");
    CHECK(units_only.fabric.switches.size() == 3);
    CHECK(units_only.fabric.source == "lsf (units only, no rails), t");
    const auto from_groups = read(groups);
    CHECK(units(from_groups.fabric) == "n[1-2]");
    CHECK(from_groups.notes[0] == "t: host groups that are no part of a tree are passed over: b");
}

TEST_CASE("lsb.hosts that LSF would refuse, too", "[source]") {
    CHECK(error("Begin HostGroup\nNAME X\n") ==
          "t:2: the first line of HostGroup must name the column GROUP_NAME");
    CHECK(error("Begin HostGroup\nGROUP_NAME GROUP_MEMBER\na (n1\nEnd HostGroup\n") ==
          "t:3: the line ends where a closing ) is wanted");
    CHECK(error("Begin HostGroup\nEnd Host\n") == "t:2: 'End': End HostGroup is wanted");
    CHECK(error("Begin ComputeUnit\nNAME MEMBER\na\xFF (n1)\nEnd ComputeUnit\n") ==
          "t:3: 'a?': a name that can be printed is wanted");
    CHECK(error("Begin HostGroup\n") == "t:1: the file ends where End HostGroup is wanted");
    CHECK(error("Begin ComputeUnit\nNAME MEMBER\na (g)\nEnd ComputeUnit\nBegin HostGroup\nGROUP_NAME "
                "GROUP_MEMBER\n"
                "g (h)\nh (g)\nEnd HostGroup\n") == "t:7: host group g is inside itself");
}

TEST_CASE("a group of more hosts than a switch has ports", "[source]") {
    const auto wide = read("SwitchName=all Nodes=n[0001-5000]\n");
    CHECK(wide.fabric.hosts.size() == 5000);
    CHECK(wide.fabric.islands.size() == 1);
    CHECK(wide.fabric.units.size() == 25);
    const auto wider = read("SwitchName=all Nodes=n[1-100000]\n");
    CHECK(wider.fabric.islands.size() == 1);
}

TEST_CASE("units only never replace rails; rails replace units only", "[source]") {
    const auto made = fabric("units=2 hosts=4 rails=4");
    const auto outline = read("SwitchName=a Nodes=n[001-004]\nSwitchName=b Nodes=n[005-008]\n").fabric;
    CHECK(topo::losses(made, outline) ==
          std::vector<std::string>{"4 rails of 8 hosts are known, but what is seen now tells units only"});
    CHECK(topo::losses(outline, made).empty());
    CHECK(topo::losses(outline, outline).empty());
    const auto less = read("SwitchName=a Nodes=n[001-004]\n").fabric;
    CHECK(topo::losses(outline, less) ==
          std::vector<std::string>{"4 hosts are not seen: n[005-008]", "1 switch is not seen: b"});
}

// Not how long it takes on this machine, but how it grows: eight times as much takes 64 times as long where
// the time is quadratic.
TEST_CASE("long lines, many lines and many names take linear time", "[source]") {
    const auto few = long_texts(5'000), many = long_texts(40'000);
    for (std::size_t i = 0; i < few.size(); ++i) {
        const auto growth = cpu_time_of(many[i]) / std::max(cpu_time_of(few[i]), 1e-4);
        INFO("text " << i);
        CHECK(growth < 24);
    }
}
