// Railyard's model of the fabric: hosts, their HCAs by rail, switches by tier, links, and what is derived
// from them: units and pods. The file fabric.json (fabric.json(5), fabric_json.hpp) is its only stored form.
//
// Identity is GUID + port; names are labels. All references are indices into the vectors of Fabric. A Fabric
// is a plain value: sources (ibnetdiscover.hpp, mad_discover.hpp, synth.hpp) fill hosts, switches and links;
// derive() (derive.hpp) then fills what is marked "derived".
//
// `extra` contains the members of a file's object that this version does not know, as the text between the
// braces (`"rack":7,"row":{"n":1}`): they are kept when the file is rewritten. Usually empty.
//
// Terms (IBM Blue Vela, arXiv 2407.05467): the HCA with rail index r of every host in a unit is connected to
// the same leaf; a unit = hosts whose compute HCAs have the same vector of leaves; a pod = units whose leaves
// share spines; above it the core. Below a unit, if hosts report it, an NVLink domain: hosts whose GPUs share
// NVLink switches, a rack of GB200 or GB300.
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
    std::string host_as = {}; // the host's name as spelled in the description, if not Host::name
    int rail = none;          // 0 … rails-1 for compute HCAs; none for storage
    Role role = Role::compute;
    std::string pci; // "0000:18:00.0", empty if the source does not have it
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
    std::vector<Hca> hcas;   // in rail order, storage last
    std::vector<Gpu> gpus;   // ordered by PCI address, as in NVML; empty: not reported by the host
    std::string domain = {}; // its NVLink domain; empty: unknown
    int unit = none;         // derived
    int other_unit = none;   // derived: another equally possible unit; none: undisputed
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

// The module in a port, as recorded in its own memory (SFF-8636, CMIS): a transceiver, or an end of a copper
// or active cable, whose two ends have the same serial number. Texts are printable.
struct Module {
    std::string vendor = {}, part = {}, serial = {}, revision = {}, firmware = {};
    std::string kind = {}; // in the source's terms: "Active optical cable"
    double length_m = 0;   // of the cable; 0 unknown
    double max_watts = 0;  // maximum power draw; 0 unknown
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
    std::vector<Module> modules = {}; // at a and at b; empty if neither is known
    std::string extra = {};
};

struct Unit {
    std::string name;                 // "su1", numbered by first host
    std::vector<std::uint32_t> hosts; // ascending
    std::vector<int> leaves;          // by rail
    int pod = none;
    std::vector<int> more_leaves = {}; // ascending; of additional ports of HCAs that use several
};

// Hosts of one NVLink domain, whatever their units.
struct Domain {
    std::string name;
    std::vector<std::uint32_t> hosts; // ascending
    int unit = none;                  // of most of its hosts; of equals the first
};

struct Pod {
    std::string name;                 // "pod1"
    std::vector<std::uint32_t> units; // ascending
};

// Switches connected by links. HCAs do not forward, so the planes of a network, rails that never meet and a
// storage network are separate islands.
struct Island {
    std::vector<int> switches; // ascending
    std::vector<int> rails;    // with an HCA here, ascending; none in a storage network
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
    std::string source;          // origin, for users: "ibnetdiscover fabric.txt"
    std::string extra = {};

    // Index of the host with that name; built by derive().
    std::optional<std::uint32_t> find_host(std::string_view name) const;
    std::unordered_map<std::string, std::uint32_t> host_index; // derived
};

} // namespace topo
