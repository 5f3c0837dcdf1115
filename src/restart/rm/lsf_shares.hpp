// What LSF says of fairshare between users: `bqueues -r` and `bugroup -r`, read. Pure. Sources: IBM Spectrum
// LSF 10.1, Command reference (bqueues, bugroup); volclava 2.2, lsbatch/cmd/bqueues.c, whose columns are
// fewer.
#pragma once

#include "sched/lsf/fairshare.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace restart {

using LsfShares = std::map<std::string, sched::lsf::Shares, std::less<>>; // by queue
using LsfGroups = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

// Queues without fairshare are not in it: theirs is first come, first served. Columns are found by their
// names, others may stand between; rows that have not the needed ones are passed over.
//
//   SHARE_INFO_FOR: gang/physics/
//   USER/GROUP   SHARES  PRIORITY  STARTED  RESERVED  CPU_TIME  RUN_TIME   ADJUST
//   alice           10       3.333      0        0         0.0         0   0.000
LsfShares read_shares(std::string_view text);

// Groups with their users, by `bugroup -r`; groups within a group have "/" behind their names and are left
// out.
LsfGroups read_user_groups(std::string_view text);

// Whether an account that is nobody's of `users` may be a group's: then who belongs to it has to be asked.
bool may_have_groups(const LsfShares& shares, const std::set<std::string>& users);

} // namespace restart
