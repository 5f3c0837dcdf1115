// A peer's view: other hosts are asked to look at one whose agent is silent, and what they see counts.
//
// Peers are few and spread: three, of which one stands where the silent host does (its rack, unit or leaf),
// the others elsewhere, and none is silent or suspected itself. A fourth is asked, beside the one that
// reaches it, where one alone does. At most eight hosts are looked at at a time, those that were heard last.
// A question goes out with the answer to a peer's report, and has a number: an answer counts once, for the
// moment in which it was asked for at the earliest, so that late and repeated ones change nothing.
//
// A peer that does not reach the host looks at another that lives, too: one that reaches nothing has no view.
// Peers share the management network with restartd. So together they never make a host lost. They can
//  * keep it from being taken for lost by an unanswered ping, when two of them reach it (a refused connection
//    is one to a kernel that lives), and by a connection that nobody answered, when two were answered;
//    one alone can for `witness_wait` at most: it may lie;
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

// At most so many hosts are looked at at a time, by so many peers each; those that see nothing are replaced
// until so many were asked.
inline constexpr std::size_t most_looked_at = 8, most_peers = 3, most_asked = 6;

// What peers saw before a pause of this daemon stands as long as it would have without; what they are asked
// after it has its time anew. Of questions that lie in the future of a clock that was set back nothing is
// kept.
void renew_looks(StepContext& ctx);

// Chooses peers, and asks what is due. Cost: O(hosts), more only while hosts are silent.
void ask_peers(StepContext& ctx);

// Takes the answers of a report to what is asked. Whether there were any.
bool take_sights(StepContext& ctx, const Report& report);

// What this host's agent is asked to look at.
std::vector<LookRequest> looks_for(const State& state, std::string_view peer);

// When an answer is no longer waited for.
base::Duration answer_within(const Policy& policy);

// A silent host is looked at again after this time, more and more seldom.
base::Duration look_again(const Policy& policy, base::Duration quiet);

// Where a host stands, as far as hosts there may share what fails; empty: that is not known.
std::string place_of(const State& state, const Policy& policy, std::string_view host);

// Whether something on the host answered: a refusal is its kernel's.
inline bool lives(base::Knocked saw) {
    return saw == base::Knocked::answers || saw == base::Knocked::refused;
}

// What the peers of a host say, none of it older than `since`.
struct PeersWord {
    std::vector<std::string> reach; // in the order in which they were chosen
    std::vector<std::string> mute;  // reach its kernel, and nothing answers
    std::vector<std::string> fail;  // reach others, not this one
    std::size_t answered = 0;       // of `reach`, by a program there
    std::size_t awaited = 0;        // have not said yet
    std::size_t comparing = 0;      // do not reach it, and it is not known yet whether they reach others
    bool apart = false;             // `mute` and `fail` are of different places, or of the host's own
    PeerView view() const;
    bool is_whole() const { return awaited + comparing == 0; }
    bool is_dark() const { return view() == PeerView::unreached || view() == PeerView::mute; }
};
PeersWord peers_word(const StepContext& ctx, const std::string& name, const HostState& host,
                     base::Time since = {});

// Whether their word, or the wait for it, keeps the host from being taken for lost by a sign that began then.
// `kernel`: that its kernel lives is enough against that sign.
bool peers_object(const StepContext& ctx, const std::string& name, const HostState& host, base::Time since,
                  bool kernel);

// Whether so many of them are still asked that they may keep a suspicion open together. Not for long: what
// was asked has a limit, and who sees nothing is replaced once.
bool peers_awaited(const StepContext& ctx, const std::string& name, const PeersWord& word);

// "3 other hosts (n[003,012,020]) reach it": for notes.
std::string describe(const PeersWord& word);

} // namespace restart
