// Where everything of a fabric stands in a picture; nothing about colours. Painting is svg.hpp.
//
// The page holds the cores, then pods in rows; a pod holds its spines and its units in rows; a unit holds its
// leaves and a grid of hosts, a cell each; a cell holds a strip with a tick for each port of each rail, in
// the order of rails, storage after a gap. Where a unit has NVLink domains it has a grid for each. Boxes of
// siblings never overlap and lie inside their parent's. All numbers are pixels from the page's upper left
// corner.
#pragma once

#include "topo/fabric.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace topo::draw {

struct Box {
    int x = 0, y = 0, w = 0, h = 0;
    int right() const { return x + w; }
    int bottom() const { return y + h; }
    bool operator==(const Box&) const = default;
};

// How much a host's cell says: its whole name; the part that sets it apart from its unit; nothing.
enum class Density : std::uint8_t { roomy, compact, dense };

struct SwitchBox {
    Box box;
    std::size_t index = 0;            // of Fabric::switches
    std::string label;                // "r0", "r0-3", "12"; empty when there is no room
    std::vector<std::string> shorter; // for beside a mark, where the label has no room: "r0", then "0"
};

struct Tick {
    Box box;
    int hca = none;  // index into Host::hcas; none: the host lacks a rail that its unit has
    int port = none; // index into Hca::ports
    int rail = none; // none: storage
};

struct HostBox {
    Box box;   // the cell
    Box strip; // inside it, at its foot
    std::uint32_t host = 0;
    std::string label;
    std::vector<Tick> ticks;
};

// Hosts of a unit that share NVLink switches, in a frame of their own; the cells are UnitBox::hosts.
struct DomainBox {
    Box box, title;    // the title stands above the cells
    int domain = none; // none: hosts that are in none, in a unit where others are
    std::vector<std::uint32_t> hosts;
};

struct UnitBox {
    Box box, title;  // the title stands between leaves and hosts, clear of uplinks; of one to three lines
    int unit = none; // none: hosts in no unit
    std::vector<SwitchBox> leaves;
    std::vector<HostBox> hosts;
    std::vector<DomainBox> domains; // from top to bottom; empty where the unit has none
};

struct PodBox {
    Box box, title;
    std::size_t pod = 0;
    std::vector<SwitchBox> spines;
    std::vector<UnitBox> units;
    bool mesh = false; // there is room between spines and leaves to draw the uplinks
    bool many = false; // more than an eye can follow, or behind other units: drawn are the faulty ones and,
                       // under the pointer, a switch's own; likewise where there is no room
};

struct Layout {
    int width = 0, height = 0; // of the body; the painter adds what it needs above and below
    Density density = Density::roomy;
    Box cores_title, others_title; // empty (h = 0) when there are none
    std::vector<SwitchBox> cores;  // tiers from 2
    std::vector<PodBox> pods;
    std::optional<UnitBox> unitless;
    std::vector<SwitchBox>
        others; // switches that carry no unit: storage and idle leaves, and what no host reaches
};

inline constexpr int margin = 16; // on all sides of the page

// The grid is chosen for a page a little wider than high. Above 64 hosts cells are compact, above 2,048
// dense. The same fabric always gives the same layout. O(hosts + links) and a bounded search for the grid.
Layout lay_out(const Fabric& fabric);

// About how wide a text is, in pixels; sans-serif letters are a little narrower.
int text_width(std::string_view text, int size);

// The text, its end replaced by "…" when it is wider than `width`.
std::string clipped(std::string_view text, int size, int width);

// A folded list of hosts ("n[001-003,007],m1") in at most `most` lines, the first of `first` pixels, the
// others of `width`, broken behind commas; the last is clipped.
std::vector<std::string> wrapped_list(std::string_view list, int size, int first, int width,
                                      std::size_t most);

// The text in lines of about `width` pixels, broken at blanks; the `most`th is clipped.
std::vector<std::string> wrapped(std::string_view text, int size, int width, std::size_t most);

} // namespace topo::draw
