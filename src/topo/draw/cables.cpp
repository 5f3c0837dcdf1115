#include "topo/draw/cables.hpp"

#include "base/hostlist.hpp"
#include "base/json.hpp"
#include "base/table.hpp"
#include "topo/names.hpp"
#include "topo/rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace topo {
namespace {

struct Row {
    End here, there;
    const Link* link;
    const Module* module;
    std::string name;
};

std::vector<Row> rows_of(const Fabric& fabric) {
    std::vector<Row> rows;
    for (const Link& link : fabric.links)
        for (std::size_t i = 0; i < link.modules.size(); ++i) {
            if (link.modules[i] == Module{}) continue;
            const auto& [here, there] = i == 0 ? std::tie(link.a, link.b) : std::tie(link.b, link.a);
            rows.push_back({here, there, &link, &link.modules[i], end_name(fabric, here)});
        }
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        if ((a.here.host == none) != (b.here.host == none)) return b.here.host == none;
        return base::natural_less(a.name, b.name);
    });
    return rows;
}

std::string or_dash(const std::string& text) {
    return text.empty() ? "-" : text;
}

std::string amount(double value, std::string_view unit) {
    return value > 0 ? fmt::format("{} {}", value, unit) : "-";
}

// The weakest and the strongest lane.
std::string lanes(const std::vector<double>& dbm) {
    if (dbm.empty()) return "-";
    const auto [low, high] = std::minmax_element(dbm.begin(), dbm.end());
    return *low == *high ? fmt::format("{}", *low) : fmt::format("{} … {}", *low, *high);
}

boost::json::array json_lanes(const std::vector<double>& dbm) {
    return boost::json::array(dbm.begin(), dbm.end());
}

} // namespace

std::string show_cables(const Fabric& fabric) {
    const auto rows = rows_of(fabric);
    if (rows.empty())
        return "nothing is known of cables and transceivers; ibdiagnet2.db_csv (ibdiagnet --get_cable_info) "
               "and "
               "UFM's JSON with ?cable_info=true tell of them\n";
    base::Table table({"END", "LEADS TO", "LENGTH", "PART", "SERIAL", "FIRMWARE", "KIND", "WATTS", "CELSIUS",
                       "RX DBM", "TX DBM"});
    for (const Row& row : rows) {
        const Module& m = *row.module;
        table.add({row.name, end_name(fabric, row.there), amount(m.length_m, "m"), or_dash(m.part),
                   or_dash(m.serial), or_dash(m.firmware), or_dash(m.kind),
                   m.max_watts > 0 ? fmt::format("{}", m.max_watts) : "-",
                   m.celsius ? fmt::format("{}", *m.celsius) : "-", lanes(m.rx_dbm), lanes(m.tx_dbm)});
    }
    return table.print();
}

std::string show_cables_json(const Fabric& fabric) {
    boost::json::array cables;
    for (const Row& row : rows_of(fabric)) {
        const Module& m = *row.module;
        const auto number = [](double value) {
            return value > 0 ? boost::json::value(value) : boost::json::value(nullptr);
        };
        cables.push_back(boost::json::object{
            {"end", row.name},
            {"leads_to", end_name(fabric, row.there)},
            {"vendor", m.vendor},
            {"part", m.part},
            {"serial", m.serial},
            {"revision", m.revision},
            {"firmware", m.firmware},
            {"kind", m.kind},
            {"length_m", number(m.length_m)},
            {"max_watts", number(m.max_watts)},
            {"celsius", m.celsius ? boost::json::value(*m.celsius) : boost::json::value(nullptr)},
            {"rx_dbm", json_lanes(m.rx_dbm)},
            {"tx_dbm", json_lanes(m.tx_dbm)}});
    }
    return base::to_pretty(boost::json::object{{"cables", std::move(cables)}});
}

} // namespace topo
