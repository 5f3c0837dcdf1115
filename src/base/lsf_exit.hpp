// How long LSF shows a requeued job's state as if the job had ended.
#pragma once

#include "base/clock.hpp"

namespace base {

// A job that is requeued (brequeue, loss of its host) is shown as EXIT for up to 3 s with LSF's defaults,
// then as PEND. A job that has been shown as EXIT for this long has ended.
constexpr Duration lsf_exit_settles{8'000};

} // namespace base
