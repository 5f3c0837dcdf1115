// How large the parts of a picture are, by how many hosts it shows. Internal to src/topo/draw.
#pragma once

#include "topo/draw/layout.hpp"

namespace topo::draw {

// Ticks of a cell: `ports` for each rail, then `storage`; the most that any host has.
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
        storage_gap = 0; // of ticks: the first's left, their distance, their width
    int gap = 0, pad = 0, unit_gap = 0, pod_gap = 0; // between cells, inside panels, between panels
    int title = 0, title_text = 0;                   // of a panel
    int domain_title = 0, domain_text = 0;           // of an NVLink domain inside a unit
    int label_text = 0;                              // of a cell, 0: none
    int switch_h = 0, switch_gap = 0, switch_text = 0;
    int mark = 0;                    // radius of the mark of a finding
    int leaf_least = 0, spine_w = 0; // widths
    int band = 0;                    // between spines and units, for the lines of uplinks
    int least_unit = 0;              // width inside a unit
};
Metrics metrics(const Fabric& fabric, const Slots& slots);

// How wide cells of these hosts, of a panel of their own, are: as others, or what their names need.
int panel_cell(const Fabric& fabric, const std::vector<std::uint32_t>& hosts, const Metrics& metrics);

// How a unit's title names its hosts, behind the unit's name, in up to three lines of a panel `inner` wide.
std::vector<std::string> title_lines(const Fabric& fabric, const std::string& name,
                                     const std::vector<std::uint32_t>& hosts, int inner,
                                     const Metrics& metrics);

// What a cell calls its host: the name, or the parts in which the names of its panel's hosts differ
// ("b06-…-c04" and "b07-…-c01" are "06-04" and "07-01"), clipped to the cell.
std::vector<std::string> host_labels(const Fabric& fabric, const std::vector<std::uint32_t>& hosts,
                                     const Metrics& metrics);

// What boxes of switches beside each other call them: the number at the end of the name, else its last word,
// or, where several have one number, the parts in which their names differ.
std::vector<std::string> switch_labels(const Fabric& fabric, const std::vector<std::size_t>& switches);

// The text, "…" in place of its beginning when it is wider than `width`.
std::string clipped_left(std::string_view text, int size, int width);

} // namespace topo::draw
