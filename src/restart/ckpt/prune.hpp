// Which committed checkpoints are removed once a newer one is published.
//
// A checkpoint is removed only if the one just published has at least as many steps, and it belongs to this
// job, in this incarnation or an earlier one. So a job that failed to resume and restarted at step 0 removes
// nothing that it had reached before until it is there again, a chain of jobs keeps each job's last ones, and
// an incarnation that was cut off does not touch those of its successor. At most `keep` are kept beyond this
// for each incarnation, which is reported.
#pragma once

#include "restart/ckpt/name.hpp"

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace restart::ckpt {

struct Pruning {
    std::vector<Id> remove; // oldest first
    std::vector<Id> ahead;  // of this job, with more steps than the newcomer, furthest first
    std::vector<Id> others; // of earlier owners of the directory, newest first
};

// `ids`: all, newest first. `newcomer`: the one just published. `base`: the first epoch of its job. `keep`:
// how many complete ones may stay of those that are passed, including the newcomer; > 0. `whole` is called
// for as few as possible. Pure except for `whole`.
Pruning choose(const std::vector<Id>& ids, const Id& newcomer, std::uint32_t base, unsigned keep,
               const std::function<bool(const Id&)>& whole);

struct Pruned {
    std::vector<std::string> troubles; // what could not be removed
    std::size_t beside = 0;            // how many are kept in addition: those ahead, and others'
    std::string kept;                  // the message about them; "" if there are none
};

// Removes what choose() selects, if the newcomer is complete (sizes); those in `damaged` count as incomplete.
// Each is renamed before its files are removed.
Pruned prune(const std::filesystem::path& dir, const Id& newcomer, std::uint32_t base, unsigned keep,
             const std::set<Id>& damaged);

} // namespace restart::ckpt
