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
    int label_text = 0;                              // of a cell, 0: none
    int switch_h = 0, switch_gap = 0, switch_text = 0;
    int leaf_least = 0, spine_w = 0; // widths
    int band = 0;                    // between spines and units, for the lines of uplinks
    int least_unit = 0;              // width inside a unit
};
Metrics metrics(const Fabric& fabric, const Slots& slots);

// What a cell calls its host: the name, or the part in which the hosts of its panel differ, clipped to the
// cell.
std::vector<std::string> host_labels(const Fabric& fabric, const std::vector<std::uint32_t>& hosts,
                                     const Metrics& metrics);

} // namespace topo::draw
