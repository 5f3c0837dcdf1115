// LSF's fairshare between users: the output of `bqueues -r` and `bugroup -r`. Pure. Sources: IBM Spectrum LSF
// 10.1, Command reference (bqueues, bugroup); volclava 2.2, lsbatch/cmd/bqueues.c, whose columns are fewer.
#pragma once

#include "sched/lsf/fairshare.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace restart {

using LsfShares = std::map<std::string, sched::lsf::Shares, std::less<>>; // by queue
using LsfGroups = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

// Queues without fairshare are left out: they are first come, first served. Columns are found by their names,
// with others in between; rows without the needed ones are skipped.
//
//   SHARE_INFO_FOR: gang/physics/
//   USER/GROUP   SHARES  PRIORITY  STARTED  RESERVED  CPU_TIME  RUN_TIME   ADJUST
//   alice           10       3.333      0        0         0.0         0   0.000
LsfShares read_shares(std::string_view text);

// Groups with their users, by `bugroup -r`; groups within a group have "/" after their names and are left
// out.
LsfGroups read_user_groups(std::string_view text);

// Whether an account that is none of `users` may be a group's: then its members must be queried.
bool may_have_groups(const LsfShares& shares, const std::set<std::string>& users);

} // namespace restart
