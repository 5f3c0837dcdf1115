// Texts of iblinkinfo, ibdiagnet and UFM, made of fabrics as those tools print them.
#include "topo/fabric_json.hpp"
#include "topo/guid.hpp"
#include "topo/names.hpp"
#include "topo/rate.hpp"
#include "topo/read/carry_over.hpp"
#include "topo/read/clean.hpp"
#include "topo/read/source.hpp"
#include "unit/topo/fabrics.hpp"

#include <fmt/format.h>

#include <map>

namespace {

using topo::End;
using topo::Fabric;
using topo::Guid;
using topo::none;

topo::Assembly read(std::string_view text) {
    auto assembly = topo::read_source(text, "t", topo::SourceFormat::automatic);
    if (!assembly) FAIL(assembly.error().text);
    return *std::move(assembly);
}

std::string error(std::string_view text) {
    const auto assembly = topo::read_source(text, "t", topo::SourceFormat::automatic);
    return assembly ? "was read" : assembly.error().text;
}

std::string replaced(std::string text, std::string_view piece, std::string_view other) {
    const auto found = text.find(piece);
    if (found == std::string::npos) FAIL("no " << piece);
    return text.replace(found, piece.size(), other);
}

// "leaf-su1-r0/1 n001 mlx5_0/1 4xNDR", each link once, sorted.
std::vector<std::string> cables(const Fabric& fabric) {
    std::vector<std::string> list;
    for (const auto& link : fabric.links) {
        auto a = topo::end_name(fabric, link.a), b = topo::end_name(fabric, link.b);
        if (b < a) std::swap(a, b);
        list.push_back(fmt::format("{} {} {}", a, b, topo::format_rate({link.width, link.mbps})));
    }
    std::sort(list.begin(), list.end());
    return list;
}

// A fabric with what its tools see of it: where each port leads.
struct Seen {
    Fabric fabric;
    std::map<std::pair<Guid, int>, std::pair<End, End>> ports; // by node GUID and port: this end and its peer

    explicit Seen(const std::string& spec) : fabric(made(spec)) {
        for (const auto& link : fabric.links) {
            ports.insert({{guid(link.a), link.a.port}, {link.a, link.b}});
            ports.insert({{guid(link.b), link.b.port}, {link.b, link.a}});
        }
    }
    Guid guid(const End& end) const {
        return end.switch_ != none ? fabric.switches[topo::at(end.switch_)].guid
                                   : fabric.hosts[topo::at(end.host)].hcas[topo::at(end.hca)].guid;
    }
    Guid port_guid(const End& end) const { return end.switch_ != none ? guid(end) : guid(end) + end.port; }
    int lid(const End& end) const { return static_cast<int>(port_guid(end) % 0xBFF1); }
    int ports_of(const End& end) const {
        return end.switch_ != none
                   ? fabric.switches[topo::at(end.switch_)].ports
                   : static_cast<int>(fabric.hosts[topo::at(end.host)].hcas[topo::at(end.hca)].ports.size());
    }
    std::string description(const End& end) const {
        if (end.switch_ != none) return fabric.switches[topo::at(end.switch_)].name;
        const auto& host = fabric.hosts[topo::at(end.host)];
        return host.name + " " + host.hcas[topo::at(end.hca)].device;
    }
    // Calls visit(end, peer or nullptr) for each port, a node after the other.
    template <class Visit> void each_port(Visit visit) const {
        const auto ask = [&](End end, int last) {
            for (int p = 1; p <= last; ++p) {
                end.port = static_cast<std::uint8_t>(p);
                const auto found = ports.find({guid(end), p});
                visit(end, found == ports.end() ? nullptr : &found->second.second);
            }
        };
        for (int h = 0; topo::at(h) < fabric.hosts.size(); ++h)
            for (int i = 0; topo::at(i) < fabric.hosts[topo::at(h)].hcas.size(); ++i)
                ask({h, i, none, 0}, ports_of({h, i, none, 0}));
        for (int s = 0; topo::at(s) < fabric.switches.size(); ++s)
            ask({none, none, s, 0}, fabric.switches[topo::at(s)].ports);
    }
};

enum class Style { plain, by_line, switches_only, no_lids };

std::string iblinkinfo(const Seen& seen, Style style) {
    std::string text;
    const auto lid = [&](const End& end) { return style == Style::no_lids ? 0 : seen.lid(end); };
    seen.each_port([&](const End& end, const End* peer) {
        const bool is_switch = end.switch_ != none;
        if (style == Style::switches_only && !is_switch) return;
        if (end.port == 1 && style != Style::by_line)
            text += is_switch ? fmt::format("Switch: {:#018x} {}:\n", seen.guid(end), seen.description(end))
                              : fmt::format("CA: {}:\n", seen.description(end));
        if (style == Style::by_line)
            text += fmt::format("{:#018x} \"{:>30}\" ", seen.port_guid(end), seen.description(end));
        else
            text += is_switch ? "      " : fmt::format("      {:#018x} ", seen.port_guid(end));
        text += fmt::format("{:6} {:4}[  ] ==", lid(end), end.port);
        if (peer == nullptr) {
            text += "(                Down/ Polling)==>             [  ] \"\" ( )\n";
            return;
        }
        text += "( 4X        106.25 Gbps Active/  LinkUp)==>  ";
        if (style == Style::by_line) text += fmt::format("{:#018x} ", seen.port_guid(*peer));
        text += fmt::format("{:6} {:4}[  ] \"{}\" ( )\n", lid(*peer), peer->port, seen.description(*peer));
    });
    return text;
}

std::string net_dump(const Seen& seen) {
    std::string text = "# This file contains info about all the switches ports\n";
    seen.each_port([&](const End& end, const End* peer) {
        if (end.switch_ == none) return;
        if (end.port == 1)
            text += fmt::format(
                "\"{}\", Mellanox, {:#018x}, LID {}\n #    : IB# : Sta  : PhysSta : MTU : LWA : LSA : "
                "FEC mode : Retran : Neighbor Guid      : N#  : NLID : Neighbor Description\n",
                seen.description(end), seen.guid(end), seen.lid(end));
        const auto label = [](int port) {
            return fmt::format("1/{}/{}", (port + 1) / 2, (port + 1) % 2 + 1);
        };
        if (peer == nullptr)
            text += fmt::format(" {} : {} : DOWN : POLL : N/A : N/A : N/A : N/A : N/A :  :  :  : \n",
                                label(end.port), end.port);
        else
            text += fmt::format(
                " {} : {} : ACT : LINK UP : 5 : 4x : 100 : NO-FEC : NO-RTR : {:#018x} : {} : {} : "
                "\"{}\"\n",
                label(end.port), end.port, seen.port_guid(*peer),
                peer->switch_ == none ? std::to_string(peer->port) : label(peer->port), seen.lid(*peer),
                seen.description(*peer));
    });
    return text;
}

std::string db_csv(const Seen& seen, std::string_view cables = {}) {
    std::string nodes =
        "START_NODES\nNodeDesc,NumPorts,NodeType,ClassVersion,NodeGUID,PortGUID,LocalPortNum\n";
    std::string ports =
        "START_PORTS\nNodeGuid,PortGuid,PortNum,LID,LinkWidthActv,LinkSpeedActv,PortState,OOOSLMask\n";
    std::string links = "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n";
    seen.each_port([&](const End& end, const End* peer) {
        const bool is_switch = end.switch_ != none;
        if (end.port == 1)
            nodes += fmt::format("\"{}\",{},{},1,{:#018x},{:#018x},0\n", seen.description(end),
                                 seen.ports_of(end), is_switch ? 2 : 1, seen.guid(end), seen.port_guid(end));
        ports += fmt::format("{:#018x},{:#018x},{},{},2,2048,{},N/A\n", seen.guid(end), seen.port_guid(end),
                             end.port, is_switch ? 0 : seen.lid(end), peer == nullptr ? 1 : 4);
        if (peer != nullptr && seen.guid(end) < seen.guid(*peer))
            links += fmt::format("{:#018x},{},{:#018x},{}\n", seen.guid(end), end.port, seen.guid(*peer),
                                 peer->port);
    });
    return fmt::format("START_INDEX_TABLE\nany,thing\n\"x\nEND_INDEX_TABLE\n\n{}END_NODES\n\n{}END_PORTS\n\n"
                       "{}END_LINKS\n\n{}",
                       nodes, ports, links, cables);
}

std::string ufm_ports(const Seen& seen) {
    std::string text = "[\n";
    seen.each_port([&](const End& end, const End* peer) {
        const auto label = [&](const End& e) {
            return e.switch_ == none ? fmt::format("HCA-1/{}", e.port) : fmt::format("1/{}", e.port);
        };
        const auto described = [&](const End& e) {
            return e.switch_ == none ? seen.description(e)
                                     : fmt::format("{}:{}", seen.description(e), label(e));
        };
        text += fmt::format("{}{{\"name\":\"{:016x}_{}\",\"number\":{},\"guid\":\"{:016x}\",\"dname\":\"{}\","
                            "\"node_description\":\"{}\",\"logical_state\":\"{}\",\"physical_state\":\"{}\"",
                            text.size() == 2 ? "" : ",\n", seen.port_guid(end), end.port, end.port,
                            seen.port_guid(end), label(end), described(end),
                            peer == nullptr ? "Down" : "Active", peer == nullptr ? "Polling" : "Link Up");
        if (peer != nullptr)
            text += fmt::format(
                ",\"active_width\":\"4x\",\"active_speed\":\"NDR\",\"lid\":{},\"peer\":\"{:016x}_{}\","
                "\"peer_port_dname\":\"{}\",\"peer_node_description\":\"{}\"",
                seen.lid(end), seen.port_guid(*peer), peer->port, label(*peer), described(*peer));
        text += "}";
    });
    return text + "]\n";
}

// As UFM 6.11 has them: the ports' names in one member, in any order, GUIDs of systems.
std::string ufm_links(const Seen& seen) {
    std::string text = "{\"data\":[";
    for (std::size_t l = 0; l < seen.fabric.links.size(); ++l) {
        const auto &a = seen.fabric.links[l].a, &b = seen.fabric.links[l].b;
        const auto side = [&](std::string_view name, const End& end) {
            return fmt::format("\"{0}_guid\":\"{1:016x}\",\"{0}_port\":\"{2}\",\"{0}_port_dname\":\"{3}{2}\","
                               "\"{0}_port_node_description\":\"{4}\"",
                               name, seen.guid(end), end.port, end.switch_ == none ? "HCA-1/" : "",
                               end.switch_ == none ? seen.description(end)
                                                   : fmt::format("{}:{}", seen.description(end), end.port));
        };
        const auto &first = l % 2 == 0 ? a : b, &second = l % 2 == 0 ? b : a;
        text += fmt::format("{}{{{},{},\"width\":\"IB_4x\",\"name\":\"{:016x}_{}:{:016x}_{}\"}}",
                            l == 0 ? "" : ",\n", side("source", a), side("destination", b),
                            seen.port_guid(first), first.port, seen.port_guid(second), second.port);
    }
    return text + "]}\n";
}

} // namespace

TEST_CASE("each tool's text gives the same cables", "[source]") {
    const auto spec =
        GENERATE("units=2 hosts=3 rails=4", "hosts=2 rails=2 ports=2", "pods=2 units=2 hosts=2");
    const Seen seen(spec);
    const auto expected = cables(seen.fabric);
    for (const auto& text : {iblinkinfo(seen, Style::plain), iblinkinfo(seen, Style::by_line),
                             iblinkinfo(seen, Style::switches_only), iblinkinfo(seen, Style::no_lids),
                             net_dump(seen), db_csv(seen), ufm_ports(seen)}) {
        INFO(text.substr(0, 400));
        const auto [fabric, missing, notes] = read(text);
        CHECK(missing.empty());
        CHECK(notes.empty());
        CHECK(cables(fabric) == expected);
        CHECK(fabric.hosts.size() == seen.fabric.hosts.size());
        CHECK(fabric.units.size() == seen.fabric.units.size());
        CHECK(fabric.rails == seen.fabric.rails);
    }
    const auto links = read(ufm_links(seen)).fabric; // without rates, of which storage is known
    CHECK(links.links.size() == expected.size());
    CHECK(links.hosts.size() == seen.fabric.hosts.size());
    CHECK(links.links[0].width == 4);
    CHECK(links.links[0].mbps == 0);
}

TEST_CASE("what is known of HCAs: by node GUID in db_csv, by port GUID elsewhere", "[source]") {
    const Seen seen("hosts=2 rails=2");
    const auto& hca = seen.fabric.hosts[0].hcas[0];
    CHECK(read(db_csv(seen)).fabric.hosts[0].hcas[0].guid == hca.guid);
    CHECK(read(db_csv(seen)).fabric.hosts[0].hcas[0].ports[0].guid == hca.guid + 1);
    CHECK(read(iblinkinfo(seen, Style::plain)).fabric.hosts[0].hcas[0].guid == hca.guid + 1);
    CHECK(read(net_dump(seen)).fabric.hosts[0].hcas[0].guid == hca.guid + 1);
    CHECK(read(ufm_ports(seen)).fabric.hosts[0].hcas[0].guid == hca.guid + 1);
    const auto lid = static_cast<std::uint16_t>(seen.lid(seen.fabric.links[0].a));
    for (const auto& text : {iblinkinfo(seen, Style::plain), iblinkinfo(seen, Style::switches_only),
                             net_dump(seen), db_csv(seen), ufm_ports(seen)})
        CHECK(read(text).fabric.hosts[0].hcas[0].ports[0].lid == lid);
    CHECK_FALSE(topo::is_devices(read(iblinkinfo(seen, Style::switches_only)).fabric.hosts[0].hcas[0].guid));
}

TEST_CASE("iblinkinfo of several releases", "[source]") {
    constexpr std::string_view old = R"(Switch 0x0005ad00070423f6 Cisco Switch SFS7000D:
      2    1[  ]  ==( 4X 10.0 Gbps (FDR10) Active /   LinkUp) (HOQ:18 VL_Stall:7)==>     24    1[  ] "n1 HCA-1" (  )
      2   10[ 3]  ==( 4X 2.5 Gbps   Down /  Polling)==>             [  ] "" (  )
      2   11[  ] ==( 1X           2.5 Gbps   Init/  LinkUp)==>      25    1[  ] "n2 HCA-1" ( Could be 4X)
)";
    const auto fabric = read(old).fabric;
    REQUIRE(fabric.links.size() == 2);
    CHECK(fabric.switches[0].name == "Cisco Switch SFS7000D");
    CHECK(fabric.switches[0].ports == 11);
    CHECK(fabric.links[0].mbps == 41200);
    CHECK(fabric.links[0].state == topo::LinkState::active);
    CHECK(fabric.links[1].width == 1);
    CHECK(fabric.hosts[1].name == "n2");
}

TEST_CASE("a node of iblinkinfo that is not listed, and one that cannot be told", "[source]") {
    const Seen seen("hosts=2 rails=1");
    auto text = iblinkinfo(seen, Style::plain);
    const auto cut = text.substr(text.find("CA: n002"));
    const auto [fabric, missing, notes] = read(cut);
    REQUIRE(missing.size() == 1);
    CHECK(missing[0].find("n001 mlx5_0, behind port 1 of leaf-su1-r0, was not seen itself") !=
          std::string::npos);
    CHECK(fabric.hosts.size() == 2);

    // Without LIDs, two HCAs of one name on two leaves of one name.
    std::string twins;
    for (int n = 1; n <= 2; ++n)
        twins += fmt::format(
            "CA: twin:\n 0x{0} 0 1[  ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 0 1[  ] \"leaf\" ( )\n"
            "Switch: 0x{1} leaf:\n 0 1[  ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 0 1[  ] \"twin\" ( )\n",
            n, n + 2);
    const auto unclear = read(twins);
    REQUIRE(unclear.missing.size() == 4);
    CHECK(unclear.missing[0].find("leads to one of 2 nodes called leaf") != std::string::npos);
}

TEST_CASE("damaged texts of tools are refused with the line", "[source]") {
    const Seen seen("hosts=2 rails=1");
    const auto plain = iblinkinfo(seen, Style::plain);
    CHECK(error(replaced(plain, "    1[  ]", "  300[  ]")) ==
          "t:2: '300[': a port number up to 254 is wanted");
    CHECK(error(replaced(plain, "0x946d", "0xx946d")) == "t:2: 'x946dae0000010011': a GUID is wanted");
    CHECK(error(" 1 1[  ] ==( Down/ Polling)==> [  ] \"\" ( )\n")
              .find("a link before any Switch: or CA: line") != std::string::npos);
    CHECK(error(plain + plain).find("the GUID stands twice") != std::string::npos);
    const auto dump = net_dump(seen);
    CHECK(error(replaced(dump, ", LID ", ", LID x")).starts_with("t:2: 'x"));
    CHECK(error(replaced(dump, "Neighbor Guid", "Neighbour")) ==
          "t:3: the heading has no column Neighbor Guid");
    CHECK(error(replaced(dump, " : NO-RTR", "")) == "t:4: the line has 12 columns, its heading 13");
    const auto csv = db_csv(seen);
    CHECK(error(replaced(csv, "NumPorts", "Ports")) == "t:8: the heading has no column NumPorts");
    CHECK(error(replaced(csv, "\"n001 mlx5_0\",1,1", "\"n001 mlx5_0\",1")) ==
          "t:8: the line has 6 values, its heading 7");
    CHECK(error(csv.substr(0, csv.find("START_LINKS"))).find("has no section LINKS") != std::string::npos);
    CHECK(error("[{\"number\":1,\"guid\":\"0x12345678901234567\"}]") ==
          "t: [0]: guid: '0x12345678901234567' is not a GUID of up to 16 hexadecimal digits");
    CHECK(error("[{\"colour\":1},{\"number\":1}]").starts_with("t: [0]: neither a port"));
    const std::string long_guid(100, '1');
    CHECK(error("Ca 1 \"H-" + long_guid + "\" # \"n1 mlx5_0\"\n")
              .find("a GUID of up to 16 hexadecimal digits is wanted") != std::string::npos);
    CHECK(error("switchguid=0x" + long_guid + "\n").starts_with("t:1: "));
    CHECK(error("Switch: 0x" + long_guid + " leaf:\n").starts_with("t:1: "));
}

TEST_CASE("a text that ends within a section was cut", "[source]") {
    const Seen seen("hosts=2 rails=2");
    const auto csv = db_csv(seen);
    const auto cut = read(csv.substr(0, csv.find("END_LINKS") - 3));
    REQUIRE(cut.missing.size() == 1);
    CHECK(cut.missing[0].find("the text was cut here") != std::string::npos);
}

TEST_CASE("cables and optics of db_csv and UFM are kept", "[source]") {
    const Seen seen("hosts=2 rails=1");
    const auto& link = seen.fabric.links[0];
    const auto row = [&](const End& end, std::string_view serial, std::string_view rest) {
        return fmt::format("{:#018x},{:#018x},{},NVIDIA,MFS1S00-H030V,{},A2,\"30 m\",{}\n", seen.guid(end),
                           seen.port_guid(end), end.port, serial, rest);
    };
    const auto csv = db_csv(
        seen, "START_CABLE_INFO\nNodeGuid,PortGuid,PortNum,Vendor,PN,SN,Rev,LengthDesc,FWVersion,"
              "TypeDesc,Temperature,MaxPower,RX1Power,RX2Power,TX1Power,Lot\n" +
                  row(link.a, "MT1", "38.100.121,\"Active, optical\",\"45C\",\"5.0 W\",10000,5012,0,1") +
                  row(link.b, "MT1", "N/A,NA,,\"NA\",\"-1.5 dBm\",N/A,\"1.0 mW\",1") + "END_CABLE_INFO\n");
    const auto fabric = read(csv).fabric;
    const auto found = std::find_if(fabric.links.begin(), fabric.links.end(),
                                    [](const topo::Link& l) { return !l.modules.empty(); });
    REQUIRE(found != fabric.links.end());
    const auto& host_end = found->a.host != none ? found->modules[0] : found->modules[1];
    const auto& far_end = found->a.host != none ? found->modules[1] : found->modules[0];
    const auto& first = link.a.host != none ? host_end : far_end;
    const auto& second = link.a.host != none ? far_end : host_end;
    CHECK(first.vendor == "NVIDIA");
    CHECK(first.part == "MFS1S00-H030V");
    CHECK(first.serial == "MT1");
    CHECK(first.revision == "A2");
    CHECK(first.length_m == 30);
    CHECK(first.firmware == "38.100.121");
    CHECK(first.kind == "Active, optical");
    CHECK(first.celsius == 45);
    CHECK(first.max_watts == 5);
    CHECK(first.rx_dbm == std::vector<double>{0, -3});
    CHECK(first.tx_dbm == std::vector<double>{-40});
    CHECK(second.firmware.empty());
    CHECK_FALSE(second.celsius);
    CHECK(second.rx_dbm == std::vector<double>{-1.5});
    CHECK(second.tx_dbm == std::vector<double>{0});

    const auto stored = topo::print_fabric(fabric);
    const auto again = topo::parse_fabric(stored, "t");
    REQUIRE(again);
    CHECK(topo::print_fabric(*again) == stored);

    auto newer = seen.fabric; // a discovery that tells nothing of cables
    topo::carry_over(fabric, newer);
    const auto& kept = newer.links[0].modules;
    REQUIRE(kept.size() == 2);
    CHECK(kept[0].serial == "MT1");
    CHECK_FALSE(kept[0].celsius);
    CHECK(kept[0].rx_dbm.empty());

    auto ufm = ufm_ports(seen);
    ufm = replaced(ufm, "\"number\"",
                   "\"cable_info\":{\"part_number\":\"MCP1600\",\"length\":\"50 cm\","
                   "\"temperature\":\"N/A\",\"technology\":null},\"number\"");
    const auto told = read(ufm).fabric;
    const auto one = std::find_if(told.links.begin(), told.links.end(),
                                  [](const topo::Link& l) { return !l.modules.empty(); });
    REQUIRE(one != told.links.end());
    const auto& plug = one->modules[0].part.empty() ? one->modules[1] : one->modules[0];
    CHECK(plug.part == "MCP1600");
    CHECK(plug.length_m == 0.5);
}

TEST_CASE("what terminals and logs add is passed over", "[source]") {
    const Seen seen("hosts=2 rails=2");
    const auto expected = cables(seen.fabric);
    const auto plain = iblinkinfo(seen, Style::plain);
    std::string crlf;
    for (const char c : plain)
        crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    std::string wide = "\xFF\xFE";
    for (const char c : plain)
        (wide += c) += '\0';
    const std::string script = "Script started on 2026-11-22 01:00:00+00:00 [TERM=\"xterm\"]\n"
                               "\x1b[?2004h\x1b]0;root@sm1:~\a[root@sm1 ~]# iblinkim\bnfo\r\n";
    for (const auto& text : {"\xEF\xBB\xBF" + plain, crlf, wide, "\xEF\xBB\xBF" + crlf}) {
        const auto [fabric, missing, notes] = read(text);
        CHECK(cables(fabric) == expected);
        CHECK(notes.empty());
    }
    for (const auto& text :
         {script + crlf + "\x1b[?2004h[root@sm1 ~]# exit\r\nScript done on 2026-11-22 01:01:00+00:00\r\n",
          "=~=~=~=~=~=~=~=~=~=~=~= PuTTY log 2026.11.22 01:00:00 =~=~=~=~=~=~=~=~=~=~=~=\r\n"
          "login as: root\r\nLast login: Sun Nov 22\r\nsm1:~ # iblinkinfo\r\n" +
              crlf + "sm1:~ # ibstat\r\nCA 'mlx5_0'\r\n",
          "user@host:~$ iblinkinfo\n" + plain + "user@host:~$ ",
          "sw1 [standalone: master] (config) # fae iblinkinfo\n" + plain +
              "sw1 [standalone: master] (config) # \n"}) {
        const auto [fabric, missing, notes] = read(text);
        CHECK(missing.empty());
        CHECK(cables(fabric) == expected);
        REQUIRE(notes.size() == 2);
        CHECK(notes[0].find("in front of the text of iblinkinfo") != std::string::npos);
        CHECK(notes[1].find("behind the text of iblinkinfo") != std::string::npos);
    }
    // Lines keep their numbers.
    CHECK(error("[root@sm1 ~]# iblinkinfo\r\n" + replaced(crlf, "    1[  ]", "  300[  ]"))
              .starts_with("t:3: "));
}

TEST_CASE("prompts, and lines that are none", "[source]") {
    for (const auto* line :
         {"[root@sm1 ~]# ls", "user@host:~$", "(base) user@host:/etc$ ls", "sm1:~ # ", "$ ls",
          "sw1 [standalone: master] > show", "exit", "logout", "Connection to sm1 closed."})
        CHECK(topo::ends_output(line));
    for (const auto* line : {"[1] \"S-1\"[2] # \"leaf\"", "CA: n001 mlx5_0:", "START_NODES", "# comment",
                             "SwitchName=a Nodes=b", "n001: mlx5_0", "  - switch: a", "hostA (g1 g2)"})
        CHECK_FALSE(topo::ends_output(line));
    CHECK(topo::clean_text("a\x1b[31mb\x1b[0m\x1b]0;t\x1b\\c\n\x1b[") == "abc\n");
    CHECK(topo::clean_text("ab\b\bc\n\b\bd\r\r\n") == "c\nd\n");
    CHECK(topo::clean_text(std::string_view("\xFE\xFF\0a\0\n\xD8\x3D\xDE\0", 10)) == "a\n\xF0\x9F\x98\x80");
}

TEST_CASE("scontrol show topology", "[source]") {
    const auto tree = read("SwitchName=root Level=1 LinkSpeed=1 Nodes=w-[0-2] Switches=leaf[01-02]\n"
                           "SwitchName=leaf01 Level=0 LinkSpeed=1 Nodes=w-0\n"
                           "SwitchName=leaf02 Level=0 LinkSpeed=1 Nodes=w-1\n")
                          .fabric;
    REQUIRE(tree.hosts.size() == 3);
    CHECK(tree.units.size() == 3); // w-2 is below none of the leaves
    CHECK(tree.switches.size() == 4);
    const auto blocks = read("BlockName=b0 BlockIndex=0 Nodes=n[1-2] BlockSize=2\n"
                             "BlockName=b1 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n"
                             "AggregatedBlock=b[0-1] BlockIndex=2 Nodes=n[1-4] BlockSize=4\n")
                            .fabric;
    CHECK(blocks.units.size() == 2);
    CHECK(error("SwitchName=root Nodes=a Switches=b\n").find("either Nodes or Switches") !=
          std::string::npos);
}

TEST_CASE("a text that is none of them gets the list of what is", "[source]") {
    for (const auto* text :
         {"", "hello\nworld\n", "<html>\n", "{\"railyard\": 1\n", "[\n{\"results\": []}]\n",
          "{\"hosts\": [{\"name\": \"n1\"}]}\n", "iberror: failed: discover failed\n"}) {
        const auto said = error(text);
        INFO(text);
        CHECK(said.starts_with("t: is none of what can be read: text of ibnetdiscover"));
        for (const auto* name : {"iblinkinfo", "net_dump", "db_csv", "UFM", "topology.yaml", "lsb.hosts"})
            CHECK(said.find(name) != std::string::npos);
    }
}
