#include "topo/export/export.hpp"

#include "base/hostlist.hpp"
#include "topo/derive.hpp"
#include "topo/synth/synth.hpp"
#include "unit/topo/shuffle.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <map>
#include <sstream>

using topo::Format;

namespace {

topo::Fabric make(const std::string& spec) {
    const auto parsed = topo::parse_synth(spec);
    if (!parsed) FAIL(parsed.error().text);
    auto fabric = topo::synthesise(*parsed);
    if (!fabric) FAIL(fabric.error().text);
    return std::move(*fabric);
}

// A host as a DGX has them: GPU and HCA of a rail near each other, half of the pairs in each NUMA node.
void give_facts(topo::Fabric& fabric) {
    for (auto& host : fabric.hosts) {
        host.gpus.clear();
        for (std::size_t r = 0; r < host.hcas.size(); ++r) {
            const int numa = r < host.hcas.size() / 2 ? 0 : 1;
            host.hcas[r].pci = fmt::format("0000:{:02x}:00.0", 0x10 + 0x10 * r);
            host.hcas[r].numa = numa;
            host.hcas[r].gpu = static_cast<int>(r);
            host.gpus.push_back({fmt::format("00000000:{:02X}:00.0", 0x1B + 0x10 * r), numa});
        }
    }
}

std::string text(const topo::Fabric& fabric, Format format, const topo::ExportOptions& options = {}) {
    const auto exported = topo::export_fabric(fabric, format, options);
    if (!exported) FAIL(exported.error().text);
    return exported->text;
}

std::string refusal(const topo::Fabric& fabric, Format format, const topo::ExportOptions& options = {}) {
    const auto exported = topo::export_fabric(fabric, format, options);
    if (exported) FAIL("not refused:\n" << exported->text);
    return exported.error().text;
}

std::vector<std::string> notes(const topo::Fabric& fabric, Format format,
                               const topo::ExportOptions& options = {}) {
    const auto exported = topo::export_fabric(fabric, format, options);
    if (!exported) FAIL(exported.error().text);
    return exported->notes;
}

std::string body(const std::string& all) { // without the comments
    std::istringstream lines(all);
    std::string line, out;
    while (std::getline(lines, line))
        if (!line.starts_with("#")) out += line + "\n";
    return out;
}

topo::ExportOptions of_host(std::string name) {
    topo::ExportOptions options;
    options.host = std::move(name);
    return options;
}

std::vector<Format> all_formats() {
    std::vector<Format> formats;
    for (std::size_t f = 0; f < topo::format_count; ++f)
        formats.push_back(static_cast<Format>(f));
    return formats;
}

topo::ExportOptions fitting(Format format) {
    auto options = of_host(format == Format::nccl_topo || format == Format::nccl_env ? "n002" : "");
    if (format == Format::rankfile) options.cores = 2;
    return options;
}

} // namespace

TEST_CASE("a rail-optimised fabric is one logical switch a unit, pods above, the core above") {
    CHECK(body(text(make("pods=2 units=2 hosts=4 rails=4"), Format::slurm_tree)) ==
          "SwitchName=su1 Nodes=n[001-004]\n"
          "SwitchName=su2 Nodes=n[005-008]\n"
          "SwitchName=su3 Nodes=n[009-012]\n"
          "SwitchName=su4 Nodes=n[013-016]\n"
          "SwitchName=pod1 Switches=su[1-2]\n"
          "SwitchName=pod2 Switches=su[3-4]\n"
          "SwitchName=core Switches=pod[1-2]\n");
    CHECK(body(text(make("units=1 hosts=4 rails=4"), Format::slurm_tree)) ==
          "SwitchName=su1 Nodes=n[001-004]\n");
}

TEST_CASE("where a unit has one leaf the tree shows its name, made fit for Slurm") {
    auto fabric = make("units=3 hosts=2 rails=1");
    for (auto& s : fabric.switches)
        if (s.name == "leaf-su1-r0")
            s.name = "MF0;sw 01:MQM9700/U1";
        else if (s.tier == 0)
            s.name = "leaf [b]";
    topo::derive(fabric);
    CHECK(body(text(fabric, Format::slurm_tree)) ==
          "SwitchName=MF0_sw_01_MQM9700_U1 Nodes=n[001-002]\n"
          "SwitchName=leaf__b_ Nodes=n[003-004]\n"
          "SwitchName=leaf__b__2 Nodes=n[005-006]\n"
          "SwitchName=pod1 Switches=MF0_sw_01_MQM9700_U1,leaf__b_,leaf__b__2\n");
}

TEST_CASE("a unit whose HCAs use two ports has leaves enough to have a name of its own") {
    auto fabric = make("units=2 hosts=4 rails=1");
    const auto first = fabric.links.size();
    for (std::size_t h = 0; h < fabric.hosts.size();
         ++h) { // the second ports of unit u on a leaf of their own
        const int unit = fabric.hosts[h].unit;
        if (h % 4 == 0) {
            topo::Switch leaf;
            leaf.guid = 0x100U + h;
            leaf.name = fmt::format("plane2-{}", unit);
            leaf.ports = 64;
            fabric.switches.push_back(leaf);
        }
        fabric.hosts[h].hcas[0].ports.emplace_back().number = 2;
        topo::Link link = fabric.links[0];
        link.a = {static_cast<int>(h), 0, topo::none, 2};
        link.b = {topo::none, topo::none, static_cast<int>(fabric.switches.size()) - 1,
                  static_cast<std::uint8_t>(h + 1)};
        fabric.links.push_back(link);
    }
    REQUIRE(fabric.links.size() == first + 8);
    topo::derive(fabric);
    CHECK(body(text(fabric, Format::slurm_tree))
              .starts_with("SwitchName=su1 Nodes=n[001-004]\n"
                           "SwitchName=su2 Nodes=n[005-008]\n"));
    CHECK(text(fabric, Format::nccl_env, of_host("n002")) == "NCCL_IB_HCA==mlx5_0:1,mlx5_0:2\n"
                                                             "NCCL_CROSS_NIC=2\n"
                                                             "UCX_NET_DEVICES=mlx5_0:1,mlx5_0:2\n");
    CHECK(text(fabric, Format::dot).find("label=\"plane2-1\"") != std::string::npos);
}

TEST_CASE("parts of a fabric that do not reach each other get no switch in common") {
    auto fabric = make("pods=2 units=2 hosts=2 rails=2");
    std::erase_if(fabric.links, [&](const topo::Link& link) {
        return link.a.switch_ != topo::none &&
               (fabric.switches[static_cast<std::size_t>(link.a.switch_)].tier == 2 ||
                fabric.switches[static_cast<std::size_t>(link.b.switch_)].tier == 2);
    });
    topo::derive(fabric);
    const auto tree = body(text(fabric, Format::slurm_tree));
    CHECK(tree.find("pod2 Switches=su[3-4]") != std::string::npos);
    CHECK(tree.find("core") == std::string::npos);
}

TEST_CASE("blocks are NVLink domains where there are any") {
    auto fabric = make("units=2 hosts=6 rails=2 domains=3");
    CHECK(body(text(fabric, Format::slurm_block)) == "BlockName=nvl1 Nodes=n[001-003]\n"
                                                     "BlockName=nvl2 Nodes=n[004-006]\n"
                                                     "BlockName=nvl3 Nodes=n[007-009]\n"
                                                     "BlockName=nvl4 Nodes=n[010-012]\n"
                                                     "BlockSizes=3,6\n");
    for (std::size_t h : {0U, 1U, 2U})
        fabric.hosts[h].domain.clear();
    topo::derive(fabric);
    CHECK(body(text(fabric, Format::slurm_block)) == "BlockName=nvl2 Nodes=n[004-006]\n"
                                                     "BlockName=nvl3 Nodes=n[007-009]\n"
                                                     "BlockName=nvl4 Nodes=n[010-012]\n"
                                                     "BlockSizes=3\n");
}

TEST_CASE("blocks are units, and a pod's worth of them where Slurm can pair them") {
    CHECK(body(text(make("pods=2 units=4 hosts=4 rails=2"), Format::slurm_block))
              .ends_with("BlockSizes=4,16\n"));
    CHECK(body(text(make("units=4 hosts=4 rails=2"), Format::slurm_block)).ends_with("BlockSizes=4,16\n"));
    CHECK(
        body(text(make("pods=2 units=3 hosts=4 rails=2"), Format::slurm_block)).ends_with("BlockSizes=4\n"));
    CHECK(body(text(make("units=1 hosts=4 rails=2"), Format::slurm_block)) ==
          "BlockName=su1 Nodes=n[001-004]\nBlockSizes=4\n");
}

TEST_CASE("the base block is the smallest unit, or what is asked for without the smaller units") {
    const auto fabric = make("units=2 hosts=8 rails=2");
    topo::ExportOptions some;
    some.nodes = *base::expand_hostlist("n[001-003],n[009-016]");
    CHECK(body(text(fabric, Format::slurm_block, some)) ==
          "BlockName=su1 Nodes=n[001-003]\nBlockName=su2 Nodes=n[009-016]\nBlockSizes=3,6\n");
    CHECK(notes(fabric, Format::slurm_block, some) ==
          std::vector<std::string>{"the base block is 3 hosts, less than half of the largest unit (8 hosts); "
                                   "--block-size N leaves smaller units out instead"});
    some.block_size = 4;
    CHECK(body(text(fabric, Format::slurm_block, some)) == "BlockName=su2 Nodes=n[009-016]\nBlockSizes=4\n");
    CHECK(notes(fabric, Format::slurm_block, some).front() ==
          "n[001-003] in units of fewer than 4 hosts are left out: a block holds at least the base block");
    some.block_size = 9;
    CHECK(refusal(fabric, Format::slurm_block, some) ==
          "--block-size 9: no unit has that many hosts; the largest has 8");
}

TEST_CASE("topology.yaml quotes what YAML would take for something else than text") {
    const auto plain = text(make("units=1 hosts=2 rails=2"), Format::slurm_yaml);
    CHECK(plain.find("    - switch: su1\n      nodes: n[001-002]\n") != std::string::npos);
    const auto quoted = text(make("units=1 hosts=2 rails=2 prefix=0"), Format::slurm_yaml);
    CHECK(quoted.find("nodes: \"[0001-0002]\"") != std::string::npos);
}

TEST_CASE("LSF gets host groups, compute units and their types, the finest first") {
    const auto fabric = make("pods=2 units=2 hosts=2 rails=2");
    CHECK(body(text(fabric, Format::lsf)) == "Begin HostGroup\nGROUP_NAME GROUP_MEMBER\n"
                                             "su1_hosts (n001 n002)\nsu2_hosts (n003 n004)\n"
                                             "su3_hosts (n005 n006)\nsu4_hosts (n007 n008)\n"
                                             "pod1_hosts (su1_hosts su2_hosts)\n"
                                             "pod2_hosts (su3_hosts su4_hosts)\n"
                                             "core_hosts (pod1_hosts pod2_hosts)\nEnd HostGroup\n\n"
                                             "Begin ComputeUnit\nNAME MEMBER TYPE\n"
                                             "su1 (su1_hosts) unit\nsu2 (su2_hosts) unit\n"
                                             "su3 (su3_hosts) unit\nsu4 (su4_hosts) unit\n"
                                             "pod1 (su1 su2) pod\npod2 (su3 su4) pod\n"
                                             "core (pod1 pod2) core\nEnd ComputeUnit\n");
    CHECK(body(text(fabric, Format::lsf_params)) ==
          "Begin Parameters\nCOMPUTE_UNIT_TYPES = unit! pod core\nMBD_SLEEP_TIME = 2\nSBD_SLEEP_TIME = 2\n"
          "RETRY_INTERVAL = 1\nMAX_SBD_FAIL = 3\nJOB_TERMINATE_INTERVAL = 2\nEnd Parameters\n");
}

TEST_CASE("LSF gets each host's unit, leaf and place, and where the indices are") {
    auto fabric = make("units=2 hosts=5 rails=2");
    std::swap(fabric.hosts[1].name, fabric.hosts[5].name); // su1 has n006, su2 n002
    topo::derive(fabric);
    CHECK(body(text(fabric, Format::lsf_cluster)) ==
          "Begin Parameters\nEXINTERVAL = 5\nELIM_POLL_INTERVAL = 5\nHOST_INACTIVITY_LIMIT = 2\n"
          "RETRY_LIMIT = 1\nEnd Parameters\n\nBegin ResourceMap\nRESOURCENAME LOCATION\n"
          "unit (su1@[n001] su1@[n003] su1@[n004] su1@[n005] su1@[n006] su2@[n002] su2@[n007] su2@[n008] \\\n"
          "  su2@[n009] su2@[n010])\n"
          "leaf (leaf-su1-r0@[n001] leaf-su1-r0@[n003] leaf-su1-r0@[n004] leaf-su1-r0@[n005] "
          "leaf-su1-r0@[n006] leaf-su2-r0@[n002] leaf-su2-r0@[n007] leaf-su2-r0@[n008] \\\n"
          "  leaf-su2-r0@[n009] leaf-su2-r0@[n010])\n"
          "podpos (1@[n001] 2@[n003] 3@[n004] 4@[n005] 5@[n006] 6@[n002] 7@[n007] 8@[n008] \\\n"
          "  9@[n009] 10@[n010])\n"
          "health [default]\nplanned [default]\nEnd ResourceMap\n");
    const auto shared = text(fabric, Format::lsf_shared);
    for (const auto* resource : {"\nunit ", "\nleaf ", "\npodpos ", "\nhealth ", "\nplanned "})
        CHECK(shared.find(resource) != std::string::npos);
    topo::ExportOptions two;
    two.nodes = {"n002", "n001"};
    CHECK(text(fabric, Format::lsf_cluster, two).find("podpos (1@[n001] 2@[n002])") != std::string::npos);
}

TEST_CASE("LSF gets a queue in which gangs wait and one from which they start") {
    const auto fabric = make("units=1 hosts=2 rails=2");
    const auto queues = text(fabric, Format::lsf_queues);
    CHECK(queues.find("QUEUE_NAME = gang\nPRIORITY = 40\nRES_REQ = select[planned>0]\n") !=
          std::string::npos);
    CHECK(queues.find("QUEUE_NAME = gangrun\nPRIORITY = 45\nUSERS = lsfadmin\n") != std::string::npos);
    topo::ExportOptions options;
    options.parking_queue = "big";
    options.run_queue = "bigrun";
    options.admin = "rail";
    const auto named = text(fabric, Format::lsf_queues, options);
    CHECK(named.find("QUEUE_NAME = big\n") != std::string::npos);
    CHECK(named.find("QUEUE_NAME = bigrun\nPRIORITY = 45\nUSERS = rail\n") != std::string::npos);
    const auto refused = [&](std::string topo::ExportOptions::*which, std::string word) {
        auto bad = options;
        bad.*which = std::move(word);
        return refusal(fabric, Format::lsf_queues, bad);
    };
    CHECK(refused(&topo::ExportOptions::run_queue, "big") ==
          "--parking-queue and --run-queue are both big: gangs wait in the one and run from the other");
    CHECK(refused(&topo::ExportOptions::parking_queue, "default") ==
          "--parking-queue default: is a word of LSF's own: choose another name");
    CHECK(refused(&topo::ExportOptions::admin, "a b") ==
          "--admin a b: LSF takes names of 1 to 59 letters, digits, '.', '-' and '_'");
    CHECK(refused(&topo::ExportOptions::run_queue, std::string(60, 'q')).find("names of 1 to 59") !=
          std::string::npos);
    CHECK(text(fabric, Format::lsf_conf).find("\nLSB_MBD_CONNTIMEOUT=2\n") != std::string::npos);
}

TEST_CASE("a group that LSF would not take is refused with the way out") {
    auto fabric = make("units=2 hosts=2 rails=2");
    const auto renamed = [&](std::string unit) {
        auto other = fabric;
        other.units[0].name = std::move(unit);
        return refusal(other, Format::lsf);
    };
    CHECK(renamed("n003") ==
          "n003: would be a group and a host at once, of which LSF takes the host. Rename the "
          "units or pods in the fabric file");
    CHECK(renamed("all") == "all: is a word of LSF's own. Rename the units or pods in the fabric file");
    CHECK(renamed("su2_hosts") ==
          "su2_hosts: would be two groups of LSF. Rename the units or pods in the fabric file");
    const std::string longest(54, 'u');
    CHECK(renamed(longest) ==
          longest + "_hosts: has 60 characters, and LSF takes 59. Rename the units or pods in the "
                    "fabric file");
    fabric.hosts[0].name = "others";
    topo::derive(fabric);
    CHECK(refusal(fabric, Format::lsf) ==
          "host \"others\": is a word of LSF's own, which its lists do not take as a "
          "host; leave the host out with --nodes");
}

TEST_CASE("the hosts of a rankfile follow units and pods, not names") {
    auto fabric = make("units=2 hosts=2 rails=2");
    std::swap(fabric.hosts[1].name, fabric.hosts[2].name); // su1 = n001 n003, su2 = n002 n004
    topo::derive(fabric);
    CHECK(body(text(fabric, Format::hostfile)) == "n001 slots=2\nn003 slots=2\nn002 slots=2\nn004 slots=2\n");
    topo::ExportOptions options;
    options.slots = 1;
    options.cores = 4;
    options.nodes = {"n002", "n003"};
    CHECK(body(text(fabric, Format::rankfile, options)) == "rank 0=n003 slot=0-3\nrank 1=n002 slot=0-3\n");
}

TEST_CASE("a rank is bound to the socket of its GPU") {
    auto fabric = make("units=1 hosts=1 rails=4");
    CHECK(refusal(fabric, Format::rankfile) ==
          "host n001: the NUMA node of GPU 0 and of the HCA of rail 0 is not known, and a rankfile must bind "
          "each "
          "rank: give --cores N, or put the hosts' facts into the fabric file with railtopo gather");
    give_facts(fabric);
    CHECK(body(text(fabric, Format::rankfile)) ==
          "rank 0=n001 slot=0:*\nrank 1=n001 slot=0:*\nrank 2=n001 slot=1:*\nrank 3=n001 slot=1:*\n");
}

TEST_CASE("NCCL's topology file puts the HCA and the GPU that are near each other under one bridge") {
    auto fabric = make("units=1 hosts=2 rails=2");
    give_facts(fabric);
    CHECK(text(fabric, Format::nccl_topo, of_host("n001")) ==
          "<system version=\"1\">\n"
          "  <cpu numaid=\"0\">\n"
          "    <pci busid=\"ffff:ff:01.0\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" "
          "link_width=\"16\">\n"
          "      <pci busid=\"0000:10:00.0\" class=\"0x020700\"/>\n"
          "      <pci busid=\"0000:1b:00.0\" class=\"0x030200\"/>\n"
          "    </pci>\n"
          "  </cpu>\n"
          "  <cpu numaid=\"1\">\n"
          "    <pci busid=\"ffff:ff:02.0\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" "
          "link_width=\"16\">\n"
          "      <pci busid=\"0000:20:00.0\" class=\"0x020700\"/>\n"
          "      <pci busid=\"0000:2b:00.0\" class=\"0x030200\"/>\n"
          "    </pci>\n"
          "  </cpu>\n"
          "</system>\n");
    fabric.hosts[0].hcas[1].numa = 0; // nearest, but across the sockets: no bridge holds them
    const auto apart = text(fabric, Format::nccl_topo, of_host("n001"));
    CHECK(apart.find("    <pci busid=\"0000:20:00.0\" class=\"0x020700\"/>\n  </cpu>") != std::string::npos);
    CHECK(apart.find("ffff:ff:02.0") == std::string::npos);
}

TEST_CASE("what NCCL would need and is not known is named") {
    auto fabric = make("units=1 hosts=2 rails=2");
    const auto facts = "; put the host's facts into the fabric file first with railtopo gather";
    CHECK(refusal(fabric, Format::nccl_topo, of_host("n001")) ==
          fmt::format("host n001: which GPUs it has is not known{}", facts));
    give_facts(fabric);
    fabric.hosts[0].hcas[1].pci.clear();
    CHECK(refusal(fabric, Format::nccl_topo, of_host("n001")) ==
          fmt::format("host n001: the PCI address of mlx5_1 is not known{}", facts));
    fabric.hosts[0].hcas[1].pci = "18:00.0";
    CHECK(refusal(fabric, Format::nccl_topo, of_host("n001")) ==
          "host n001: mlx5_1 has the PCI address \"18:00.0\"; one such as 0000:18:00.0 is wanted");
    fabric.hosts[0].hcas[1].pci = fabric.hosts[0].hcas[0].pci;
    CHECK(refusal(fabric, Format::nccl_topo, of_host("n001")) ==
          "host n001: two devices have the PCI address 0000:10:00.0");
    fabric.hosts[1].hcas[1].gpu = 2;
    CHECK(refusal(fabric, Format::nccl_topo, of_host("n002")) ==
          "host n002: mlx5_1 is near GPU 2, of which the host has 2 only");
}

TEST_CASE("NCCL uses the compute HCAs that have a link, in the order of rails, and stays on them") {
    auto fabric = make("units=1 hosts=2 rails=3");
    fabric.hosts[0].hcas[2].device = "mlx5_10";
    std::erase_if(fabric.links, [](const topo::Link& link) { return link.a.host == 0 && link.a.hca == 1; });
    topo::derive(fabric);
    CHECK(text(fabric, Format::nccl_env, of_host("n001")) == "NCCL_IB_HCA==mlx5_0:1,mlx5_10:1\n"
                                                             "NCCL_CROSS_NIC=0\n"
                                                             "UCX_NET_DEVICES=mlx5_0:1,mlx5_10:1\n");
    for (auto& link : fabric.links)
        if (link.a.host == 0) link.state = topo::LinkState::down;
    CHECK(refusal(fabric, Format::nccl_env, of_host("n001")) ==
          "host n001: has no compute HCA with a link; nothing can be said to NCCL");
    fabric.hosts[1].hcas[0].device = "a b";
    CHECK(refusal(fabric, Format::nccl_env, of_host("n002"))
              .starts_with("host n002: the HCA 0x946dae0000020010 is "
                           "called \"a b\", which is no device name"));
}

TEST_CASE("where all HCAs of a host hang on one leaf NCCL may cross them") {
    auto fabric = make("units=1 hosts=2 rails=2");
    std::uint8_t port = 10;
    for (auto& link : fabric.links)
        link.b = {topo::none, topo::none, 0, ++port};
    topo::derive(fabric);
    CHECK(text(fabric, Format::nccl_env, of_host("n001")).find("NCCL_CROSS_NIC=1\n") != std::string::npos);
}

TEST_CASE("dot draws the finest detail that is asked for") {
    const auto fabric = make("pods=2 units=2 hosts=4 rails=2"); // 16 hosts, 8 leaves, spines, cores
    topo::ExportOptions options;
    const auto nodes = [&](int most) {
        options.most = most;
        std::istringstream lines(text(fabric, Format::dot, options));
        std::string line;
        std::size_t count = 0;
        while (std::getline(lines, line))
            if (line.find("shape=") != std::string::npos) ++count;
        return count;
    };
    const auto all = fabric.hosts.size() + fabric.switches.size();
    CHECK(nodes(1000) == all);
    CHECK(nodes(static_cast<int>(all)) == all);
    CHECK(nodes(static_cast<int>(all) - 1) == 4 + fabric.switches.size());
    CHECK(nodes(7) == 4 + 2 + 1);
    CHECK(nodes(3) == 2 + 1);
}

TEST_CASE("an export speaks of the hosts that are in a unit, and says which are not") {
    auto fabric = make("units=1 hosts=2 rails=2");
    fabric.hosts.emplace_back().name = "store1";
    fabric.hosts.emplace_back().name = "0x946dae0000010010";
    topo::derive(fabric);
    CHECK(body(text(fabric, Format::slurm_tree)) == "SwitchName=su1 Nodes=n[001-002]\n");
    CHECK(notes(fabric, Format::slurm_tree) ==
          std::vector<std::string>{"store1, 1 HCA of no known host are in no unit and left out"});
    topo::ExportOptions options;
    options.nodes = {"store1"};
    CHECK(refusal(fabric, Format::slurm_tree, options) ==
          "none of the hosts of --nodes is in a unit: there is nothing to export");
    CHECK(body(text(fabric, Format::hostfile, options)) ==
          "store1 slots=2\n"); // ranks go where they are assigned
    options.nodes = {"n002", "n009", "n010"};
    CHECK(refusal(fabric, Format::hostfile, options) ==
          "--nodes: n009, n010 are not in the fabric; railtopo show lists its hosts");
}

TEST_CASE("a host name that a list cannot hold is refused") {
    auto fabric = make("units=1 hosts=2 rails=2");
    const std::string bad = GENERATE("n 2", "n[2]", "n2,n3", "n=2", "-n2", "n\xc3\xa4");
    fabric.hosts[1].name = bad;
    topo::derive(fabric);
    CHECK(refusal(fabric, Format::slurm_tree) ==
          fmt::format(
              "host \"{}\": Slurm takes no such name; a name is 1 to 64 letters, digits, '.', '-' and '_'. "
              "Correct the descriptions of its HCAs, or leave the host out with --nodes",
              bad));
    topo::ExportOptions options;
    options.nodes = {"n001"};
    CHECK(body(text(fabric, Format::slurm_tree, options)) == "SwitchName=su1 Nodes=n001\n");
}

TEST_CASE("an option that does not go with the format is refused with those it is for") {
    const auto fabric = make("units=1 hosts=2 rails=2");
    topo::ExportOptions options;
    options.slots = 4;
    CHECK(refusal(fabric, Format::slurm_tree, options) ==
          "--slots does not go with --format slurm-tree; it is for hostfile, rankfile");
    CHECK(refusal(fabric, Format::dot, of_host("n001")) ==
          "--host does not go with --format dot; it is for nccl-topo, nccl-env");
    CHECK(refusal(fabric, Format::nccl_env) == "--format nccl-env is of one host: name it with --host NAME");
    CHECK(refusal(fabric, Format::nccl_env, of_host("n9")) ==
          "--host n9: is not in the fabric; railtopo show lists its hosts");
    CHECK(
        topo::parse_format("slurm").error().text ==
        "--format: \"slurm\" is no format; allowed are slurm-tree, slurm-block, slurm-yaml, lsf, lsf-params, "
        "lsf-shared, lsf-cluster, lsf-queues, lsf-conf, nccl-topo, nccl-env, hostfile, rankfile, dot");
}

TEST_CASE("formats have the names they are parsed by") {
    for (const auto format : all_formats())
        CHECK(*topo::parse_format(topo::to_string(format)) == format);
}

TEST_CASE("the order in which a fabric was read does not change a byte of any export") {
    auto fabric = make("pods=2 units=2 hosts=4 rails=2");
    give_facts(fabric);
    for (unsigned seed = 0; seed < 4; ++seed) {
        const auto other = shuffled(fabric, seed);
        for (const auto format : all_formats())
            CHECK(text(other, format, fitting(format)) == text(fabric, format, fitting(format)));
    }
}

TEST_CASE("what its reader does not need changes no topology") {
    auto fabric = make("pods=2 units=2 hosts=4 rails=2");
    auto other = fabric;
    other.source = "elsewhere";
    for (auto& host : other.hosts)
        for (auto& hca : host.hcas)
            for (auto& port : hca.ports)
                port.lid = static_cast<std::uint16_t>(port.lid + 100);
    for (auto& link : other.links)
        link.state = topo::LinkState::armed;
    for (const auto format : all_formats())
        if (format != Format::nccl_topo)
            CHECK(text(other, format, fitting(format)) == text(fabric, format, fitting(format)));
}
