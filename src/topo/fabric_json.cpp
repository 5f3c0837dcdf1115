#include "topo/fabric_json.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "topo/derive.hpp"
#include "topo/guid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

namespace topo {
namespace {

namespace json = boost::json;
using base::Code;
using base::Error;
using base::Expected;

// base::Reader keeps a path string with every value. This file has a hundred thousand of them, so the path is
// kept as a chain on the stack and only formatted for an error.
class Place {
public:
    explicit Place(const json::value& value) : value_(&value) {}
    Place(const Place& up, const json::value& value, std::string_view key)
        : up_(&up), key_(key), value_(&value) {}
    Place(const Place& up, const json::value& value, std::size_t index)
        : up_(&up), index_(index), value_(&value) {}

    std::string path() const {
        if (up_ == nullptr) return "top level";
        auto path = up_->up_ == nullptr ? std::string() : up_->path();
        if (key_.empty()) return fmt::format("{}[{}]", path, index_);
        return path.empty() ? std::string(key_) : fmt::format("{}.{}", path, key_);
    }
    const json::value& value() const { return *value_; }
    const json::value* find(std::string_view key) const {
        const auto* object = value_->if_object();
        const auto* member = object == nullptr ? nullptr : object->if_contains(key);
        return member == nullptr || member->is_null() ? nullptr : member;
    }

private:
    const Place* up_ = nullptr;
    std::string_view key_;
    std::size_t index_ = 0;
    const json::value* value_;
};

// Thrown and caught only in this file: a document is walked to its end or to its first error.
struct Malformed {
    std::string text;
};

[[noreturn]] void refuse(const Place& place, std::string_view what) {
    throw Malformed{fmt::format("{}: {}", place.path(), what)};
}

// Calls visit(Place) with the member; false if it does not exist.
template <class Visit> bool with(const Place& place, std::string_view key, Visit visit) {
    const auto* member = place.find(key);
    if (member == nullptr) return false;
    visit(Place(place, *member, key));
    return true;
}

void must(bool there, const Place& place, std::string_view key) {
    if (there) return;
    if (!place.value().is_object()) refuse(place, "an object is wanted");
    const json::value missing;
    refuse(Place(place, missing, key), "is missing");
}

template <class Visit> void each(const Place& place, Visit visit) {
    const auto* array = place.value().if_array();
    if (array == nullptr) refuse(place, "an array is wanted");
    for (std::size_t i = 0; i < array->size(); ++i)
        visit(Place(place, (*array)[i], i));
}

std::string text(const Place& place) {
    const auto* string = place.value().if_string();
    if (string == nullptr) refuse(place, "a string is wanted");
    for (const char c : *string)
        if (static_cast<unsigned char>(c) < 0x20) refuse(place, "has a control character");
    return std::string(string->data(), string->size());
}

std::string name_text(const Place& place) {
    auto name = text(place);
    if (name.empty()) refuse(place, "must not be empty");
    return name;
}

std::int64_t integer(const Place& place, std::int64_t low, std::int64_t high) {
    json::error_code failed;
    const auto number = place.value().to_number<std::int64_t>(failed);
    if (failed) refuse(place, "a whole number is wanted");
    if (number < low || number > high)
        refuse(place, fmt::format("{} is not between {} and {}", number, low, high));
    return number;
}

template <class Number> Number number(const Place& place, std::int64_t low, std::int64_t high) {
    return static_cast<Number>(integer(place, low, high));
}

Guid guid(const Place& place) {
    const auto* string = place.value().if_string();
    if (string == nullptr) refuse(place, "a GUID is wanted, a string such as \"0x98039b0300a1b2c3\"");
    const auto parsed = parse_guid(std::string_view(string->data(), string->size()));
    if (!parsed)
        refuse(place,
               fmt::format("\"{}\" is not a GUID: 0x and up to 16 hexadecimal digits are", string->c_str()));
    return *parsed;
}

template <class Words> std::size_t word(const Place& place, const Words& words) {
    const auto said = text(place);
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] == said) return i;
    refuse(place, fmt::format("\"{}\" is not one of {}", said, fmt::join(words, ", ")));
}

// The members of an object that are not among the known ones: fabric.hpp's `extra`.
template <std::size_t n> std::string extra(const Place& place, const std::array<std::string_view, n>& known) {
    std::string members;
    for (const auto& [key, value] : place.value().get_object()) {
        if (std::find(known.begin(), known.end(), std::string_view(key.data(), key.size())) != known.end())
            continue;
        if (!members.empty()) members += ',';
        members += json::serialize(key) + ':' + json::serialize(value);
    }
    return members;
}

using Known = std::string_view;
constexpr std::array port_members{Known("port"), Known("guid"), Known("lid")};
constexpr std::array hca_members{Known("device"), Known("guid"), Known("rail"),  Known("role"), Known("pci"),
                                 Known("numa"),   Known("gpu"),  Known("ports"), Known("host")};
constexpr std::array gpu_members{Known("pci"), Known("numa")};
constexpr std::array host_members{Known("name"), Known("domain"), Known("hcas"), Known("gpus")};
constexpr std::array switch_members{Known("guid"), Known("name"), Known("ports")};
constexpr std::array link_members{Known("ends"), Known("width"), Known("mbps"), Known("state"),
                                  Known("modules")};
constexpr std::array module_members{Known("vendor"),   Known("part"),   Known("serial"),   Known("revision"),
                                    Known("firmware"), Known("kind"),   Known("length_m"), Known("max_watts"),
                                    Known("celsius"),  Known("rx_dbm"), Known("tx_dbm")};
constexpr std::array top_members{Known("railyard_fabric"), Known("source"), Known("switches"), Known("hosts"),
                                 Known("links")};

constexpr int most_rails = 1024;

HcaPort read_port(const Place& place) {
    HcaPort port;
    must(with(place, "port", [&](const Place& p) { port.number = number<std::uint8_t>(p, 1, 254); }), place,
         "port");
    with(place, "guid", [&](const Place& p) { port.guid = guid(p); });
    with(place, "lid", [&](const Place& p) { port.lid = number<std::uint16_t>(p, 0, 0xFFFF); });
    port.extra = extra(place, port_members);
    return port;
}

Hca read_hca(const Place& place) {
    Hca hca;
    must(with(place, "guid", [&](const Place& p) { hca.guid = guid(p); }), place, "guid");
    with(place, "device", [&](const Place& p) { hca.device = text(p); });
    with(place, "host", [&](const Place& p) { hca.host_as = text(p); });
    with(place, "role", [&](const Place& p) { hca.role = static_cast<Role>(word(p, role_words)); });
    const bool railed =
        with(place, "rail", [&](const Place& p) { hca.rail = number<int>(p, 0, most_rails - 1); });
    if (hca.role == Role::compute) must(railed, place, "rail");
    if (hca.role == Role::storage && railed) refuse(place, "a storage HCA has no rail");
    with(place, "pci", [&](const Place& p) { hca.pci = text(p); });
    with(place, "numa", [&](const Place& p) { hca.numa = number<int>(p, 0, 1 << 20); });
    with(place, "gpu", [&](const Place& p) { hca.gpu = number<int>(p, 0, 1 << 20); });
    must(with(place, "ports",
              [&](const Place& p) {
                  each(p, [&](const Place& port) {
                      hca.ports.push_back(read_port(port));
                      for (std::size_t i = 0; i + 1 < hca.ports.size(); ++i)
                          if (hca.ports[i].number == hca.ports.back().number)
                              refuse(port, fmt::format("port {} stands twice", hca.ports[i].number));
                  });
              }),
         place, "ports");
    hca.extra = extra(place, hca_members);
    return hca;
}

Gpu read_gpu(const Place& place) {
    Gpu gpu;
    must(with(place, "pci", [&](const Place& p) { gpu.pci = name_text(p); }), place, "pci");
    with(place, "numa", [&](const Place& p) { gpu.numa = number<int>(p, 0, 1 << 20); });
    gpu.extra = extra(place, gpu_members);
    return gpu;
}

// The owner of a node GUID: an HCA or a switch.
using Nodes = std::unordered_map<Guid, End>;

void claim(Nodes& nodes, Guid guid, End end, const Place& place) {
    if (!nodes.emplace(guid, end).second)
        refuse(place, fmt::format("GUID {} stands twice", format_guid(guid)));
}

void read_hosts(const Place& place, Fabric& fabric, Nodes& nodes) {
    std::unordered_set<std::string> names;
    each(place, [&](const Place& p) {
        Host host;
        must(with(p, "name", [&](const Place& n) { host.name = name_text(n); }), p, "name");
        if (!names.insert(host.name).second) refuse(p, fmt::format("host \"{}\" stands twice", host.name));
        with(p, "domain", [&](const Place& n) { host.domain = name_text(n); });
        must(with(p, "hcas",
                  [&](const Place& hcas) {
                      each(hcas, [&](const Place& h) {
                          auto hca = read_hca(h);
                          if (hca.rail != none)
                              for (const Hca& other : host.hcas)
                                  if (other.rail == hca.rail)
                                      refuse(h, fmt::format("rail {} stands twice", hca.rail));
                          claim(nodes, hca.guid,
                                {static_cast<int>(fabric.hosts.size()), static_cast<int>(host.hcas.size()),
                                 none, 0},
                                h);
                          host.hcas.push_back(std::move(hca));
                      });
                  }),
             p, "hcas");
        with(p, "gpus", [&](const Place& gpus) {
            each(gpus, [&](const Place& g) { host.gpus.push_back(read_gpu(g)); });
        });
        host.extra = extra(p, host_members);
        fabric.hosts.push_back(std::move(host));
    });
}

void read_switches(const Place& place, Fabric& fabric, Nodes& nodes) {
    each(place, [&](const Place& p) {
        Switch s;
        must(with(p, "guid", [&](const Place& g) { s.guid = guid(g); }), p, "guid");
        with(p, "name", [&](const Place& n) { s.name = text(n); });
        must(with(p, "ports", [&](const Place& n) { s.ports = number<int>(n, 0, 254); }), p, "ports");
        claim(nodes, s.guid, {none, none, static_cast<int>(fabric.switches.size()), 0}, p);
        s.extra = extra(p, switch_members);
        fabric.switches.push_back(std::move(s));
    });
}

End read_end(const Place& place, const Fabric& fabric, const Nodes& nodes,
             std::unordered_set<std::uint64_t>& taken) {
    const auto* pair = place.value().if_array();
    if (pair == nullptr || pair->size() != 2) refuse(place, "a pair is wanted: [node GUID, port]");
    const auto node = guid(Place(place, (*pair)[0], std::size_t{0}));
    const auto port = number<std::uint8_t>(Place(place, (*pair)[1], std::size_t{1}), 0, 254);
    const auto found = nodes.find(node);
    if (found == nodes.end())
        refuse(place, fmt::format("{} is neither an HCA nor a switch of this file", format_guid(node)));
    End end = found->second;
    end.port = port;
    bool there = false;
    if (end.switch_ != none) {
        there = port <= fabric.switches[static_cast<std::size_t>(end.switch_)].ports;
    } else {
        const Host& host = fabric.hosts[static_cast<std::size_t>(end.host)];
        for (const HcaPort& p : host.hcas[static_cast<std::size_t>(end.hca)].ports)
            there = there || p.number == port;
    }
    if (!there) refuse(place, fmt::format("{} has no port {}", format_guid(node), port));
    // A unique number for every port of the file: the node, then the port in the low byte.
    const auto id =
        end.switch_ != none
            ? (std::uint64_t{1} << 62) | (static_cast<std::uint64_t>(end.switch_) << 8)
            : (static_cast<std::uint64_t>(end.host) << 32) | (static_cast<std::uint64_t>(end.hca) << 8);
    if (!taken.insert(id | port).second)
        refuse(place, fmt::format("port {} of {} is in two links", port, format_guid(node)));
    return end;
}

double real(const Place& place, double low, double high) {
    json::error_code failed;
    const auto number = place.value().to_number<double>(failed);
    if (failed) refuse(place, "a number is wanted");
    if (!(number >= low && number <= high))
        refuse(place, fmt::format("{} is not between {} and {}", number, low, high));
    return number;
}

std::vector<double> read_lanes(const Place& place) {
    constexpr std::size_t most = 16;
    std::vector<double> lanes;
    each(place, [&](const Place& p) {
        if (lanes.size() == most) refuse(place, fmt::format("has more than {} lanes", most));
        lanes.push_back(real(p, -100, 100));
    });
    return lanes;
}

Module read_module(const Place& place) {
    Module module;
    if (!place.value().is_object()) refuse(place, "an object is wanted, or null");
    const auto take = [&](std::string_view key, std::string& into) {
        with(place, key, [&](const Place& p) { into = text(p); });
    };
    take("vendor", module.vendor);
    take("part", module.part);
    take("serial", module.serial);
    take("revision", module.revision);
    take("firmware", module.firmware);
    take("kind", module.kind);
    with(place, "length_m", [&](const Place& p) { module.length_m = real(p, 0, 1e6); });
    with(place, "max_watts", [&](const Place& p) { module.max_watts = real(p, 0, 1000); });
    with(place, "celsius", [&](const Place& p) { module.celsius = real(p, -300, 1000); });
    with(place, "rx_dbm", [&](const Place& p) { module.rx_dbm = read_lanes(p); });
    with(place, "tx_dbm", [&](const Place& p) { module.tx_dbm = read_lanes(p); });
    module.extra = extra(place, module_members);
    return module;
}

// For both ends, null if unknown.
std::vector<Module> read_modules(const Place& place) {
    std::vector<Module> modules;
    each(place, [&](const Place& p) { modules.push_back(p.value().is_null() ? Module() : read_module(p)); });
    if (modules.size() != 2) refuse(place, "an array of two is wanted, one for each end");
    return modules;
}

void read_links(const Place& place, Fabric& fabric, const Nodes& nodes) {
    std::unordered_set<std::uint64_t> taken;
    if (const auto* array = place.value().if_array()) {
        taken.reserve(2 * array->size());
        fabric.links.reserve(array->size());
    }
    each(place, [&](const Place& p) {
        Link link;
        must(with(p, "ends",
                  [&](const Place& ends) {
                      const auto* pair = ends.value().if_array();
                      if (pair == nullptr || pair->size() != 2)
                          refuse(ends, "an array of two ends is wanted");
                      link.a = read_end(Place(ends, (*pair)[0], std::size_t{0}), fabric, nodes, taken);
                      link.b = read_end(Place(ends, (*pair)[1], std::size_t{1}), fabric, nodes, taken);
                  }),
             p, "ends");
        with(p, "width", [&](const Place& n) { link.width = number<std::uint8_t>(n, 0, 12); });
        with(p, "mbps", [&](const Place& n) { link.mbps = number<std::uint32_t>(n, 0, 0xFFFFFFFF); });
        with(p, "modules", [&](const Place& n) { link.modules = read_modules(n); });
        with(p, "state", [&](const Place& n) { link.state = static_cast<LinkState>(word(n, state_words)); });
        link.extra = extra(p, link_members);
        fabric.links.push_back(std::move(link));
    });
}

Fabric read_document(const Place& top) {
    must(with(top, "railyard_fabric",
              [&](const Place& p) {
                  const auto version = integer(p, 1, std::numeric_limits<int>::max());
                  if (version != fabric_json_version)
                      refuse(
                          p,
                          fmt::format(
                              "this is version {} of the file; this program reads version {}: make the file "
                              "anew with railtopo discover, or use a newer Railyard",
                              version, fabric_json_version));
              }),
         top, "railyard_fabric");
    Fabric fabric;
    Nodes nodes;
    with(top, "source", [&](const Place& p) { fabric.source = text(p); });
    must(with(top, "switches", [&](const Place& p) { read_switches(p, fabric, nodes); }), top, "switches");
    must(with(top, "hosts", [&](const Place& p) { read_hosts(p, fabric, nodes); }), top, "hosts");
    must(with(top, "links", [&](const Place& p) { read_links(p, fabric, nodes); }), top, "links");
    fabric.extra = extra(top, top_members);
    return fabric;
}

} // namespace

Expected<Fabric> parse_fabric(std::string_view text, std::string_view name) {
    auto document = base::parse_json(text);
    if (!document) return std::move(document).error().within(name);
    try {
        auto fabric = read_document(Place(*document));
        derive(fabric);
        return fabric;
    } catch (const Malformed& malformed) {
        return Error{Code::input, fmt::format("{}: {}", name, malformed.text)};
    }
}

Expected<Fabric> read_fabric(const std::filesystem::path& path) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    return parse_fabric(*text, path == "-" ? "standard input" : path.string());
}

} // namespace topo
