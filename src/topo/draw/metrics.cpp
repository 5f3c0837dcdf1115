#include "topo/draw/metrics.hpp"

#include "topo/nameless.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace topo::draw {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool continues(char byte) { // a byte inside a UTF-8 character
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

// The length of the common prefix of all names, not splitting a number or a character.
std::size_t common_prefix(const Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    if (hosts.size() < 2) return 0;
    const std::string& first = fabric.hosts[hosts.front()].name;
    std::size_t length = first.size();
    for (const auto h : hosts) {
        const std::string& name = fabric.hosts[h].name;
        const auto differ = std::mismatch(first.begin(), first.end(), name.begin(), name.end()).first;
        length = std::min(length, static_cast<std::size_t>(differ - first.begin()));
    }
    while (length > 0 && ((length < first.size() && continues(first[length])) || is_digit(first[length - 1])))
        --length;
    return length;
}

// A name split into numbers and the text between them.
std::vector<std::string_view> parts_of(std::string_view name) {
    std::vector<std::string_view> parts;
    while (!name.empty()) {
        const bool number = is_digit(name.front());
        const auto end =
            std::find_if(name.begin(), name.end(), [&](char c) { return is_digit(c) != number; });
        parts.push_back(name.substr(0, static_cast<std::size_t>(end - name.begin())));
        name.remove_prefix(parts.back().size());
    }
    return parts;
}

// The numbers in which the names differ, joined by '-'; nothing if they have other differences.
std::vector<std::string> differing_parts(const std::vector<std::string_view>& whole) {
    std::vector<std::vector<std::string_view>> names;
    for (const auto name : whole)
        names.push_back(parts_of(name));
    if (names.size() < 2) return {};
    const auto& first = names.front();
    std::vector<bool> differs(first.size(), false);
    for (const auto& name : names) {
        if (name.size() != first.size()) return {};
        for (std::size_t i = 0; i < name.size(); ++i) {
            if (name[i] == first[i]) continue;
            if (!is_digit(name[i].front()) || !is_digit(first[i].front())) return {};
            differs[i] = true;
        }
    }
    std::vector<std::string> labels;
    for (const auto& name : names) {
        std::string label;
        for (std::size_t i = 0; i < name.size(); ++i)
            if (differs[i]) label += (label.empty() ? "" : "-") + std::string(name[i]);
        labels.push_back(std::move(label));
    }
    return labels;
}

// The parts that distinguish hosts, not yet clipped.
std::vector<std::string> kin_names(const Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    std::vector<std::string_view> names;
    for (const auto h : hosts)
        names.emplace_back(fabric.hosts[h].name);
    auto labels = differing_parts(names);
    if (!labels.empty() && !labels.front().empty()) return labels;
    labels.clear();
    const auto prefix = common_prefix(fabric, hosts);
    for (const auto h : hosts)
        labels.push_back(fabric.hosts[h].name.substr(prefix));
    return labels;
}

// The same for the hosts of a panel; those named after their GUIDs have nothing in common with others.
std::vector<std::string> short_names(const Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    std::vector<std::uint32_t> named, others;
    for (const auto h : hosts)
        (nameless(fabric.hosts[h]) ? others : named).push_back(h);
    auto labels = kin_names(fabric, named);
    auto guids = kin_names(fabric, others);
    std::vector<std::string> merged;
    auto label = labels.begin(), guid = guids.begin();
    for (const auto h : hosts)
        merged.push_back(std::move(nameless(fabric.hosts[h]) ? *guid++ : *label++));
    return merged;
}

std::size_t distinct(std::vector<std::string> labels) {
    std::sort(labels.begin(), labels.end());
    return static_cast<std::size_t>(std::unique(labels.begin(), labels.end()) - labels.begin());
}

// "…" in place of the middle: for names in which both ends are significant.
std::string clipped_middle(std::string_view text, int size, int width) {
    if (text_width(text, size) <= width || std::any_of(text.begin(), text.end(), continues))
        return clipped_left(text, size, width);
    std::size_t kept = text.size() - 1;
    while (kept > 2 && text_width(text.substr(0, kept), size) + text_width("…", size) > width)
        --kept;
    const auto tail = kept / 2;
    return fmt::format("{}…{}", text.substr(0, kept - tail), text.substr(text.size() - tail));
}

// Only its end, if an ellipsis would replace the significant part.
std::string tail(std::string_view text, int size, int width) {
    if (std::any_of(text.begin(), text.end(), continues)) return clipped_left(text, size, width);
    while (!text.empty() && text_width(text, size) > width)
        text.remove_prefix(1);
    return std::string(text);
}

// The space in a cell that is kept free next to its label, for the mark.
int beside_label(const Metrics& m) {
    return m.density == Density::roomy ? 26 : 16;
}

// Digits, which are the main part of labels, are wider than other letters.
int digits_width(int width) {
    return (width * 16 + 14) / 15;
}

constexpr int widest_cell = 150; // for a label that would lose its significant part

// The width of a cell that has room for the label.
int labelled_cell(const std::string& label, const Metrics& m) {
    return std::min(digits_width(text_width(label, m.label_text)) + beside_label(m), widest_cell);
}

Metrics roomy() {
    Metrics m;
    m.density = Density::roomy;
    m.cell.h = 48;
    m.strip = 14;
    m.inset = 6;
    m.pitch = 10;
    m.tick = 7;
    m.storage_gap = 5;
    m.gap = 6;
    m.pad = 10;
    m.unit_gap = 14;
    m.pod_gap = 18;
    m.title = 24;
    m.title_text = 13;
    m.domain_title = 20;
    m.domain_text = 11;
    m.label_text = 12;
    m.switch_h = 18;
    m.switch_gap = 4;
    m.switch_text = 10;
    m.mark = 7;
    m.leaf_least = 22;
    m.spine_w = 46;
    m.band = 44;
    m.least_unit = 150;
    return m;
}

Metrics compact() {
    Metrics m;
    m.density = Density::compact;
    m.cell.h = 29;
    m.strip = 9;
    m.inset = 3;
    m.pitch = 4;
    m.tick = 3;
    m.storage_gap = 3;
    m.gap = 2;
    m.pad = 6;
    m.unit_gap = 8;
    m.pod_gap = 14;
    m.title = 18;
    m.title_text = 11;
    m.domain_title = 14;
    m.domain_text = 9;
    m.label_text = 9;
    m.switch_h = 13;
    m.switch_gap = 2;
    m.switch_text = 7;
    m.mark = 5;
    m.leaf_least = 12;
    m.spine_w = 24;
    m.band = 40;
    m.least_unit = 150;
    return m;
}

Metrics dense() {
    Metrics m;
    m.density = Density::dense;
    m.cell.h = 14;
    m.strip = 5;
    m.inset = 2;
    m.pitch = 2;
    m.tick = 1;
    m.storage_gap = 2;
    m.gap = 1;
    m.pad = 4;
    m.unit_gap = 5;
    m.pod_gap = 10;
    m.title = 14;
    m.title_text = 9;
    m.domain_title = 10;
    m.domain_text = 7;
    m.switch_h = 7;
    m.switch_gap = 1;
    m.mark = 3;
    m.leaf_least = 5;
    m.spine_w = 12;
    m.least_unit = 64;
    return m;
}

} // namespace

Slots count_slots(const Fabric& fabric) {
    Slots slots;
    for (const Host& host : fabric.hosts) {
        int storage = 0;
        for (const Hca& hca : host.hcas) {
            const int ports = static_cast<int>(hca.ports.size());
            if (hca.role == Role::compute && hca.rail != none)
                slots.ports = std::max(slots.ports, ports);
            else
                storage += ports;
        }
        slots.storage = std::max(slots.storage, storage);
    }
    return slots;
}

Metrics metrics(const Fabric& fabric, const Slots& slots) {
    const int ticks = fabric.rails * slots.ports + slots.storage;
    const auto hosts = fabric.hosts.size();
    Metrics m = hosts <= 64 ? roomy() : hosts <= 2048 ? compact() : dense();
    if (ticks > 16 && m.density != Density::dense) {
        m.pitch = m.density == Density::roomy ? 6 : 3;
        m.tick = m.density == Density::roomy ? 4 : 2;
    }
    m.cell.w = 2 * m.inset + std::max(ticks * m.pitch - (m.pitch - m.tick), 0) +
               (slots.storage > 0 ? m.storage_gap : 0);
    int widest = 0;
    for (const Host& host : fabric.hosts)
        widest = std::max(widest, text_width(host.name, m.label_text));
    const int least = m.density == Density::roomy ? 64 : m.density == Density::compact ? 26 : 10;
    const int most = m.density == Density::roomy ? 120 : 36; // for the sake of a label
    m.cell.w = std::max(m.cell.w, std::clamp(m.label_text == 0 ? 0 : widest + 24, least, most));
    if (m.label_text == 0) return m;
    constexpr int widest_box = 72;                                  // of a switch, for its label and a mark
    std::map<std::pair<int, int>, std::vector<std::size_t>> beside; // by tier and pod
    for (std::size_t s = 0; s < fabric.switches.size(); ++s)
        if (fabric.switches[s].tier > 0)
            beside[{fabric.switches[s].tier, fabric.switches[s].pod}].push_back(s);
    for (const auto& [where, switches] : beside)
        for (const auto& label : switch_labels(fabric, switches))
            m.spine_w = std::max(
                m.spine_w, std::min((text_width(label, m.switch_text) + 2 * m.mark + 4) * 4 / 3, widest_box));
    for (const Unit& unit : fabric.units)
        for (const auto& label : short_names(fabric, unit.hosts))
            m.cell.w = std::max(m.cell.w, labelled_cell(label, m));
    return m;
}

int panel_cell(const Fabric& fabric, const std::vector<std::uint32_t>& hosts, const Metrics& metrics) {
    int width = metrics.cell.w;
    if (metrics.label_text == 0) return width;
    const auto labels = short_names(fabric, hosts);
    for (std::size_t i = 0; i < hosts.size(); ++i)
        if (!nameless(fabric.hosts[hosts[i]])) width = std::max(width, labelled_cell(labels[i], metrics));
    return width;
}

std::vector<std::string> host_labels(const Fabric& fabric, const std::vector<std::uint32_t>& hosts,
                                     const Metrics& metrics) {
    const int room = (metrics.cell.w - beside_label(metrics)) * 15 / 16;
    const bool whole = std::all_of(hosts.begin(), hosts.end(), [&](std::uint32_t h) {
        return text_width(fabric.hosts[h].name, metrics.label_text) <= room;
    });
    std::vector<std::string> labels;
    if (whole && metrics.density == Density::roomy)
        for (const auto h : hosts)
            labels.push_back(fabric.hosts[h].name);
    else
        labels = short_names(fabric, hosts);
    const auto clip = [&](auto how) {
        std::vector<std::string> clipped;
        for (const auto& label : labels)
            clipped.push_back(how(label, metrics.label_text, room));
        return clipped;
    };
    auto ends = clip(clipped_left);
    if (distinct(ends) == distinct(labels)) return ends;
    auto best = std::move(ends);
    for (const auto how : {clipped_middle, tail})
        if (auto other = clip(how); distinct(other) > distinct(best)) best = std::move(other);
    return best;
}

std::vector<std::string> switch_labels(const Fabric& fabric, const std::vector<std::size_t>& switches) {
    std::vector<std::string_view> names;
    std::vector<std::string> numbers;
    for (const auto s : switches) {
        const std::string_view name = names.emplace_back(fabric.switches[s].name);
        const auto digits = name.find_last_not_of("0123456789");
        numbers.emplace_back(digits == std::string_view::npos ? name : name.substr(digits + 1));
        if (numbers.back().empty()) numbers.back() = name.substr(name.find_last_of("-_. ") + 1);
    }
    if (distinct(numbers) == numbers.size()) return numbers;
    auto parts = differing_parts(names);
    return !parts.empty() && distinct(parts) > distinct(numbers) ? parts : numbers;
}

std::vector<std::string> title_lines(const Fabric& fabric, const std::string& name,
                                     const std::vector<std::uint32_t>& hosts, int inner,
                                     const Metrics& metrics) {
    const int used = text_width(name, metrics.title_text) + metrics.title_text;
    return wrapped_list(known_host_names(fabric, hosts), metrics.title_text - 1, inner - used, inner, 3);
}

int text_width(std::string_view text, int size) {
    constexpr std::string_view ellipsis = "…"; // as wide as its size
    const auto letters =
        text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues));
    int tenths = static_cast<int>(letters) * 6;
    for (auto at = text.find(ellipsis); at != text.npos; at = text.find(ellipsis, at + ellipsis.size()))
        tenths += 4;
    return (tenths * size + 9) / 10;
}

std::string clipped(std::string_view text, int size, int width) {
    if (text_width(text, size) <= width) return std::string(text);
    while (!text.empty() && text_width(text, size) + text_width("…", size) > width) {
        while (text.size() > 1 && continues(text.back()))
            text.remove_suffix(1);
        text.remove_suffix(1);
    }
    return std::string(text) + "…";
}

std::string clipped_left(std::string_view text, int size, int width) {
    if (text_width(text, size) <= width) return std::string(text);
    while (!text.empty() && text_width(text, size) + text_width("…", size) > width) {
        text.remove_prefix(1);
        while (!text.empty() && continues(text.front()))
            text.remove_prefix(1);
    }
    return "…" + std::string(text);
}

std::vector<std::string> wrapped_list(std::string_view list, int size, int first, int width,
                                      std::size_t most) {
    std::vector<std::string> lines{""};
    while (!list.empty()) {
        const auto comma = list.find(',');
        const auto piece = list.substr(0, comma == std::string_view::npos ? comma : comma + 1);
        const bool fits =
            text_width(lines.back() + std::string(piece), size) <= (lines.size() == 1 ? first : width);
        if (!fits && lines.size() < most && (lines.size() == 1 || !lines.back().empty()))
            lines.emplace_back();
        lines.back() += piece;
        list.remove_prefix(piece.size());
    }
    for (std::size_t i = 0; i < lines.size(); ++i)
        lines[i] = clipped(lines[i], size, i == 0 ? first : width);
    return lines;
}

std::vector<std::string> wrapped(std::string_view text, int size, int width, std::size_t most) {
    std::vector<std::string> lines;
    while (lines.size() + 1 < most && text_width(text, size) > width) {
        auto cut = text.find(' ');
        for (auto next = cut;
             next != std::string_view::npos && text_width(text.substr(0, next), size) <= width;
             next = text.find(' ', next + 1))
            cut = next;
        if (cut == std::string_view::npos || text_width(text.substr(0, cut), size) > width) break;
        lines.emplace_back(text.substr(0, cut));
        text.remove_prefix(cut + 1);
    }
    lines.push_back(clipped(text, size, width));
    return lines;
}

} // namespace topo::draw
