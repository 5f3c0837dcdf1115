// Who may ask restartd what, and what they see of it: the resource manager's own rule (Slurm: PrivateData,
// AdminLevel, coordinators), so that nobody learns here what it would not tell them. Pure.
//
//                              an operator   with a credential        without, where reading is open
//   nothing is hidden          all           all                      all
//   jobs                       all           their own, and of        a credential is asked for
//                                            accounts they coordinate
//   nodes                      all           no host, no metrics      a credential is asked for
//   events                     all           no host's past, no       a credential is asked for
//                                            metrics
//
// Operators are root, the resource manager's user, those of [restartd] and those of its accounting: who may
// only read there reads, who may act there acts.
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
    std::optional<std::uint32_t> uid; // none: no credential says so
    std::string name;                 // of the user, for sentences
    bool named_operator = false; // root, the resource manager's user, or in [restartd] operators and groups
    std::optional<RmUser> rm;    // none: not needed (asks_accounting), or it could not be asked
    bool metrics_token = false;  // came with a token of [restartd] metrics_token
    bool open = false;           // reading needs no credential there
};

// What one asker sees. As it is made: all.
struct View {
    bool all = true;
    std::uint32_t uid = 0;
    std::vector<std::string> accounts{}; // that they coordinate
    RmPrivacy hides{};

    // Whether the job is theirs or of an account they coordinate. None: nobody knows whose it was.
    bool owns(const std::optional<JobOwner>& owner) const;
    bool sees_job(const std::optional<JobOwner>& owner) const { return all || !hides.jobs || owns(owner); }
    // What was done with it: that tells what happened to its hosts.
    bool sees_story(const std::optional<JobOwner>& owner) const {
        return sees_events() ? sees_job(owner) : owns(owner);
    }
    bool sees_hosts() const { return all || !hides.nodes; }
    // What happened to hosts, and what is done about it.
    bool sees_events() const { return sees_hosts() && (all || !hides.events); }
    // What is kept from them: a phrase each.
    std::vector<std::string> not_shown(const RmWords& words) const;
};

struct Ruling {
    enum class Answer {
        yes, // as far as `view` goes
        who, // a credential is asked for
        no,
        not_yet // what is hidden is not known
    };
    Answer answer = Answer::no;
    std::string text; // why not, who may and how
    View view{};
};

// Whether the ruling depends on Standing::rm, which takes time to find out.
bool asks_accounting(Wish wish, const Standing& who, const std::optional<RmPrivacy>& hides);

// `hides`: none while it is not known. For a job of Wish::explain_job Ruling::view decides.
Ruling rule(Wish wish, const Standing& who, const std::optional<RmPrivacy>& hides, const RmWords& words);

// Why a job is not shown, whether there is one or not.
std::string no_such_job(std::string_view job, const View& view, const RmWords& words);

// What the owner of a job may see, wherever it is shown to them.
View view_of_owner(const JobOwner& owner, const std::optional<RmPrivacy>& hides);

} // namespace restart
