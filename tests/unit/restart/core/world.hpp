// A simulated cluster around restart::step: hosts with agents, a resource manager that requeues, a clock.
// Tests break it and look at what was done.
#pragma once

#include "restart/core/step.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

class World {
public:
    // Hosts n001 … in units of `per_unit`, all idle, agents reporting each second.
    explicit World(std::size_t hosts, std::size_t per_unit = 8);

    restart::Policy policy;

    // A running job with --restart=auto unless told otherwise.
    std::uint32_t submit(const std::vector<std::string>& nodes, std::optional<bool> restart = true);

    void run(double seconds);               // time passes: heartbeats, sweeps, snapshots, ticks
    void tell(const restart::Event& event); // one event now
    void restart_daemon(); // with the state from its JSON; actions not performed are forgotten

    // Faults. A dead host stops reporting and the resource manager stops hearing it after `heard_for`
    // seconds.
    void power_off(const std::string& host, double heard_for = 1.0);
    void rm_sets_down(const std::string& host);    // as SlurmdTimeout does
    void add_silent_host(const std::string& host); // with no agent
    void sleep(double seconds); // the daemon stands still; may be negative: the clock is set back
    void stop_agent(const std::string& host);
    void start_agent(const std::string& host);
    void find(const std::string& host, restart::Severity severity,
              const std::string& rule = "gpu.throttle.hw_power_brake");
    void clear(const std::string& host);
    void reads_file(const std::string& host, const std::string& digest); // its agent, a fabric file
    void commit(std::uint32_t job, std::uint64_t step, double cost_s = 0.5);
    void person_drains(const std::string& host, const std::string& reason = "fan");
    void person_resumes(const std::string& host);

    // What to do with actions.
    bool rm_answers = true; // false: every action and snapshot fails with unavailable
    bool perform = true;    // false: actions are lost, as when the daemon is killed before it performs them
    bool report_outcomes = true; // false: they are done, but the daemon is killed before it hears so
    bool never_restart = false;  // requeued jobs stay pending
    double end_delay = 0.25;     // until a requeued job's processes have ended
    double start_delay = 1.0;    // from then to running, when it may begin
    bool mute_jobs = false;      // jobs do not speak to their agents
    unsigned round_trip = 0; // every so many steps, also step from the state's JSON: the same must come out
    std::optional<restart::RmConfig> config; // of the resource manager, as it tells
    bool autosave = true;                    // jobs answer save_by with a commit after their cost

    restart::RmNode& node(const std::string& host) { return hosts_.at(host).node; }
    restart::RmJob& job(std::uint32_t id) { return jobs_.at(id).rm; }
    double interval_of(std::uint32_t id) const { return base::to_seconds(state_.jobs.at(id).interval); }
    bool has_job(std::uint32_t id) const { return jobs_.contains(id); }
    void end_job(std::uint32_t id) { jobs_.erase(id); }

    const restart::State& state() const { return state_; }
    base::Time now() const { return now_; }
    double seconds() const { return base::to_seconds(now_ - start_); }

    std::function<void(const restart::Action&)>
        watch;                               // called with each action, on the state that decided it
    std::function<void(const restart::Action&)> done; // and with each that is performed
    std::set<std::string> drained_by_person; // and not resumed since

    std::vector<restart::Action> actions; // all that were emitted
    std::vector<restart::Note> notes;
    std::optional<base::Error> refused; // by the last event
    std::vector<std::string> performed; // by the resource manager, in words

    std::size_t count(restart::ActionKind kind) const;
    bool noted(std::string_view text) const; // a note that contains it
    std::string story() const;               // all notes, for failure messages

private:
    struct Host {
        restart::RmNode node;
        bool agent = true;
        std::optional<base::Time> mute_at; // the resource manager loses it then
        bool dead = false;
        std::vector<restart::Finding> findings;
        std::string fabric;
    };
    struct Job {
        restart::RmJob rm;
        bool held = false;
        std::optional<restart::Commit> commit;
        std::optional<base::Time> ends_at; // its processes have ended then
        bool begin_at_end = false;         // whether it was let begin before that
        std::optional<base::Time> saves_at;
    };

    void heartbeat(const std::string& name, Host& host);
    void snapshot();
    std::optional<base::Error> obey(const restart::Action& action);
    void end_jobs_on(const std::string& host);
    void requeue(Job& job);
    void update(Job& job, const restart::Action& action);
    void settle(Job& job);
    void schedule();

    std::map<std::string, Host> hosts_;
    std::map<std::uint32_t, Job> jobs_;
    restart::State state_;
    base::Time start_, now_;
    unsigned steps_ = 0;
    std::uint32_t next_job_ = 1;
};
