// One call of step(): the state being changed, what comes out, the time and the policy; and the parts step()
// is made of, each in the .cpp file named. Internal to restart/core.
#pragma once

#include "restart/core/step.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

class Turn {
public:
    Turn(Step& step, base::Time at, const Policy& rules)
        : state(step.state), now(at), policy(rules), step_(step) {}

    State& state;
    const base::Time now;
    const Policy& policy;

    void note(NoteKind kind, const Incident& incident, std::uint32_t job, std::string text) {
        step_.notes.push_back({now, kind, incident.id(), incident.host, job, std::move(text)});
        step_.durable = true;
    }
    void note_host(NoteKind kind, std::string host, std::string text) {
        step_.notes.push_back({now, kind, {}, std::move(host), 0, std::move(text)});
    }
    void emit(const Action& action) {
        step_.actions.push_back(action);
        step_.durable = true;
    }
    void refuse(base::Code code, std::string text) { step_.refused = base::Error{code, std::move(text)}; }
    void changed() { step_.durable = true; }

private:
    Step& step_;
};

// facts.cpp: what events tell, taken into the state.
void take_report(Turn& turn, const Report& report);
void take_sweep(Turn& turn, const FabricReport& report);
void take_snapshot(Turn& turn, const RmSnapshot& snapshot);
void take_units(Turn& turn, const std::map<std::string, std::string>& units);

// node_loss.cpp
void check_silence(Turn& turn); // every host
void keep_grace(Turn& turn);    // at a Tick: after a pause of this daemon nobody is suspected for a while
void give_grace(Turn& turn);

// findings.cpp
void judge(Turn& turn, const std::string& name); // opens or strengthens the host's incident as findings ask
std::vector<const Finding*>
leave_findings(const State& state,
               const HostState& host); // that count, ask to leave it, and no person overruled
bool holds_finding(const HostState& host, std::string_view key);
// Lost, or a finding that counts asks to leave it; what a person overruled apart.
bool fault_holds(const State& state, const HostState& host);
bool is_faulty(const State& state, const HostState& host); // the same whoever overruled it

// file_doubt.cpp: whether most hosts fit their fabric file; an incident while they do not.
void check_files(Turn& turn);

// recovery.cpp
Incident& open_incident(Turn& turn, IncidentKind kind, Phase phase, std::string host, std::string what,
                        base::Time fault);
void begin_recovery(Turn& turn, Incident& incident); // a fault was found, or a graver one: tells and acts
bool advance(Turn& turn, Incident& incident);        // false: it is over and may be forgotten
void advance_all(Turn& turn);

// culprit.cpp
void keep_out(Turn& turn, Incident& incident); // drains or sets down the culprit, or tells once why not
bool host_in_flight(const State& state, std::string_view host); // an action on it is under way
bool kept_out(const State& state, std::string_view host); // by a drain, anyone's, that stands or is under way
bool kept_clear(const State& state, std::string_view host); // out of use as a fault asks, and free of jobs

// exclusions.cpp
// What the job's requeue is to exclude for its culprit; remembers it as ours.
std::vector<std::string> exclusion_of(Turn& turn, JobState& job, const std::string& host);
void tend_exclusions(Turn& turn); // after a snapshot
void exclude_before_resume(Turn& turn, Incident& incident);
bool job_in_flight(const State& state, std::uint32_t job); // an action on it is under way
std::string exclusion_overtaken(const State& state, const Action& action);

// jobs.cpp
void gather_jobs(Turn& turn,
                 Incident& incident); // adds jobs that the fault hurts, weighs anew those left alone
void uncount_requeue(Turn& turn, Incident& incident, const Action& action); // it was overtaken
base::Time save_deadline(const JobState& job, base::Time now, const Policy& policy);
void settle_jobs(Turn& turn, Incident& incident); // sees which run again
void learn_commit(JobState& job, const Commit& commit);
void refresh_interval(JobState& job, const Policy& policy);

// bounds.cpp: why the host may not be drained now; none: it may.
struct Bound {
    std::string_view key; // of railyard.conf(5)
    std::string why;
};
std::optional<Bound> drain_bound(const Turn& turn, const HostState& host);

// intents.cpp
void give(Turn& turn, Incident& incident, Action action);
void take_outcome(Turn& turn, const ActionDone& done);
void doubt_given(Turn& turn); // after a restart of the daemon
void reconcile(Turn& turn);   // settles doubtful intents by the snapshot just taken
void retry_waiting(Turn& turn, bool all_now);

// operator.cpp
void operator_drain(Turn& turn, const OperatorDrain& wish);
void operator_resume(Turn& turn, const OperatorResume& wish);

// Whose decision keeps the host out of use: ours by its tag, or another's, which is neither undone nor
// overwritten. A host that is down by the resource manager's own judgement is neither.
inline bool ours(const HostState& host) {
    return host.node && (host.node->drain || host.node->down) && !owner_of(host.node->reason).empty();
}
inline bool anothers(const HostState& host) {
    return host.node && (host.node->drain || (host.node->down && !host.node->automatic)) &&
           owner_of(host.node->reason).empty();
}

// Whether the resource manager or the fabric does not hear it.
inline bool unheard(const HostState& host) {
    return host.mute_since || host.dark_since;
}

inline bool has_name(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}
inline void add_name(std::vector<std::string>& names, std::string_view name) {
    if (!has_name(names, name)) names.emplace_back(name);
}

// Lost, and no person has put it back into use all the same.
inline bool gone(const HostState& host) {
    return host.lost && !has_name(host.pardoned, lost_key);
}

// "rule@component", by which findings are told apart.
inline std::string key_of(const Finding& finding) {
    return finding.rule + '@' + finding.component;
}

// Text from outside as it may stand in state, notes and reasons: printable ASCII, at most `most` bytes.
std::string printable(std::string_view text, std::size_t most = 1024);

} // namespace restart
