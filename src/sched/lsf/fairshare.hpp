// The order of the gangs of a queue with fairshare: whose turn is next, by the shares that LSF shows
// (bqueues -r). Pure.
//
// LSF takes, from the top of its tree of shares down, the account of the largest dynamic priority, takes the
// first job of that user, and lowers the priorities of him and of his groups by what the job takes:
//
//   priority = shares / (what was used, by LSF's factors + (1 + slots) * RUN_JOB_FACTOR)
//
// (IBM Spectrum LSF 10.1, Administering: Dynamic user priority). The same is done here from the priorities
// that were read, each gang counting as started once it has had its turn: a user with many gangs does not
// have all of them before another's first, and what he was given since the reading counts as his already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sched::lsf {

// A user or group as LSF shows it.
struct ShareAccount {
    std::vector<std::string> path;          // its groups from the top, then its own name
    double shares = 0;                      // that it was given
    double priority = 0;                    // the larger comes first
    std::optional<std::uint64_t> started{}; // slots that its jobs hold, of which the priority knows; nullopt:
                                            // it knows of all
    bool operator==(const ShareAccount&) const = default;
};

struct Shares {
    std::vector<ShareAccount> accounts;
    // The users of groups, for groups that share without accounts of their users; "all": everybody.
    std::map<std::string, std::set<std::string, std::less<>>, std::less<>> groups;
    double per_slot = 3; // RUN_JOB_FACTOR
};

struct ShareGang {
    std::string user;
    std::uint64_t slots = 0;
    bool started = false; // it holds its slots, or is about to
};

struct ShareTurn {
    std::size_t gang = 0; // index
    double priority = 0;  // its user's, in his group, before what stands before this gang was counted
    bool operator==(const ShareTurn&) const = default;
};

// Those that have not started, in the order in which they have their turns. Equal priorities: by `gangs`.
//  * A user with several accounts is charged on the one of the largest priority, as by LSF; which one bsub -G
//    named is not known here.
//  * One without an account takes part in that of a group he belongs to, in the order of `gangs` with its
//    other members; else "others" is one account for all, "default" one for each; without either he has one
//    share of which nothing is used.
// Costs about as many steps as there are gangs and accounts, times the logarithm, times the tree's depth.
std::vector<ShareTurn> fair_order(const Shares& shares, const std::vector<ShareGang>& gangs);

} // namespace sched::lsf
