// Who may ask restartd what, and what they see of it: the resource manager's own rule (Slurm: PrivateData,
// AdminLevel, coordinators), so that no one learns here what it would not show them. Pure.
//
//                              an operator   with a credential        without, where reading is open
//   nothing is hidden          all           all                      all
//   jobs                       all           their own, and of        a credential is required
//                                            accounts they coordinate
//   nodes                      all           no host, no metrics      a credential is required
//   events                     all           no host's past, no       a credential is required
//                                            metrics
//
// Operators are root, the resource manager's user, those of [restartd] and those of its accounting: a user
// who may only read there may read here, one who may act there may act here.
#pragma once

#include "restart/core/facts/rm.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

enum class Wish { change, status, explain_job, explain_host, history, rates, metrics };

// Who asks, and from where.
struct Standing {
    std::optional<std::uint32_t> uid; // none: no credential names it
    std::string name;                 // of the user, for messages
    bool named_operator = false; // root, the resource manager's user, or in [restartd] operators and groups
    std::optional<RmUser> rm;    // none: not needed (asks_accounting), or the lookup failed
    bool metrics_token = false;  // came with a token of [restartd] metrics_token
    bool open = false;           // reading needs no credential there
};

// What one user sees. Default: everything.
struct View {
    bool all = true;
    std::uint32_t uid = 0;
    std::vector<std::string> accounts{}; // that they coordinate
    RmPrivacy hides{};

    // Whether the job is theirs or of an account they coordinate. None: its owner is not known.
    bool owns(const std::optional<JobOwner>& owner) const;
    bool sees_job(const std::optional<JobOwner>& owner) const { return all || !hides.jobs || owns(owner); }
    // What was done with it, which reveals what happened to its hosts.
    bool sees_story(const std::optional<JobOwner>& owner) const {
        return sees_events() ? sees_job(owner) : owns(owner);
    }
    bool sees_hosts() const { return all || !hides.nodes; }
    // What happened to hosts, and what is done about it.
    bool sees_events() const { return sees_hosts() && (all || !hides.events); }
    // What is hidden from them: a phrase each.
    std::vector<std::string> not_shown(const RmWords& words) const;
};

struct Ruling {
    enum class Answer {
        yes, // within `view`
        who, // a credential is required
        no,
        not_yet // what is hidden is not known yet
    };
    Answer answer = Answer::no;
    std::string text; // why not, who may and how
    View view{};
};

// Whether the ruling depends on Standing::rm, which takes time to find out.
bool asks_accounting(Wish wish, const Standing& who, const std::optional<RmPrivacy>& hides);

// `hides`: none while it is not known. For a job of Wish::explain_job Ruling::view decides.
Ruling rule(Wish wish, const Standing& who, const std::optional<RmPrivacy>& hides, const RmWords& words);

// Why a job is not shown, whether or not it exists.
std::string no_such_job(std::string_view job, const View& view, const RmWords& words);

// What the owner of a job may see, wherever it is shown to them.
View view_of_owner(const JobOwner& owner, const std::optional<RmPrivacy>& hides);

} // namespace restart
