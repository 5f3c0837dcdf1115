// Where the rails of a fabric meet: whether a message from an HCA of one rail can reach one of another, and
// how far up it must go.
#pragma once

#include "base/json.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace topo {

// detour: in the same network, but nothing above both leaves connects most of their uplinks: spines connected
// to spines, single links.
enum class Meeting : std::uint8_t { leaf, spine, core, detour, never };
std::string_view to_string(Meeting meeting); // "leaf", "spine", "core", "detour", "never"

struct RailsMeeting {
    Meeting at;
    // Groups of two or more rails, ascending: those that meet here and not nearer. For never: the groups,
    // also of one rail, that have no network in common.
    std::vector<std::vector<int>> groups;
};

// Nearest first; every rail is in some group; nothing for fewer than two rails. Rails meet where they do in
// most units: on one leaf, or in switches above both that a quarter of either's uplinks share. Linear in
// units times the uplinks of their leaves, times those of the spines if rails do not meet in spines.
std::vector<RailsMeeting> rails_meeting(const Fabric& fabric);

// "rails 0-7 meet at the spines"; "rails 0,2 | 1,3 meet at the spines, those of different groups never".
// Empty for fewer than two rails.
std::string rails_meeting_text(const std::vector<RailsMeeting>& meetings);
// [{"at":"spine","groups":[[0,2],[1,3]]},{"at":"never","groups":[[0,2],[1,3]]}]
boost::json::array rails_meeting_json(const std::vector<RailsMeeting>& meetings);

} // namespace topo
