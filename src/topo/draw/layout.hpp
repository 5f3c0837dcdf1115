// The positions of all parts of a fabric in a picture; without colours. Painting is in svg.hpp.
//
// The page contains the cores, then pods in rows; a pod its spines and its units in rows; a unit its leaves
// and a grid of hosts, a cell each; a cell a strip with a tick for each port of each rail, in the order of
// rails, and storage after a gap. A unit with NVLink domains has a grid for each. Boxes of siblings never
// overlap and are inside their parent's. All numbers are pixels from the page's upper left corner.
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

// What a host's cell shows: its full name; the part that distinguishes it in its unit; nothing.
enum class Density : std::uint8_t { roomy, compact, dense };

struct SwitchBox {
    Box box;
    std::size_t index = 0;            // of Fabric::switches
    std::string label;                // "r0", "r0-3", "12"; empty if there is no room
    std::vector<std::string> shorter; // for use next to a mark, if the label has no room: "r0", then "0"
};

struct Tick {
    Box box;
    int hca = none;  // index into Host::hcas; none: the host lacks a rail of its unit
    int port = none; // index into Hca::ports
    int rail = none; // none: storage
};

struct HostBox {
    Box box;   // the cell
    Box strip; // inside it, at the bottom
    std::uint32_t host = 0;
    std::string label;
    std::vector<Tick> ticks;
};

// Hosts of a unit that share NVLink switches, in their own frame; the cells are in UnitBox::hosts.
struct DomainBox {
    Box box, title;    // the title is above the cells
    int domain = none; // none: hosts without a domain, in a unit where others have one
    std::vector<std::uint32_t> hosts;
};

struct UnitBox {
    Box box, title;  // the title is between leaves and hosts, clear of uplinks; one to three lines
    int unit = none; // none: hosts in no unit
    std::vector<SwitchBox> leaves;
    std::vector<HostBox> hosts;
    std::vector<DomainBox> domains; // from top to bottom; empty if the unit has none
};

struct PodBox {
    Box box, title;
    std::size_t pod = 0;
    std::vector<SwitchBox> spines;
    std::vector<UnitBox> units;
    bool mesh = false; // there is room between spines and leaves to draw the uplinks
    bool many = false; // too many to follow, behind other units, or no room: only the faulty ones are drawn
                       // and, under the pointer, a switch's own
};

struct Layout {
    int width = 0, height = 0; // of the body; the painter adds the space above and below
    Density density = Density::roomy;
    Box cores_title, others_title; // empty (h = 0) if there are none
    std::vector<SwitchBox> cores;  // tiers 2 and up
    std::vector<PodBox> pods;
    std::optional<UnitBox> unitless;
    std::vector<SwitchBox>
        others; // switches without a unit: storage and idle leaves, and those that no host reaches
};

inline constexpr int margin = 16; // on all sides of the page

// The grid is chosen for a page slightly wider than high. Above 64 hosts cells are compact, above 2,048
// dense. The same fabric always gives the same layout. O(hosts + links) and a bounded search for the grid.
Layout lay_out(const Fabric& fabric);

// The approximate width of a text in pixels; sans-serif letters are slightly narrower.
int text_width(std::string_view text, int size);

// The text, with its end replaced by "…" if it is wider than `width`.
std::string clipped(std::string_view text, int size, int width);

// A folded list of hosts ("n[001-003,007],m1") in at most `most` lines, the first with `first` pixels, the
// others with `width`, broken after commas; the last one is clipped.
std::vector<std::string> wrapped_list(std::string_view list, int size, int first, int width,
                                      std::size_t most);

// The text in lines of about `width` pixels, broken at blanks; line `most` is clipped.
std::vector<std::string> wrapped(std::string_view text, int size, int width, std::size_t most);

} // namespace topo::draw
