// The order of the gangs in a fairshare queue: whose turn is next, based on the shares that LSF shows
// (bqueues -r). Pure.
//
// From the top of its share tree, LSF selects the account with the highest dynamic priority, takes the first
// job of that user, and lowers the priorities of the user and the user's groups by what the job takes:
//
//   priority = shares / (what was used, by LSF's factors + (1 + slots) * RUN_JOB_FACTOR)
//
// (IBM Spectrum LSF 10.1, Administering: Dynamic user priority). The same is done here from the priorities
// that were read; each gang counts as started once it has had its turn. So a user's many gangs do not all
// come before another user's first, and what a user received since the reading already counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sched::lsf {

// A user or group as shown by LSF.
struct ShareAccount {
    std::vector<std::string> path;          // its groups from the top, then its own name
    double shares = 0;                      // assigned shares
    double priority = 0;                    // the highest comes first
    std::optional<std::uint64_t> started{}; // slots held by its jobs that are included in the priority;
                                            // nullopt: all are
    bool operator==(const ShareAccount&) const = default;
};

struct Shares {
    std::vector<ShareAccount> accounts;
    // The users of groups, for groups whose users have no accounts of their own; "all": everyone.
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
    double priority = 0;  // of its user within the group, as read: gangs that come earlier are not counted
    bool operator==(const ShareTurn&) const = default;
};

// The gangs that have not started, in the order of their turns. Equal priorities: in the order of `gangs`.
//  * A user with several accounts is charged on the one with the highest priority, as in LSF; the one named
//    by bsub -G is not known here.
//  * A user without an account uses that of a group to which the user belongs, shared with its other members
//    in the order of `gangs`; else "others" is one account for all, "default" one for each; without either
//    the user has one unused share.
// Costs about (gangs + accounts) × log × depth of the tree.
std::vector<ShareTurn> fair_order(const Shares& shares, const std::vector<ShareGang>& gangs);

} // namespace sched::lsf
