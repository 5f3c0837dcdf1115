// Whether a fabric file can be trusted. Some findings only say that a host lacks what the file lists. Where
// most hosts that have read the same file lack something, the file is wrong.
//
// Files are identified by their digest, so that a wrong one is detected by the first hosts that read it, not
// when half of all have. A file is trusted while at least half of its readers match it and for a minute no
// further mismatch was found: hosts that read a new file do not all do so in the same second.
#pragma once

#include "restart/core/facts/state.hpp"
#include "restart/wire/report.hpp"

namespace restart {

// Rules of findings that depend on the file.
bool rests_on_file(const Finding& finding);

// Checks a report's findings before they are stored: a new one that depends on the file suspends trust in it
// until the next snapshot, when hosts are counted.
void suspend_trust(State& state, const HostState& host, const std::vector<Finding>& findings);

// Whether the finding may lead to an action: always, when it does not depend on the file, else when the
// host's file was trusted at the last snapshot. Cost: the number of files in use, one or two.
bool counts(const State& state, const HostState& host, const Finding& finding);

} // namespace restart
