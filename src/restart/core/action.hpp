// What the daemon is to do to the resource manager. An action is an intent first: it is written to the
// journal with the state, then performed, then its outcome is told to step() as ActionDone.
//
// Each can be performed twice without harm: restart/rm looks before it acts (the reason's tag for hosts,
// the epoch for jobs), so that an action repeated after a crash does nothing more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

enum class ActionKind {
    drain_host,  // takes no new jobs; running ones go on
    down_host,   // the host is dead: its jobs end now. With `drain` it does not come back by itself
    resume_host, // undo our drain
    requeue_job, // back to pending, begin now, never on `exclude`; held there when `hold`
    update_job,  // a pending job: begin now, never on `exclude`
    keep_off,    // a pending job: never on `exclude`, on `readmit` again; nothing else of it changes
    tell_job     // its user, what becomes of it: `reason`
};
std::string_view to_string(ActionKind kind);

struct Action {
    std::string id; // "i-7/2": incident and number; stable over retries and restarts
    ActionKind kind = ActionKind::drain_host;
    std::string host;        // of the host actions; of requeue and update the culprit, no longer asked for
    std::string reason;      // of drain and down: starts with the owner's tag; of tell: the sentence
    bool drain = false;      // down_host
    std::uint32_t job = 0;   // of the job actions
    std::string job_name;    // as its user knows it (RmJob)
    std::uint32_t epoch = 0; // the start to end; a job that has begun a later one is left alone
    std::uint32_t generation = 0;     // of the host's agent (HostState) when this was decided
    std::vector<std::string> exclude; // added to what the user excluded
    std::vector<std::string> readmit; // taken out of it: hosts that we excluded before
    bool hold = false;                // requeue_job
    bool operator==(const Action&) const = default;
};

// "drain n003: railyard[i-7]: …", "requeue job 12 without n003": for logs and notes.
std::string describe(const Action& action);

// The owner's tag in front of a reason: "railyard[i-7]: text", "railyard[user:alice]: text".
std::string tagged(std::string_view owner, std::string_view text);

// The owner in a reason's tag ("i-7", "user:alice"), empty when the reason is not ours: then it is a
// person's or another program's and is never undone or overwritten.
std::string_view owner_of(std::string_view reason);

} // namespace restart
