// A history that is requested repeatedly: railctl history --follow.
#pragma once

#include "restart/wire/status.hpp"

#include <optional>
#include <vector>

namespace restart {

// What the later of two answers to the same request has added: the shortest end of it before which it agrees
// with the end of the earlier one. None: they do not meet, so that entries between them may be missing; all
// of the later one is new then.
std::optional<std::vector<TimelineEntry>> added_since(const std::vector<TimelineEntry>& earlier,
                                                      const std::vector<TimelineEntry>& later);

} // namespace restart
