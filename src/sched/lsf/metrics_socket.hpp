// The client of nodewatchd's metrics: one request, one page.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <filesystem>
#include <string>

namespace sched::lsf {

// The page served on this Unix socket, without the HTTP header; `patience` is the limit for all of it. Errors
// (Code::unavailable): no answer in time, a status other than 200, or a page that is too large.
base::Expected<std::string> ask_metrics(const std::filesystem::path& socket, base::Duration patience);

} // namespace sched::lsf
