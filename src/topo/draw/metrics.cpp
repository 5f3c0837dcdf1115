#include "topo/draw/metrics.hpp"

#include "topo/names.hpp"

#include <algorithm>

namespace topo::draw {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool continues(char byte) { // a byte inside a UTF-8 character
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

// The length of what all names begin with, not cutting through a number or a character.
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

// The end of the text, "…" in front when its beginning does not fit.
std::string clipped_left(std::string_view text, int size, int width) {
    if (text_width(text, size) <= width) return std::string(text);
    while (!text.empty() && text_width(text, size) + text_width("…", size) > width) {
        text.remove_prefix(1);
        while (!text.empty() && continues(text.front()))
            text.remove_prefix(1);
    }
    return "…" + std::string(text);
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
    m.label_text = 12;
    m.switch_h = 18;
    m.switch_gap = 4;
    m.switch_text = 10;
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
    m.label_text = 9;
    m.switch_h = 13;
    m.switch_gap = 2;
    m.switch_text = 7;
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
    m.switch_h = 7;
    m.switch_gap = 1;
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
    const int most = m.density == Density::roomy ? 120 : 36; // for a label's sake
    m.cell.w = std::max(m.cell.w, std::clamp(m.label_text == 0 ? 0 : widest + 24, least, most));
    return m;
}

std::vector<std::string> host_labels(const Fabric& fabric, const std::vector<std::uint32_t>& hosts,
                                     const Metrics& metrics) {
    const int room =
        metrics.cell.w - (metrics.density == Density::roomy ? 26 : 12); // the mark stands beside it
    const bool whole = std::all_of(hosts.begin(), hosts.end(), [&](std::uint32_t h) {
        return text_width(fabric.hosts[h].name, metrics.label_text) <= room;
    });
    const auto prefix = whole && metrics.density == Density::roomy ? 0 : common_prefix(fabric, hosts);
    std::vector<std::string> labels;
    for (const auto h : hosts)
        labels.push_back(
            clipped_left(std::string_view(fabric.hosts[h].name).substr(prefix), metrics.label_text, room));
    return labels;
}

int text_width(std::string_view text, int size) {
    const auto letters =
        text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues));
    return (static_cast<int>(letters) * size * 6 + 9) / 10;
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
