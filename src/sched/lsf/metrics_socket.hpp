// The other end of nodewatchd's metrics: one question, one page.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <filesystem>
#include <string>

namespace sched::lsf {

// The page that is answered at this Unix socket, without its HTTP head; `patience` is for all of it. Errors
// (Code::unavailable): nobody answers in time, another status than 200, or more than a page has.
base::Expected<std::string> ask_metrics(const std::filesystem::path& socket, base::Duration patience);

} // namespace sched::lsf
