#include "topo/read/plan_file.hpp"

#include "base/json.hpp"
#include "topo/derive.hpp"
#include "topo/fabric_json.hpp"
#include "topo/guid.hpp"
#include "topo/names.hpp"
#include "topo/read/assemble.hpp"
#include "topo/read/clean.hpp"
#include "topo/read/raw_fabric.hpp"
#include "topo/read/text.hpp"
#include "topo/read/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::string_view mark = "plan, blessed from ";

// An end as the plan names it.
struct Named {
    std::string device, port;
};

struct Row {
    std::array<Named, 2> ends;
    std::uint32_t line = 0;
};

// Throws with the line number.
[[noreturn]] void refuse(std::uint32_t line, std::string_view what) {
    throw std::pair<std::uint32_t, std::string>(line, what);
}

// The values of a CSV line; quotes around a value are removed.
std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    while (true) {
        line = trimmed(line);
        std::string cell;
        if (line.starts_with('"')) {
            const auto end = std::min(line.find('"', 1), line.size());
            cell = line.substr(1, end - 1);
            line.remove_prefix(std::min(end + 1, line.size()));
        }
        const auto comma = line.find_first_of(",;\t");
        cell += trimmed(line.substr(0, comma));
        cells.push_back(trimmed_printable(cell));
        if (comma == std::string_view::npos) return cells;
        line.remove_prefix(comma + 1);
    }
}

// Only letters, in lower case: "#Fields:StartDevice" → "fieldsstartdevice".
std::string letters(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c >= 'A' && c <= 'Z')
            out += static_cast<char>(c - 'A' + 'a');
        else if (c >= 'a' && c <= 'z')
            out += c;
    return out;
}

// The positions of device, port, device, port in a heading; nothing for a line that is not a heading.
std::optional<std::array<std::size_t, 4>> read_heading(const std::vector<std::string>& cells) {
    std::vector<std::size_t> devices, ports;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto word = letters(cells[i]);
        for (const auto* name : {"device", "startdevice", "enddevice", "fieldsstartdevice", "devicea",
                                 "deviceb", "adevice", "bdevice", "enda", "endb", "endadevice", "endbdevice"})
            if (word == name) devices.push_back(i);
        for (const auto* name :
             {"port", "startport", "endport", "porta", "portb", "aport", "bport", "endaport", "endbport"})
            if (word == name) ports.push_back(i);
    }
    if (devices.size() != 2 || ports.size() != 2) return {};
    return std::array{devices[0], ports[0], devices[1], ports[1]};
}

std::vector<Row> read_csv(std::string_view text) {
    std::vector<Row> rows;
    std::array<std::size_t, 4> place{0, 1, 2, 3};
    Lines lines(text);
    std::string_view line;
    while (lines.next(line)) {
        const auto plain = trimmed(line);
        if (plain.empty()) continue;
        const auto cells = cells_of(plain);
        if (rows.empty())
            if (const auto heading = read_heading(cells)) {
                place = *heading;
                continue;
            }
        if (plain.starts_with('#')) continue;
        const auto most = *std::max_element(place.begin(), place.end());
        if (cells.size() <= most) refuse(lines.number(), "a cable is wanted: device, port, device, port");
        rows.push_back({{Named{cells[place[0]], cells[place[1]]}, Named{cells[place[2]], cells[place[3]]}},
                        lines.number()});
    }
    return rows;
}

std::vector<Row> read_yaml(const Yaml& top) {
    const Yaml* list = top.kind == Yaml::Kind::map ? top.find("cables") : &top;
    if (list == nullptr || list->kind != Yaml::Kind::list)
        refuse(top.line, "a list of cables is wanted, or cables:");
    std::vector<Row> rows;
    for (const Yaml& item : list->items) {
        std::array<std::string, 4> texts;
        constexpr std::array<std::string_view, 4> keys{"device_a", "port_a", "device_b", "port_b"};
        for (std::size_t i = 0; i < 4; ++i) {
            const Yaml* value = item.kind == Yaml::Kind::map                              ? item.find(keys[i])
                                : item.kind == Yaml::Kind::list && item.items.size() == 4 ? &item.items[i]
                                                                                          : nullptr;
            if (value == nullptr || value->kind != Yaml::Kind::scalar)
                refuse(item.line,
                       "a cable is wanted: [device, port, device, port], or device_a, port_a, device_b, "
                       "port_b");
            texts[i] = trimmed_printable(value->text);
        }
        rows.push_back({{Named{texts[0], texts[1]}, Named{texts[2], texts[3]}}, item.line});
    }
    return rows;
}

// "5", "Port 5", "1/3/1": the number; 0 for anything else.
std::uint8_t port_number(std::string_view text) {
    for (const auto* word : {"Port ", "port "})
        if (text.starts_with(word)) text.remove_prefix(5);
    try {
        Cursor cursor(text);
        const auto first = cursor.port();
        if (cursor.at_end()) return first;
        cursor.need("/");
        const auto cage = cursor.port();
        cursor.need("/");
        const auto of_cage = cursor.port();
        if (cursor.at_end() && first == 1 && cage >= 1 && cage <= 127 && (of_cage == 1 || of_cage == 2))
            return static_cast<std::uint8_t>((cage - 1) * 2 + of_cage);
    } catch (const Unreadable&) {
        return 0;
    }
    return 0;
}

// For an HCA: its device and port; the device is empty if the text is only a number.
struct HcaEnd {
    std::string device;
    std::uint8_t port = 1;
};

HcaEnd hca_end(const std::string& text) {
    if (const auto number = port_number(text)) return {{}, number};
    const auto cut = text.find_first_of("/:");
    HcaEnd end{text.substr(0, cut), 1};
    if (cut != std::string::npos) end.port = port_number(text.substr(cut + 1));
    return end;
}

class Builder {
public:
    explicit Builder(const Fabric& seen) : seen_(seen) {
        for (std::size_t s = 0; s < seen.switches.size(); ++s) {
            by_name_[seen.switches[s].name].push_back(static_cast<int>(s));
            by_guid_.emplace(seen.switches[s].guid, End{none, none, static_cast<int>(s), 0});
        }
        for (std::size_t h = 0; h < seen.hosts.size(); ++h)
            for (std::size_t i = 0; i < seen.hosts[h].hcas.size(); ++i) {
                const Hca& hca = seen.hosts[h].hcas[i];
                by_guid_.emplace(hca.guid, End{static_cast<int>(h), static_cast<int>(i), none, 0});
                for (const HcaPort& port : hca.ports)
                    if (port.guid != 0)
                        by_guid_.emplace(port.guid,
                                         End{static_cast<int>(h), static_cast<int>(i), none, port.number});
            }
    }

    CablingPlan build(const std::vector<Row>& rows) && {
        count_ports(rows);
        for (const Row& row : rows) {
            Link link;
            link.a = end(row.ends[0], row.line);
            link.b = end(row.ends[1], row.line);
            if (link.a == link.b) refuse(row.line, "a cable from a port to itself");
            uplinks_ = uplinks_ || (link.a.host == none && link.b.host == none);
            plan_.fabric.links.push_back(link);
        }
        if (!uplinks_) add_uplinks();
        derive(plan_.fabric);
        return std::move(plan_);
    }

private:
    // Devices that are not seen are switches if the plan has more ports of them than this, or connects them
    // with a host.
    static constexpr std::size_t most_hca_ports = 4;

    void count_ports(const std::vector<Row>& rows) {
        for (const Row& row : rows)
            for (std::size_t i = 0; i < 2; ++i) {
                const Named& named = row.ends[i];
                if (port_number(named.port) == 0) continue;
                ports_[named.device].insert(port_number(named.port));
                if (is_host(row.ends[1 - i])) beside_hosts_.insert(named.device);
            }
    }

    bool is_host(const Named& named) const {
        return !hca_end(named.port).device.empty() || !parse_hca_description(named.device).device.empty() ||
               seen_.find_host(named.device);
    }

    End end(const Named& named, std::uint32_t line) {
        if (named.device.empty() || named.port.empty())
            refuse(line, "a device and a port are wanted at both ends");
        End found = find(named, line);
        const auto [where, fresh] =
            taken_.emplace(std::tuple(found.host, found.hca, found.switch_, found.port), line);
        if (!fresh)
            refuse(line, fmt::format("{} {} is planned twice, in line {} too", named.device, named.port,
                                     where->second));
        return found;
    }

    End find(const Named& named, std::uint32_t line) {
        if (const auto guid = named.device.size() >= 16 ? parse_guid(named.device) : std::nullopt)
            if (const auto found = by_guid_.find(*guid); found != by_guid_.end()) {
                if (found->second.switch_ != none) return switch_end(found->second.switch_, named, line);
                const auto port = port_number(named.port);
                return hca(found->second.host, found->second.hca, port != 0 ? port : found->second.port);
            }
        const auto name = short_switch_name(named.device);
        if (const auto found = by_name_.find(name); found != by_name_.end()) {
            if (found->second.size() > 1)
                refuse(line,
                       fmt::format("{} switches are called {}: give its GUID", found->second.size(), name));
            return switch_end(found->second.front(), named, line);
        }
        return host_end(named, line);
    }

    std::uint8_t need_port(const Named& named, std::uint32_t line) const {
        const auto port = port_number(named.port);
        if (port == 0)
            refuse(line, fmt::format("'{}': a port of {} is wanted, a number", named.port, named.device));
        return port;
    }

    End switch_end(int seen, const Named& named, std::uint32_t line) {
        const auto [known, fresh] =
            switches_.try_emplace(seen, static_cast<int>(plan_.fabric.switches.size()));
        if (fresh) plan_.fabric.switches.push_back(seen_.switches[at(seen)]);
        return with_port(known->second, need_port(named, line));
    }

    End with_port(int s, std::uint8_t port) {
        auto& ports = plan_.fabric.switches[at(s)].ports;
        ports = std::max<int>(ports, port);
        return {none, none, s, port};
    }

    // "n001" and "mlx5_0/1", "n001 mlx5_0" and "1", "n001" and "1"; or a switch that is not seen.
    End host_end(const Named& named, std::uint32_t line) {
        auto name = named.device;
        auto wanted = hca_end(named.port);
        if (wanted.port == 0) refuse(line, fmt::format("'{}': a port is wanted", named.port));
        if (wanted.device.empty()) {
            const auto parsed = parse_hca_description(named.device);
            if (!parsed.device.empty()) {
                name = parsed.host;
                wanted.device = parsed.device;
            }
        }
        const auto seen = seen_.find_host(name);
        if (!seen && wanted.device.empty() &&
            (ports_[named.device].size() > most_hca_ports || beside_hosts_.contains(named.device))) {
            const auto [known, fresh] =
                unseen_.try_emplace(name, static_cast<int>(plan_.fabric.switches.size()));
            if (fresh) {
                Switch& s = plan_.fabric.switches.emplace_back();
                s.name = name;
                s.guid = made_guid(Made::node, name);
            }
            return with_port(known->second, wanted.port);
        }
        if (seen) {
            const auto& hcas = seen_.hosts[*seen].hcas;
            for (std::size_t i = 0; i < hcas.size(); ++i)
                if (hcas[i].device == wanted.device || (wanted.device.empty() && hcas.size() == 1))
                    return hca(static_cast<int>(*seen), static_cast<int>(i), wanted.port);
            if (wanted.device.empty())
                refuse(line, fmt::format("{} has {}: say which, such as {}/1", name,
                                         counted(hcas.size(), "HCA", "HCAs"),
                                         hcas.empty() ? "mlx5_0" : hcas.front().device));
        }
        const int host = seen ? host_of(static_cast<int>(*seen)) : unseen_host(name);
        auto& hcas = plan_.fabric.hosts[at(host)].hcas;
        for (std::size_t i = 0; i < hcas.size(); ++i)
            if (hcas[i].device == wanted.device) return port_of(host, static_cast<int>(i), wanted.port);
        Hca& made = hcas.emplace_back(); // planned but not seen
        made.device = wanted.device;
        made.guid = made_guid(Made::node, fmt::format("{} {}", name, wanted.device));
        return port_of(host, static_cast<int>(hcas.size() - 1), wanted.port);
    }

    End hca(int seen, int index, std::uint8_t port) {
        return port_of(host_of(seen), index, port == 0 ? 1 : port);
    }

    End port_of(int host, int index, std::uint8_t port) {
        auto& ports = plan_.fabric.hosts[at(host)].hcas[at(index)].ports;
        if (std::none_of(ports.begin(), ports.end(), [&](const HcaPort& p) { return p.number == port; }))
            ports.emplace_back().number = port;
        return {host, index, none, port};
    }

    int host_of(int seen) {
        const auto [known, fresh] = hosts_.try_emplace(seen, static_cast<int>(plan_.fabric.hosts.size()));
        if (fresh) plan_.fabric.hosts.push_back(seen_.hosts[at(seen)]);
        return known->second;
    }

    int unseen_host(const std::string& name) {
        const auto [known, fresh] =
            unseen_hosts_.try_emplace(name, static_cast<int>(plan_.fabric.hosts.size()));
        if (fresh) plan_.fabric.hosts.emplace_back().name = name;
        return known->second;
    }

    // For a plan that only contains host cables: the links between switches are taken as seen.
    void add_uplinks() {
        plan_.notes.push_back("the plan has no cable between switches: those are not held to it");
        const auto whole = [&](const End& seen) {
            const auto [known, fresh] =
                switches_.try_emplace(seen.switch_, static_cast<int>(plan_.fabric.switches.size()));
            if (fresh) plan_.fabric.switches.push_back(seen_.switches[at(seen.switch_)]);
            return with_port(known->second, seen.port);
        };
        for (const Link& link : seen_.links) {
            if (link.a.host != none || link.b.host != none) continue;
            Link same = link;
            same.a = whole(link.a);
            same.b = whole(link.b);
            if (taken_.contains({none, none, same.a.switch_, same.a.port}) ||
                taken_.contains({none, none, same.b.switch_, same.b.port}))
                continue; // that port is planned for a host
            plan_.fabric.links.push_back(std::move(same));
        }
    }

    const Fabric& seen_;
    CablingPlan plan_;
    bool uplinks_ = false;
    std::unordered_map<std::string, std::vector<int>> by_name_;
    std::unordered_map<Guid, End> by_guid_;
    std::unordered_map<std::string, std::set<std::uint8_t>> ports_; // planned, by device
    std::set<std::string> beside_hosts_;                            // devices connected to hosts
    std::map<std::tuple<int, int, int, std::uint8_t>, std::uint32_t>
        taken_;                                     // ends in the plan, with their lines
    std::unordered_map<int, int> switches_, hosts_; // index in the plan, by that of what is seen
    std::unordered_map<std::string, int> unseen_, unseen_hosts_;
};

} // namespace

Expected<CablingPlan> read_plan(std::string_view text, std::string_view name, const Fabric& seen) {
    const auto clean = clean_text(text);
    if (base::is_object(clean)) {
        auto fabric = parse_fabric(clean, name);
        if (!fabric) return std::move(fabric).error();
        if (!is_blessed(*fabric))
            return Error{Code::input,
                         fmt::format("{}: is a fabric as it was seen, not a plan: if it is as it should "
                                     "be, railtopo bless makes a plan of it",
                                     name)};
        return CablingPlan{*std::move(fabric), {}};
    }
    try {
        const auto first = trimmed(clean).substr(0, 7);
        std::vector<Row> rows;
        if (first.starts_with('-') || first.starts_with("cables:")) {
            const auto yaml = parse_yaml(clean, name);
            if (!yaml) return yaml.error();
            rows = read_yaml(*yaml);
        } else {
            rows = read_csv(clean);
        }
        if (rows.empty())
            return Error{Code::input,
                         fmt::format("{}: holds no cable: lines of device, port, device, port are wanted, "
                                     "or a file of railtopo bless",
                                     name)};
        return Builder(seen).build(rows);
    } catch (const std::pair<std::uint32_t, std::string>& at_line) {
        return Error{Code::input, fmt::format("{}:{}: {}", name, at_line.first, at_line.second)};
    }
}

Fabric blessed(Fabric fabric) {
    if (!is_blessed(fabric)) fabric.source = fmt::format("{}{}", mark, fabric.source);
    return fabric;
}

bool is_blessed(const Fabric& fabric) {
    return fabric.source.starts_with(mark);
}

std::string plan_csv(const Fabric& fabric) {
    std::unordered_map<std::string, int> named;
    for (const Switch& s : fabric.switches)
        ++named[s.name];
    const auto end = [&](const End& one) {
        if (one.switch_ != none) {
            const Switch& s = fabric.switches[at(one.switch_)];
            const bool by_name = named[s.name] == 1 && s.name.find_first_of(",;\t\"#") == std::string::npos;
            return fmt::format("{},{}", by_name ? s.name : format_guid(s.guid), one.port);
        }
        const Host& host = fabric.hosts[at(one.host)];
        const Hca& hca = host.hcas[at(one.hca)];
        const bool by_name = !hca.device.empty() &&
                             hca.device.find_first_of(",;\t\"/: ") == std::string::npos &&
                             std::count_if(host.hcas.begin(), host.hcas.end(),
                                           [&](const Hca& other) { return other.device == hca.device; }) == 1;
        return by_name ? fmt::format("{},{}/{}", host.name, hca.device, one.port)
                       : fmt::format("{},{}", format_guid(hca.guid), one.port);
    };
    std::string out = "device_a,port_a,device_b,port_b\n";
    for (const Link& link : fabric.links)
        out += fmt::format("{},{}\n", end(link.a), end(link.b));
    return out;
}

} // namespace topo
