// Where findings are drawn: their ends, given as names, are looked up in the fabric.
#pragma once

#include "topo/check/check.hpp"
#include "topo/fabric.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace topo::draw {

// The findings about one thing.
struct Mark {
    Severity severity = Severity::warning; // the worst one
    std::vector<std::size_t> findings;     // ascending indices into the list; the first one is drawn
};

// Information (Severity::info) is not marked. An end that is not in the fabric is ignored: the finding is
// still listed.
struct Marks {
    std::map<std::uint32_t, Mark> hosts;                          // findings about the host itself
    std::map<std::pair<std::uint32_t, std::uint32_t>, Mark> hcas; // (host, HCA) without a link
    std::map<std::size_t, Mark> links;                            // by index into Fabric::links
    std::map<std::size_t, Mark> switches;                         // findings about the switch itself

    const Mark* of_link(int link) const;
    const Mark* of_hca(std::uint32_t host, std::uint32_t hca) const;
};

// O((links + findings) log links).
Marks place_marks(const Fabric& fabric, const std::vector<Finding>& findings);

// The mark of a host: its own findings and its links'. Of a switch: its own and those of its links to other
// switches; a link to a host is the host's.
std::optional<Mark> mark_of_host(const Fabric& fabric, const Marks& marks, std::uint32_t host);
std::map<std::size_t, Mark> marks_of_switches(const Fabric& fabric, const Marks& marks);

} // namespace topo::draw
