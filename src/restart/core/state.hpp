// All that restartd knows and intends: a plain value that step() moves along and the journal keeps.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/core/incident.hpp"
#include "restart/core/rm_snapshot.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// Stands for the loss of the host among findings.
inline constexpr std::string_view lost_key = "lost";

struct HostState {
    std::string unit;                      // from the fabric file; empty when it is not there
    std::optional<RmNode> node;            // as last read; absent when the resource manager does not know it
    std::optional<base::Time> last_report; // by the daemon's clock; absent: the agent was never heard
    std::string boot_id;
    std::uint32_t generation = 0;  // of its agent: how often it was rebooted or came back from a loss
    std::vector<Finding> findings; // what holds now, by the agent
    // In spite of what a person has put the host back into use: "rule@component", or lost_key. While it holds
    // it is that person's decision.
    std::vector<std::string> pardoned;
    std::vector<std::string> not_watching;
    std::string fabric;                   // digest of the fabric file its agent has read
    HostLinks links;                      // in the last complete sweep; 0/0 when all its links are up
    std::optional<base::Time> dark_since; // all its links are down since
    std::optional<base::Time> mute_since; // not responding to, or down in, the resource manager since
    bool lost = false;                    // confirmed; until its agent reports again
    bool unsure = false;  // lost by the word of the resource manager alone, whose network the reports share
    bool doubted = false; // a suspicion was dropped; until its agent reports only a sure witness counts
    std::vector<base::Time> faults; // when its incidents were closed, of the last 30 days (health.hpp)
    bool operator==(const HostState&) const = default;
};

struct JobState {
    RmJob rm;                         // as last read
    bool speaks = false;              // a process of it talks to an agent in this epoch
    std::optional<Commit> commit;     // the newest, of any epoch
    std::chrono::microseconds cost{}; // measured blocking cost of a checkpoint; 0 until a commit was seen
    base::Duration interval{};        // between two checkpoints, as it is told
    std::vector<std::string> ran_on;  // the nodes of its latest start,
    std::uint32_t ran_epoch = 0;      // which start that was,
    base::Time ran_since{};           // when it began
    std::optional<base::Time> left;   // and when it was first seen to have left them
    std::map<std::string, base::Time> shed; // nodes it goes on without (sbatch --no-kill), and since when
    std::uint32_t requeues = 0;             // by us
    std::uint32_t fruitless = 0;            // of them in a row without progress in its checkpoints
    std::optional<std::uint32_t> requeued_epoch; // the start we last requeued it from
    std::vector<std::string> hurt_by;            // hosts it was moved away from, while their fault holds
    std::vector<std::string> kept_off;           // of rm.excluded what is ours
    bool operator==(const JobState&) const = default;
};

// What a fabric file's word is worth, of which agents say that they have read it.
struct FileWord {
    std::uint32_t unfit = 0; // hosts that lack what it lists
    base::Time since{};      // so many since then
    bool believed = false;
    bool operator==(const FileWord&) const = default;
};

struct State {
    std::map<std::string, HostState, std::less<>> hosts;
    std::map<std::uint32_t, JobState> jobs;      // not ended, in the resource manager
    std::map<std::uint64_t, Incident> incidents; // open, by number
    std::uint64_t next_incident = 1;
    base::Time last_tick{};
    base::Time grace_from{};               // no silence counts that began before,
    base::Time grace_until{};              // and no host is suspected before
    std::map<std::string, FileWord> files; // by digest (file_doubt.hpp)
    bool rm_answers = true;
    std::optional<base::Time> rm_read;   // when the resource manager was last read
    std::optional<base::Time> swept;     // when the last complete sweep of the fabric came
    std::optional<RmConfig> rm_config;   // none until it was read
    bool operator==(const State&) const = default;

    // The state as one JSON text and back. Errors (Code::input) name the field.
    std::string to_json() const;
    static base::Expected<State> from_json(std::string_view text);

    // Whether reports of this host are believed: the resource manager or the fabric names it.
    bool knows_host(std::string_view name) const;

    // The job with this id, or the heterogeneous job with a component of this id; null when there is none.
    const JobState* find_job(std::uint32_t id) const;

    // The open incident whose culprit is the host; null when there is none.
    const Incident* incident_of(std::string_view host) const;
};

// Hosts that Railyard's drains keep out of use, by the tags in their reasons and by drains under way.
std::size_t drained_by_us(const State& state);

} // namespace restart
