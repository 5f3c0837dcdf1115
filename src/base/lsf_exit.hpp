// How long LSF shows the state of a job that is requeued as if the job had ended.
#pragma once

#include "base/clock.hpp"

namespace base {

// A job that is requeued (brequeue, the loss of its host) shows as EXIT for up to 3 s at LSF's defaults, then
// as PEND: one that has shown as EXIT for this long has ended.
constexpr Duration lsf_exit_settles{8'000};

} // namespace base
