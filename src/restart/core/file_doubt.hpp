// The fabric file's word against the hosts'. Some findings say no more than that a host lacks what the file
// lists. Where most hosts that have read the same file lack something, it is the file that is wrong.
//
// Files are told apart by their digest, so that a wrong one is found out by the first hosts that read it, not
// when half of all have. A file is believed while at least half of its readers fit it and for a minute no
// further one has been found that does not: what happens to all does not happen to all in the same second.
#pragma once

#include "restart/core/state.hpp"
#include "restart/wire/report.hpp"

namespace restart {

// Rules of findings that rest on the file.
bool rests_on_file(const Finding& finding);

// Takes a report's findings, before they are the host's: a new one that rests on the file puts it in doubt
// until the next snapshot, when hosts are counted.
void doubt_file(State& state, const HostState& host, const std::vector<Finding>& findings);

// Whether something follows from the finding: always, when it does not rest on the file, else when the host's
// file was believed at the last snapshot. Cost: the number of files in use, one or two.
bool counts(const State& state, const HostState& host, const Finding& finding);

} // namespace restart
