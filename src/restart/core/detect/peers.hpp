// A peer's view: other hosts are asked to look at one whose agent is silent, and what they see counts.
//
// There are few peers, and they are spread: three, one of them in the same place as the silent host (its
// rack, unit or leaf), the others elsewhere; none is silent or suspected itself. If only one reaches the
// host, a fourth from its place is asked. At most eight hosts are looked at at a time, those that were heard
// last. A question goes out with the answer to a peer's report, and has a number: an answer counts once, for
// the moment of the question at the earliest, so that late and repeated ones change nothing.
//
// A peer that does not reach the host also looks at a live one: a peer that reaches nothing has no view.
// Peers share the management network with restartd, so together they never declare a host lost. They can
//  * keep it from being considered lost after an unanswered ping, if two of them reach it (a refused
//    connection comes from a live kernel), and after an unanswered connection, if two were answered;
//    one alone can for at most `witness_wait`, because it may lie;
//  * end a suspicion at once in the same way, or keep it open while two or more do not reach it, from
//    different places or from the host's own;
//  * not outweigh the fabric, nor the resource manager's own decision, which has ended the host's jobs.
//
// Internal to restart/core.
#pragma once

#include "restart/core/facts/step_context.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace restart {

// Limits: hosts looked at at a time, peers of each, and peers asked in all when those that see nothing are
// replaced.
inline constexpr std::size_t most_looked_at = 8, most_peers = 3, most_asked = 6;

// What peers saw before a pause of this daemon stays valid as long as without the pause; pending questions
// get their full time again. If the clock was set back, questions in its future are dropped.
void renew_looks(StepContext& ctx);

// Chooses peers, and sends due questions. Cost: O(hosts), more only while hosts are silent.
void ask_peers(StepContext& ctx);

// Takes the answers in a report. Returns whether there were any.
bool take_sights(StepContext& ctx, const Report& report);

// What this host's agent is asked to look at.
std::vector<LookRequest> looks_for(const State& state, std::string_view peer);

// How long to wait for an answer.
base::Duration answer_within(const Policy& policy);

// A silent host is looked at again after this time, which grows.
base::Duration look_again(const Policy& policy, base::Duration quiet);

// The place of a host, as far as hosts there may share what fails; empty: not known.
std::string place_of(const State& state, const Policy& policy, std::string_view host);

// Whether something on the host answered: a refusal comes from its kernel.
inline bool lives(base::Knocked saw) {
    return saw == base::Knocked::answers || saw == base::Knocked::refused;
}

// What the peers of a host report, none of it older than `since`.
struct PeersWord {
    std::vector<std::string> reach; // in the order in which they were chosen
    std::vector<std::string> mute;  // reach its kernel, but nothing answers
    std::vector<std::string> fail;  // reach others, not this one
    std::size_t answered = 0;       // those in `reach` that a program there answered
    std::size_t awaited = 0;        // have not answered yet
    std::size_t comparing = 0;      // do not reach it; whether they reach others is not known yet
    bool apart = false;             // `mute` and `fail` are from different places, or from the host's own
    PeerView view() const;
    bool is_whole() const { return awaited + comparing == 0; }
    bool is_dark() const { return view() == PeerView::unreached || view() == PeerView::mute; }
};
PeersWord peers_word(const StepContext& ctx, const std::string& name, const HostState& host,
                     base::Time since = {});

// Whether their answers, or the wait for them, keep the host from being considered lost by a sign that began
// then. `kernel`: a live kernel is enough to refute that sign.
bool peers_object(const StepContext& ctx, const std::string& name, const HostState& host, base::Time since,
                  bool kernel);

// Whether enough of them are still being asked that they may together keep a suspicion open. Not for long:
// questions have a limit, and a peer that sees nothing is replaced once.
bool peers_awaited(const StepContext& ctx, const std::string& name, const PeersWord& word);

// "3 other hosts (n[003,012,020]) reach it": for notes.
std::string describe(const PeersWord& word);

} // namespace restart
