// The sizes in a picture, depending on the number of hosts shown. Internal to src/topo/draw.
#pragma once

#include "topo/draw/layout.hpp"

namespace topo::draw {

// Ticks of a cell: `ports` for each rail, then `storage`; the maximum of all hosts.
struct Slots {
    int ports = 1, storage = 0;
};
Slots count_slots(const Fabric& fabric);

// In pixels; text by its size.
struct Metrics {
    Density density = Density::roomy;
    struct {
        int w = 0, h = 0;
    } cell;
    int strip = 0; // height of the strip of ticks
    int inset = 0, pitch = 0, tick = 0,
        storage_gap = 0;                             // of ticks: left edge of the first, distance, width
    int gap = 0, pad = 0, unit_gap = 0, pod_gap = 0; // between cells, inside panels, between panels
    int title = 0, title_text = 0;                   // of a panel
    int domain_title = 0, domain_text = 0;           // of an NVLink domain inside a unit
    int label_text = 0;                              // of a cell, 0: none
    int switch_h = 0, switch_gap = 0, switch_text = 0;
    int mark = 0;                    // radius of a finding's mark
    int leaf_least = 0, spine_w = 0; // widths
    int band = 0;                    // between spines and units, for the lines of uplinks
    int least_unit = 0;              // width inside a unit
};
Metrics metrics(const Fabric& fabric, const Slots& slots);

// The width of the cells of these hosts in their own panel: like others, or what their names need.
int panel_cell(const Fabric& fabric, const std::vector<std::uint32_t>& hosts, const Metrics& metrics);

// The list of hosts in a unit's title, after the unit's name, in up to three lines of a panel `inner` wide.
std::vector<std::string> title_lines(const Fabric& fabric, const std::string& name,
                                     const std::vector<std::uint32_t>& hosts, int inner,
                                     const Metrics& metrics);

// The label of a host in its cell: the name, or the parts in which the names of its panel's hosts differ
// ("b06-…-c04" and "b07-…-c01" are "06-04" and "07-01"), clipped to the cell.
std::vector<std::string> host_labels(const Fabric& fabric, const std::vector<std::uint32_t>& hosts,
                                     const Metrics& metrics);

// The labels of switches in adjacent boxes: the number at the end of the name, else its last word or, if
// several have the same number, the parts in which their names differ.
std::vector<std::string> switch_labels(const Fabric& fabric, const std::vector<std::size_t>& switches);

// The text, with its beginning replaced by "…" if it is wider than `width`.
std::string clipped_left(std::string_view text, int size, int width);

} // namespace topo::draw
