// nodewatchd --once: a reading and its findings, as text and as JSON.
#pragma once

#include "restart/watch/sources.hpp"
#include "restart/wire/report.hpp"

#include <string>
#include <vector>

namespace restart {

std::string print_text(const std::string& host, const Reading& reading, const std::vector<Finding>& findings);

// {"host","links":[{…,"counters":{…}}],"gpus":[…],"findings":[…],"watching":{…},"not_watching":[…]}: names as
// in a report (wire/report.hpp); values that a GPU does not report are null.
std::string print_json(const std::string& host, const Reading& reading, const std::vector<Finding>& findings);

} // namespace restart
