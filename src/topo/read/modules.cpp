#include "topo/read/modules.hpp"

#include "topo/names.hpp"
#include "topo/read/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>

namespace topo {
namespace {

// Only letters and digits, in lower case.
std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c >= 'A' && c <= 'Z')
            out += static_cast<char>(c - 'A' + 'a');
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            out += c;
    return out;
}

bool is_none(std::string_view value) {
    const auto word = plain(value);
    return word.empty() || word == "na" || word == "none" || word == "null";
}

struct Quantity {
    double value = 0;
    std::string unit; // normalized
};

std::optional<Quantity> quantity(std::string_view text) {
    Quantity found;
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), found.value);
    if (failed != std::errc{} || !std::isfinite(found.value)) return {};
    found.unit = plain(text.substr(static_cast<std::size_t>(end - text.data())));
    return found;
}

double rounded(double value) {
    return std::round(value * 100) / 100;
}

void tell_text(std::string& field, std::string_view value) {
    constexpr std::size_t longest = 80;
    field = trimmed_printable(value.substr(0, longest));
}

void tell_length(Module& module, std::string_view value) {
    const auto found = quantity(value);
    constexpr double longest = 1e5;
    if (!found || found->value <= 0 || module.length_m > 0) return;
    const double metres = found->unit.starts_with("km")   ? found->value * 1000
                          : found->unit.starts_with("cm") ? found->value / 100
                                                          : found->value;
    if (metres <= longest) module.length_m = rounded(metres);
}

void tell_power(std::vector<double>& lanes, std::size_t lane, std::string_view value) {
    const auto found = quantity(value);
    if (!found) return;
    constexpr double dark = -40; // dBm: the lowest value that modules report, 0.1 microwatt
    double dbm = found->value;
    if (!found->unit.starts_with("dbm")) {
        const double milliwatts = found->unit.starts_with("mw") ? found->value : found->value / 1e4;
        dbm = milliwatts <= 1e-4 ? dark : 10 * std::log10(milliwatts);
    }
    if (std::abs(dbm) > 100) return;
    if (lanes.size() <= lane) lanes.resize(lane + 1, dark);
    lanes[lane] = rounded(dbm);
}

// "rx1power", "rxpower1", "rxpowerlane1": the lane, counted from 0.
std::optional<std::size_t> lane_of(std::string_view word, std::string_view direction) {
    if (!word.starts_with(direction) || word.find("power") == std::string_view::npos) return {};
    word.remove_prefix(direction.size());
    std::string rest(word);
    for (const std::string_view part : {"power", "lane"})
        if (const auto at = rest.find(part); at != std::string::npos) rest.erase(at, part.size());
    if (rest.size() != 1 || rest[0] < '1' || rest[0] > '8') return {};
    return static_cast<std::size_t>(rest[0] - '1');
}

} // namespace

void tell_module(Module& module, std::string_view what, std::string_view value) {
    value = trimmed(value);
    if (is_none(value)) return;
    const auto word = plain(what);
    const auto is = [&](std::initializer_list<std::string_view> names) {
        return std::find(names.begin(), names.end(), word) != names.end();
    };
    if (is({"vendor", "vendorname"})) return tell_text(module.vendor, value);
    if (is({"pn", "partnumber"})) return tell_text(module.part, value);
    if (is({"sn", "serialnumber"})) return tell_text(module.serial, value);
    if (is({"rev", "revision"})) return tell_text(module.revision, value);
    if (is({"fwversion", "firmware", "firmwareversion"})) return tell_text(module.firmware, value);
    if (is({"typedesc", "technology", "cabletype"})) return tell_text(module.kind, value);
    if (is({"length", "lengthdesc", "lengthcopperoractive", "lengthom5", "lengthom4", "lengthom3"}))
        return tell_length(module, value);
    if (is({"temperature"})) {
        const auto found = quantity(value);
        if (found && std::abs(found->value) < 300) module.celsius = rounded(found->value);
        return;
    }
    if (is({"maxpower"})) {
        const auto found = quantity(value);
        if (found && found->value > 0 && found->value < 1000) module.max_watts = rounded(found->value);
        return;
    }
    if (const auto lane = lane_of(word, "rx")) return tell_power(module.rx_dbm, *lane, value);
    if (const auto lane = lane_of(word, "tx")) return tell_power(module.tx_dbm, *lane, value);
}

bool says_anything(const Module& module) {
    return module != Module{};
}

void attach_modules(Fabric& fabric, const RawFabric& raw) {
    if (raw.modules.empty()) return;
    std::map<std::pair<Guid, std::uint8_t>, const Module*> known;
    for (const RawModule& one : raw.modules)
        known.emplace(std::pair(raw.nodes[one.node].guid, one.port), &one.module);
    const auto at_end = [&](const End& end) -> const Module* {
        const Guid guid = end.switch_ != none ? fabric.switches[at(end.switch_)].guid
                                              : fabric.hosts[at(end.host)].hcas[at(end.hca)].guid;
        const auto found = known.find({guid, end.port});
        return found == known.end() ? nullptr : found->second;
    };
    for (Link& link : fabric.links) {
        const Module *a = at_end(link.a), *b = at_end(link.b);
        if (a == nullptr && b == nullptr) continue;
        link.modules = {a == nullptr ? Module{} : *a, b == nullptr ? Module{} : *b};
    }
}

} // namespace topo
