// Whose a job is, as far as it decides who may see it.
#pragma once

#include <cstdint>
#include <string>

namespace restart {

struct JobOwner {
    std::uint32_t uid = 0;
    std::string account; // it is charged to; empty: none
    bool operator==(const JobOwner&) const = default;
};

} // namespace restart
