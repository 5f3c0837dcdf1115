// One call of step() (step.hpp): its output, and what its parts share in the meantime: the state being
// changed, the time and the policy.
#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/utf8.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/core/facts/note.hpp"
#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

struct Step {
    State state;
    std::vector<Action> actions;        // to be performed in this order, after `state` was written
    std::vector<Note> notes;            // in order of time
    bool durable = false;               // incidents or intents changed: write the state before going on
    std::optional<base::Error> refused; // an operator's request that was refused, and why
};

// Internal to restart/core.
class StepContext {
public:
    StepContext(Step& step, base::Time at, const Policy& rules)
        : state(step.state), now(at), policy(rules), step_(step) {}

    State& state;
    const base::Time now;
    const Policy& policy;

    void note(NoteKind kind, const Incident& incident, std::optional<base::JobId> job, std::string text) {
        step_.notes.push_back({now, kind, incident.id(), incident.host, job, std::move(text),
                               job ? owner_in(incident, *job) : std::optional<JobOwner>()});
        step_.durable = true;
    }
    void note_host(NoteKind kind, std::string host, std::string text) {
        step_.notes.push_back({now, kind, {}, std::move(host), {}, std::move(text), {}});
    }
    void note_job(NoteKind kind, const RmJob& job, std::string text) {
        step_.notes.push_back({now, kind, {}, {}, job.id, std::move(text), owner_of(job)});
        step_.durable = true;
    }
    void alert(std::string text) {
        note_host(NoteKind::decision, {}, std::move(text));
        step_.notes.back().alert = true;
        changed();
    }
    void emit(const Action& action) {
        step_.actions.push_back(action);
        step_.durable = true;
    }
    void refuse(base::Code code, std::string text) { step_.refused = base::Error{code, std::move(text)}; }
    void changed() { step_.durable = true; }

    // The job's owner, also after it has ended. The incident's own record comes first because job numbers are
    // reused.
    std::optional<JobOwner> owner_in(const Incident& incident, base::JobId id) const {
        for (const auto& affected : incident.jobs)
            if (affected.id == id && affected.owner) return affected.owner;
        for (const auto& intent : incident.intents)
            if (const auto* job = target_of(intent.action); job != nullptr && job->id == id && job->owner)
                return job->owner;
        const auto* job = state.find_job(id);
        return job == nullptr ? std::optional<JobOwner>() : owner_of(job->rm);
    }

private:
    Step& step_;
};

Incident& open_incident(StepContext& ctx, IncidentKind kind, Phase phase, std::string host, std::string what,
                        base::Time fault);

inline bool has_name(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}
inline void add_name(std::vector<std::string>& names, std::string_view name) {
    if (!has_name(names, name)) names.emplace_back(name);
}

// "rule@component", which identifies a finding.
inline std::string key_of(const Finding& finding) {
    return finding.rule + '@' + finding.component;
}

// External text made safe for state, notes and reasons: printable ASCII, at most `most` bytes.
inline std::string state_text(std::string_view text, std::size_t most = 1024) {
    return base::printable(text, most);
}

} // namespace restart
