// Which committed checkpoints are removed once a newer one is published.
//
// A checkpoint is removed only when the one just published has at least as many steps, and it is this job's
// own, of this incarnation or an earlier one. So a job that failed to resume and began again at step 0
// removes nothing of what it had reached before it is there again, a chain of jobs leaves each job's last
// ones, and an incarnation that was cut off touches nothing of its successor's. What that keeps is at most
// `keep` an incarnation, and is reported.
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
    std::vector<Id> others; // of jobs that owned the directory before, newest first
};

// `ids`: all there are, newest first. `newcomer`: the one just published. `base`: the first epoch of the job
// it belongs to. `keep`: how many whole ones may stay of those that are passed, the newcomer counted; > 0.
// `whole` is asked for as few as possible. Pure but for `whole`.
Pruning choose(const std::vector<Id>& ids, const Id& newcomer, std::uint32_t base, unsigned keep,
               const std::function<bool(const Id&)>& whole);

struct Pruned {
    std::vector<std::string> troubles; // what could not be removed
    std::size_t beside = 0;            // how many are kept beside `keep`: those ahead, and others'
    std::string kept;                  // the sentence on them; "" when there are none
};

// Removes what choose() says, once the newcomer is found whole (sizes); those in `damaged` do not count as
// whole. Each is renamed away before its files go.
Pruned prune(const std::filesystem::path& dir, const Id& newcomer, std::uint32_t base, unsigned keep,
             const std::set<Id>& damaged);

} // namespace restart::ckpt
