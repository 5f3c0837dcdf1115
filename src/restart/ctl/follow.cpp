#include "restart/ctl/follow.hpp"

#include <algorithm>

namespace restart {

std::optional<std::vector<TimelineEntry>> added_since(const std::vector<TimelineEntry>& earlier,
                                                      const std::vector<TimelineEntry>& later) {
    if (earlier.empty()) return later;
    for (auto begin = later.end(); begin != later.begin(); --begin) {
        const auto common = std::min(begin - later.begin(), earlier.end() - earlier.begin());
        if (std::equal(begin - common, begin, earlier.end() - common))
            return std::vector<TimelineEntry>(begin, later.end());
    }
    return {};
}

} // namespace restart
