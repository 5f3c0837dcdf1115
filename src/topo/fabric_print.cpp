#include "topo/fabric_json.hpp"

#include "base/json.hpp"
#include "topo/guid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace topo {
namespace {

std::string json_string(std::string_view text) {
    return boost::json::serialize(boost::json::string_view(text.data(), text.size()));
}

// The members that were unknown at reading, after the known ones.
void print_extra(std::string& out, const std::string& extra) {
    if (!extra.empty()) (out += ',') += extra;
}

void print_host(std::string& out, const Host& host) {
    auto put = std::back_inserter(out);
    fmt::format_to(put, "  {{\"name\":{}", json_string(host.name));
    if (!host.domain.empty()) fmt::format_to(put, ",\"domain\":{}", json_string(host.domain));
    out += ",\"hcas\":[";
    for (std::size_t i = 0; i < host.hcas.size(); ++i) {
        const Hca& hca = host.hcas[i];
        fmt::format_to(put, "{}\n    {{\"device\":{},\"guid\":\"{}\"", i == 0 ? "" : ",",
                       json_string(hca.device), format_guid(hca.guid));
        if (!hca.host_as.empty()) fmt::format_to(put, ",\"host\":{}", json_string(hca.host_as));
        if (hca.rail != none) fmt::format_to(put, ",\"rail\":{}", hca.rail);
        if (hca.role != Role::compute) fmt::format_to(put, ",\"role\":\"{}\"", to_string(hca.role));
        if (!hca.pci.empty()) fmt::format_to(put, ",\"pci\":{}", json_string(hca.pci));
        if (hca.numa != none) fmt::format_to(put, ",\"numa\":{}", hca.numa);
        if (hca.gpu != none) fmt::format_to(put, ",\"gpu\":{}", hca.gpu);
        fmt::format_to(put, ",\"ports\":[");
        for (std::size_t p = 0; p < hca.ports.size(); ++p) {
            const HcaPort& port = hca.ports[p];
            fmt::format_to(put, "{}{{\"port\":{}", p == 0 ? "" : ",", port.number);
            if (port.guid != 0) fmt::format_to(put, ",\"guid\":\"{}\"", format_guid(port.guid));
            if (port.lid != 0) fmt::format_to(put, ",\"lid\":{}", port.lid);
            print_extra(out, port.extra);
            out += '}';
        }
        out += ']';
        print_extra(out, hca.extra);
        out += '}';
    }
    out += ']';
    for (std::size_t i = 0; i < host.gpus.size(); ++i) {
        out += i == 0 ? ",\n   \"gpus\":[" : ",";
        fmt::format_to(put, "{{\"pci\":{}", json_string(host.gpus[i].pci));
        if (host.gpus[i].numa != none) fmt::format_to(put, ",\"numa\":{}", host.gpus[i].numa);
        print_extra(out, host.gpus[i].extra);
        out += '}';
    }
    if (!host.gpus.empty()) out += ']';
    print_extra(out, host.extra);
    out += '}';
}

void print_end(std::string& out, const Fabric& fabric, const End& end) {
    const Guid guid =
        end.switch_ != none
            ? fabric.switches[static_cast<std::size_t>(end.switch_)].guid
            : fabric.hosts[static_cast<std::size_t>(end.host)].hcas[static_cast<std::size_t>(end.hca)].guid;
    fmt::format_to(std::back_inserter(out), "[\"{}\",{}]", format_guid(guid), end.port);
}

void print_lanes(std::string& out, std::string_view key, const std::vector<double>& lanes) {
    if (lanes.empty()) return;
    fmt::format_to(std::back_inserter(out), ",\"{}\":[{}]", key, fmt::join(lanes, ","));
}

void print_module(std::string& out, const Module& module) {
    if (module == Module{}) {
        out += "null";
        return;
    }
    const auto start = out.size();
    auto put = std::back_inserter(out);
    const auto text = [&](std::string_view key, const std::string& value) {
        if (!value.empty()) fmt::format_to(put, ",\"{}\":{}", key, json_string(value));
    };
    text("vendor", module.vendor);
    text("part", module.part);
    text("serial", module.serial);
    text("revision", module.revision);
    text("firmware", module.firmware);
    text("kind", module.kind);
    if (module.length_m > 0) fmt::format_to(put, ",\"length_m\":{}", module.length_m);
    if (module.max_watts > 0) fmt::format_to(put, ",\"max_watts\":{}", module.max_watts);
    if (module.celsius) fmt::format_to(put, ",\"celsius\":{}", *module.celsius);
    print_lanes(out, "rx_dbm", module.rx_dbm);
    print_lanes(out, "tx_dbm", module.tx_dbm);
    print_extra(out, module.extra);
    out[start] = '{';
    out += '}';
}

} // namespace

std::string_view to_string(LinkState state) {
    return state_words[static_cast<std::size_t>(state)];
}

std::string_view to_string(Role role) {
    return role_words[static_cast<std::size_t>(role)];
}

std::string print_fabric(const Fabric& fabric) {
    std::string out;
    out.reserve(512 + fabric.links.size() * 120 + fabric.hosts.size() * 1200);
    auto put = std::back_inserter(out);
    fmt::format_to(put, "{{\"railyard_fabric\":{},\n\"source\":{},\n\"switches\":[", fabric_json_version,
                   json_string(fabric.source));
    for (std::size_t i = 0; i < fabric.switches.size(); ++i) {
        const Switch& s = fabric.switches[i];
        fmt::format_to(put, "{}\n  {{\"guid\":\"{}\",\"name\":{},\"ports\":{}", i == 0 ? "" : ",",
                       format_guid(s.guid), json_string(s.name), s.ports);
        print_extra(out, s.extra);
        out += '}';
    }
    out += "],\n\"hosts\":[";
    for (std::size_t i = 0; i < fabric.hosts.size(); ++i) {
        out += i == 0 ? "\n" : ",\n";
        print_host(out, fabric.hosts[i]);
    }
    out += "],\n\"links\":[";
    for (std::size_t i = 0; i < fabric.links.size(); ++i) {
        const Link& link = fabric.links[i];
        out += i == 0 ? "\n  {\"ends\":[" : ",\n  {\"ends\":[";
        print_end(out, fabric, link.a);
        out += ',';
        print_end(out, fabric, link.b);
        fmt::format_to(put, "],\"width\":{},\"mbps\":{},\"state\":\"{}\"", link.width, link.mbps,
                       to_string(link.state));
        if (!link.modules.empty()) {
            out += ",\"modules\":[";
            print_module(out, link.modules[0]);
            out += ',';
            print_module(out, link.modules[1]);
            out += ']';
        }
        print_extra(out, link.extra);
        out += '}';
    }
    out += ']';
    if (!fabric.extra.empty()) (out += ",\n") += fabric.extra;
    out += "}\n";
    return out;
}

} // namespace topo
