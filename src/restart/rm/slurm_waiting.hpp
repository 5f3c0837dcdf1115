// What restartd changes in a waiting job, as texts of its record. Pure.
#pragma once

#include "base/job_id.hpp"

#include <slurm/slurm.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

struct WaitingChange {
    base::JobId job{};
    std::vector<std::string> exclude{}, readmit{};
    std::vector<std::string> unasked{}; // no longer among those that its user requested
    std::string comment{};              // empty: unchanged
    std::vector<std::string> had{};     // the nodes of its start `start` (sched::with_had); empty: unchanged
    std::uint32_t start = 0;
};

// None if the record has that already.
struct WaitingTexts {
    std::optional<std::string> excluded, required, comment, admin_comment;
    bool any() const { return excluded || required || comment || admin_comment; }
};
WaitingTexts texts_of(const WaitingChange& wanted, const job_info_t& record);

} // namespace restart
