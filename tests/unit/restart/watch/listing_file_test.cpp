// What nodewatchd takes from fabric files of every origin.
#include "restart/watch/listing_file.hpp"

#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include "probe/sysfs_ib.hpp"
#include "restart/watch/judge.hpp"
#include "topo/fabric_json.hpp"
#include "topo/read/assemble.hpp"
#include "topo/read/ibnetdiscover.hpp"
#include "topo/read/outline.hpp"
#include "topo/read/slurm_topology.hpp"
#include "topo/synth/synth.hpp"
#include "unit/probe/hardware.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fstream>
#include <thread>

using namespace std::chrono_literals;
using namespace restart;

namespace {

// Through the file's own text, as nodewatchd gets it.
Listing listing_of(const topo::Fabric& fabric, const std::string& host) {
    const auto excerpt = topo::parse_excerpt(topo::print_fabric(fabric), host, "f.json");
    REQUIRE(excerpt);
    return list_ports(*excerpt, host, "f.json");
}

topo::Fabric from_text(const std::string& text) {
    const auto raw = topo::parse_ibnetdiscover(text, "fabric.txt");
    if (!raw) FAIL(raw.error().text);
    auto assembly = topo::assemble(*raw);
    REQUIRE(assembly);
    return std::move(assembly->fabric);
}

// A leaf with n002's only HCA, called as the text's second word says.
std::string text_with(const std::string& description) {
    return fmt::format(
        "switchguid=0x98030000000a0000(98030000000a0000)\n"
        "Switch\t2 \"S-98030000000a0000\"\t\t# \"leaf\" enhanced port 0 lid 1 lmc 0\n"
        "[1]\t\"H-946dae0000010010\"[1](946dae0000010010) \t\t# \"{0}\" lid 2 4xHDR\n\n"
        "caguid=0x946dae0000010010\n"
        "Ca\t1 \"H-946dae0000010010\"\t\t# \"{0}\"\n"
        "[1](946dae0000010010) \t\"S-98030000000a0000\"[1]\t\t# lid 2 lmc 0 \"leaf\" lid 1 4xHDR\n",
        description);
}

std::vector<Finding> judged(const test::Hardware& hardware, const Listing& listing, base::Duration time) {
    probe::SysfsIb sysfs(hardware.sysfs(), RuleBook::counters({}));
    Judge judge{Limits{}};
    std::vector<Finding> findings;
    Sample sample;
    sample.now = base::Time(1'700'000'000s);
    sample.listed = listing;
    for (const auto end = sample.now + time; sample.now < end; sample.now += 1s) {
        sample.ib = sysfs.sample(probe::SysfsIb::Depth::judged);
        findings = judge.judge(sample);
    }
    return findings;
}

} // namespace

TEST_CASE("a text that says 'n002 HCA-1' lists the host's mlx5_0 by its GUID, and nothing is missing") {
    const auto listing = listing_of(from_text(text_with("n002 HCA-1")), "n002");
    REQUIRE(listing.ports.size() == 1);
    CHECK(listing.ports[0].component == "HCA-1:1");
    CHECK(listing.ports[0].node == 0x946dae0000010010);
    CHECK(listing.why_not.empty());
    const test::Hardware hardware(1);
    CHECK(judged(hardware, listing, 300s).empty());
    hardware.remove("mlx5_0");
    const auto findings = judged(hardware, listing, 300s);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == "ib.missing");
    CHECK(findings[0].component == "HCA-1:1");
}

TEST_CASE("a name that no report may carry gives way to the GUID") {
    auto fabric = from_text(text_with("n002 HCA-1"));
    fabric.hosts[0].hcas[0].device = "MT4129 ConnectX7; reboot";
    CHECK(listing_of(fabric, "n002").ports.at(0).component == "0x946dae0000010010:1");
}

TEST_CASE("units of topology.conf list no ports, and this is said") {
    const auto outline =
        topo::parse_topology_conf("SwitchName=s1 Nodes=n[001-004]\nSwitchName=s2 Nodes=n[005-008]\n"
                                  "SwitchName=top Switches=s[1-2]\n",
                                  "topology.conf");
    REQUIRE(outline);
    const auto assembly = topo::assemble(*outline);
    REQUIRE(assembly);
    const auto listing = listing_of(assembly->fabric, "n001");
    CHECK(listing.ports.empty());
    CHECK(listing.why_not == "f.json tells no GUID of any of its 1 HCA: it cannot be missed");
    const test::Hardware hardware(2);
    CHECK(judged(hardware, listing, 300s).empty());
}

TEST_CASE("a host that the file does not know is said so") {
    const auto listing = listing_of(from_text(text_with("n002 HCA-1")), "n003");
    CHECK(listing.ports.empty());
    CHECK(listing.why_not == "f.json does not know n003: its ports cannot be missed");
}

TEST_CASE("the file is read again when asked, and what was read stays when it cannot be read") {
    const test::Folder folder;
    const auto path = folder.path / "fabric.json";
    const auto write = [&](const char* spec) {
        const auto parsed = topo::parse_synth(spec);
        REQUIRE(parsed);
        const auto made = topo::synthesise(*parsed);
        REQUIRE(made);
        std::ofstream(path, std::ios::trunc) << topo::print_fabric(*made);
    };
    TaskLoop loop(24h);
    ListingFile file(loop, path, "n001", folder.path / "run");
    const auto until = [&](auto holds) {
        return test::eventually([&] {
            const auto listing = file.listing();
            return listing && holds(*listing);
        });
    };
    CHECK(until([](const Listing& l) { return l.why_not.find("No such file") != std::string::npos; }));
    write("units=1 hosts=2 rails=4");
    file.look(path);
    CHECK(until([](const Listing& l) { return l.ports.size() == 4 && l.why_not.empty(); }));
    const auto digest = file.listing()->digest;
    std::ofstream(path, std::ios::trunc) << "{\"hosts\":";
    file.look(path);
    CHECK(until([](const Listing& l) { return l.ports.size() == 4 && !l.why_not.empty(); }));
    write("units=1 hosts=2 rails=2");
    file.look(path);
    CHECK(until(
        [&](const Listing& l) { return l.ports.size() == 2 && l.why_not.empty() && l.digest != digest; }));
    CHECK(std::filesystem::exists(folder.path / "run" / "fabric-n001")); // for the steps of jobs, too
}
