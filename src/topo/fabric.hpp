// The fabric as Railyard sees it: hosts, their HCAs by rail, switches by tier, links, and what follows from
// them: units and pods. The file fabric.json (fabric.json(5), fabric_json.hpp) is its one stored form.
//
// Identity is GUID + port; names are labels. Everything refers to everything else by index into the vectors
// of Fabric. A Fabric is a plain value: sources (ibnetdiscover.hpp, mad_discover.hpp, synth.hpp) fill hosts,
// switches and links; derive() (derive.hpp) then fills what is marked "derived".
//
// `extra` holds the members of a file's object that this version does not know, as the text between the
// braces (`"rack":7,"row":{"n":1}`): they are kept when the file is written again. Empty mostly.
//
// Terms (IBM Blue Vela, arXiv 2407.05467): the HCA with rail index r of every host of a unit is attached to
// the same leaf; a unit = hosts whose compute HCAs have the same vector of leaves; a pod = units whose leaves
// share spines; above it the core. Below a unit, where a host says so, an NVLink domain: hosts whose GPUs
// share NVLink switches, a rack of GB200 or GB300.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace topo {

using Guid = std::uint64_t;
inline constexpr int none = -1;

enum class Role : std::uint8_t { compute, storage };
enum class LinkState : std::uint8_t { unknown, down, init, armed, active };

struct HcaPort {
    Guid guid = 0;
    std::uint8_t number = 1;
    std::uint16_t lid = 0;
    int link = none; // derived: index into Fabric::links
    int leaf = none; // derived: switch at the other end
    std::string extra = {};
};

struct Hca {
    Guid guid = 0;            // node GUID
    std::string device;       // "mlx5_3"
    std::string host_as = {}; // how its description spells the host's name, where that is not Host::name
    int rail = none;          // 0 … rails-1 for compute HCAs; none for storage
    Role role = Role::compute;
    std::string pci; // "0000:18:00.0", empty when the source does not have it
    int numa = none;
    int gpu = none; // index of the nearest GPU
    std::vector<HcaPort> ports;
    std::string extra = {};
};

struct Gpu {
    std::string pci; // "0000:19:00.0"
    int numa = none;
    std::string extra = {};
};

struct Host {
    std::string name;
    std::vector<Hca> hcas; // in rail order, storage last
    std::vector<Gpu> gpus; // in order of PCI addresses, as NVML counts them; empty: not reported by the host
    std::string domain = {}; // the NVLink domain that it is in; empty: none is known
    int unit = none;         // derived
    int other_unit = none;   // derived: the one that it may as well be in; none: nothing is undecided
    int domain_index = none; // derived: index into Fabric::domains
    std::vector<int> leaves; // derived: leaves[r] = leaf switch of rail r, or none
    std::string extra = {};
};

struct Switch {
    Guid guid = 0;
    std::string name;
    int ports = 0;
    int tier = none;       // derived: 0 = leaf, 1 = spine, 2 = core, …
    int pod = none;        // derived for tiers below the core
    int island = none;     // derived: index into Fabric::islands
    bool namesake = false; // derived: another switch has the same name
    std::string extra = {};
};

// One end of a link. Exactly one of host and switch_ is set.
struct End {
    int host = none;
    int hca = none; // index into Host::hcas
    int switch_ = none;
    std::uint8_t port = 0;
    bool operator==(const End&) const = default;
};

// What is plugged into a port, as its own memory has it (SFF-8636, CMIS): a transceiver, or an end of a
// copper or active cable, whose two ends have one serial number. Texts are printable.
struct Module {
    std::string vendor = {}, part = {}, serial = {}, revision = {}, firmware = {};
    std::string kind = {}; // in the source's words: "Active optical cable"
    double length_m = 0;   // of the cable; 0 unknown
    double max_watts = 0;  // that it may draw; 0 unknown
    std::optional<double> celsius = {};
    std::vector<double> rx_dbm = {}, tx_dbm = {}; // optical power, by lane
    std::string extra = {};
    bool operator==(const Module&) const = default;
};

struct Link {
    End a, b;
    std::uint8_t width = 0; // lanes: 1, 2, 4, 8, 12; 0 unknown
    std::uint32_t mbps = 0; // signalling rate of the whole link, 10^6 bit/s: 400000 = 4X NDR; 0 unknown
    LinkState state = LinkState::unknown;
    std::vector<Module> modules = {}; // at a and at b; empty where neither is known
    std::string extra = {};
};

struct Unit {
    std::string name;                 // "su1", numbered by first host
    std::vector<std::uint32_t> hosts; // ascending
    std::vector<int> leaves;          // by rail
    int pod = none;
    std::vector<int> more_leaves = {}; // ascending; of the further ports of HCAs that use several
};

// Hosts of one NVLink domain, of whatever units.
struct Domain {
    std::string name;
    std::vector<std::uint32_t> hosts; // ascending
    int unit = none;                  // of most of its hosts; of as many the first
};

struct Pod {
    std::string name;                 // "pod1"
    std::vector<std::uint32_t> units; // ascending
};

// Switches that links join. HCAs do not forward, so that the planes of a network, rails that never meet and a
// storage network are islands each.
struct Island {
    std::vector<int> switches; // ascending
    std::vector<int> rails;    // that have an HCA here, ascending; none in a storage network
};

struct Fabric {
    std::vector<Host> hosts; // natural order of names (base::natural_less)
    std::vector<Switch> switches;
    std::vector<Link> links;
    std::vector<Unit> units;     // derived; ascending by first host
    std::vector<Domain> domains; // derived; ascending by first host
    std::vector<Pod> pods;       // derived; ascending by first unit
    std::vector<Island> islands; // derived; ascending by first switch
    int rails = 0;               // derived: 1 + the largest rail index
    int tiers = 0;               // derived: number of switch tiers
    std::string source;          // where it came from, for people: "ibnetdiscover fabric.txt"
    std::string extra = {};

    // Index of the host of that name; built by derive().
    std::optional<std::uint32_t> find_host(std::string_view name) const;
    std::unordered_map<std::string, std::uint32_t> host_index; // derived
};

} // namespace topo
