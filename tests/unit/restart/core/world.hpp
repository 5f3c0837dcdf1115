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
    ~World(); // in one place: it takes the better part of a second to compile, with sanitizers

    restart::Policy policy;

    // Each host has `rails` ports mlx5_0:1 … and unit su2's rail 3 meets in leaf su2r3; `spines` above all.
    void wire_up(int rails, int spines = 4);
    void find_port(const std::string& host, int rail, const std::string& rule = "ib.link_down");
    void clear_port(const std::string& host, int rail); // what was found there
    void sweep(const std::vector<restart::DownLink>& down, bool complete = true);

    // A running job with --restart=auto unless told otherwise.
    base::JobId submit(const std::vector<std::string>& nodes, std::optional<bool> restart = true);

    void run(double seconds);                    // time passes: heartbeats, sweeps, snapshots, ticks
    void send(const restart::Event& event);      // one event now
    void deliver(const restart::Report& report); // an agent's, and the reply to it
    void restart_daemon(); // with the state from its JSON; actions not performed are forgotten

    // Faults. A dead host stops reporting and the resource manager stops hearing it after `heard_for`
    // seconds.
    void power_off(const std::string& host, double heard_for = 1.0);
    void rm_sets_down(const std::string& host); // as SlurmdTimeout does
    void shut_down(const std::string& host) {   // in order: its agent says so, then it is off
        restart::Report last;
        last.host = host;
        last.boot_id = "b-" + host;
        last.leaving = true;
        deliver(last);
        power_off(host);
    }
    void switch_on(const std::string& host) { // with a new boot id
        auto& one = hosts_.at(host);
        ++one.boots;
        one.agent = true;
        one.dead = one.node.not_responding = false;
        one.mute_at.reset();
    }
    void set_away(const std::string& host, bool away); // powered down as planned, or back
    void add_silent_host(const std::string& host);     // with no agent
    void sleep(double seconds); // the daemon stands still; may be negative: the clock is set back
    // Whether its reports arrive, and whether it answers the resource manager, which takes a host back that
    // it has set down by itself.
    void set_heard(const std::string& host, bool reports, bool answers);
    void stop_agent(const std::string& host);
    void start_agent(const std::string& host);
    void find(const std::string& host, restart::Severity severity,
              const std::string& rule = "gpu.throttle.hw_power_brake", const std::string& fault = "");
    void clear(const std::string& host);
    void reads_file(const std::string& host, const std::string& digest); // its agent, a fabric file
    void commit(base::JobId job, std::uint64_t step, double cost_s = 0.5);
    void person_drains(const std::string& host, const std::string& reason = "fan");
    void person_resumes(const std::string& host);

    // Gangs, as under LSF (world_gangs.cpp): one waits in queue "gang" and is started, once it was moved to
    // "gangrun", on the hosts it was given, if all of them are free.
    base::JobId submit_gang(std::uint32_t hosts);
    void plan(base::JobId job, const std::vector<std::string>& hosts); // by the dispatcher
    double gang_start_delay = 1;
    // A starter keeps the job's processes on the host until it is told to end them; why it was.
    void keep(const std::string& host, base::JobId job, restart::Kept how) {
        hosts_.at(host).kept[job] = how;
    }
    void release(const std::string& host, base::JobId job) { hosts_.at(host).kept.erase(job); }
    std::map<std::string, std::vector<std::string>> told_to_end;

    // Idle checks (world_idle_checks.cpp): all hosts are idle for them until one tries them.
    void allow_idle_checks(base::Duration every, std::uint64_t max_at_once);
    std::vector<base::JobId> idle_checks() const; // their jobs, in the order of the hosts
    // From its host, of its gpu3, of which 3000 GB/s are expected.
    void tell_idle_check(base::JobId job, restart::CheckVerdict verdict, double value = 900);
    void end_idle_check(base::JobId job);   // by itself
    std::optional<base::Error> check_error; // they are refused so
    bool lose_ends = false;                 // they go on although they were ended

    // What to do with actions.
    bool rm_answers = true; // false: every action and snapshot fails with unavailable
    bool perform = true;    // false: actions are lost, as when the daemon is killed before it performs them
    bool report_outcomes = true; // false: they are done, but the daemon is killed before it hears so
    bool never_restart = false;  // requeued jobs stay pending
    double end_delay = 0.25;     // until a requeued job's processes have ended
    double start_delay = 1.0;    // from then to running, when it may begin
    bool mute_jobs = false;      // jobs do not speak to their agents
    base::Duration beat{250};    // of the simulation; heartbeats and snapshots come every fourth
    // Takes reports instead of step(), which get there when it sends them.
    std::function<void(const restart::Report&)> carrier;
    unsigned round_trip = 0; // every so many steps, also step from the state's JSON: the same must come out
    std::optional<restart::RmConfig> config; // of the resource manager, as it tells
    // Repairs: what mends a host's faults, and whether it boots at all. A program that fails says so.
    // Agents look at others when they are asked to, except the old ones, and see this; at once where
    // something answers, else after their limit.
    bool peers_look = false;
    std::vector<restart::PortName> port_names; // what agents say that the fabric file calls otherwise
    std::set<std::string> old_agents;
    std::function<base::Knocked(const std::string& peer, const std::string& host)> sees;
    std::map<std::string, std::uint64_t> looked_at; // how often each was
    std::map<std::string, restart::Rung> mended_by;
    std::set<std::string> never_boots;
    double boot_time = 60;
    std::optional<base::Error> program_error;
    std::optional<base::Error> check_verdict; // of check_program: Code::unfit finds a host bad
    void boot(const std::string& host);       // it comes back with a new boot id after boot_time
    void end_boot(const std::string& host);   // now, if it boots
    bool autosave = true;                     // jobs answer save_by with a commit after their cost

    // The job runs under railrun, submitted with --no-kill: its last nodes are spares. It follows orders
    // after a moment, or does not.
    void run_inside(base::JobId job, std::size_t spares);
    void end_railrun(base::JobId job);
    bool follows_orders = true;
    const restart::JobRun& run_of(base::JobId job) { return *jobs_.at(job).run; }

    restart::RmNode& node(const std::string& host) { return hosts_.at(host).node; }
    restart::RmJob& job(base::JobId id) { return jobs_.at(id).rm; }
    double interval_of(base::JobId id) const { return base::to_seconds(state_.jobs.at(id).interval); }
    bool is_held(base::JobId id) const { return jobs_.at(id).held; }
    bool has_job(base::JobId id) const { return jobs_.contains(id); }
    void end_job(base::JobId id) { jobs_.erase(id); }
    void fail_launch(base::JobId id); // the resource manager requeues and holds it
    // By itself; the resource manager remembers it. `signalled`: or by a person's signal, it does not say.
    void fail_job(base::JobId id, std::uint32_t code, bool signalled = false);
    // With success, as its script has it; the resource manager remembers it.
    void complete_job(base::JobId id, bool step_failed = false);
    // It has ended and the resource manager has no record of it any more; `failure`: how it ended, as far as
    // that is known.
    void forget_job(base::JobId id, restart::RmFailure failure, restart::Forgotten how = {});
    // Until it says so: LSF shows a job that may only be on its way back for so long, and requeues nothing
    // then.
    double failure_settles = 0;

    const restart::State& state() const { return state_; }
    base::Time now() const { return now_; }
    double seconds() const { return base::to_seconds(now_ - start_); }

    std::function<void(const restart::Event&, const restart::Step&)>
        recorded; // called with each event and what came of it, before any of that is performed
    std::function<void(const restart::Action&)>
        watch;                                        // called with each action, on the state that decided it
    std::function<void(const restart::Action&)> done; // and with each that is performed
    std::set<std::string> drained_by_person;          // and not resumed since

    std::vector<restart::Action> actions; // all that were emitted
    std::vector<restart::Note> notes;
    std::optional<base::Error> refused; // by the last event
    std::vector<std::string> performed; // by the resource manager, in words

    std::size_t count(restart::ActionKind kind) const;
    bool noted(std::string_view text) const; // a note that contains it
    std::string story() const;               // all notes, for failure messages

private:
    struct Host {
        std::map<base::JobId, restart::Kept> kept;
        restart::RmNode node;
        bool agent = true;
        unsigned boots = 0;
        std::optional<base::Time> boots_at; // it is back then
        std::optional<base::Time> mute_at;  // the resource manager loses it then
        bool dead = false;
        std::vector<restart::Finding> findings;
        std::string fabric;
        struct Seen {
            restart::Sight sight;
            base::Time ready{};
            bool said = false;
        };
        std::vector<Seen> seen;
    };
    struct Job {
        restart::RmJob rm;
        bool held = false;
        std::optional<restart::Commit> commit;
        std::optional<base::Time> ends_at;  // its processes have ended then
        bool begin_at_end = false;          // whether it was let begin before that
        std::optional<base::Time> fails_at; // its failure is told then
        std::uint32_t code = 0;
        bool signalled = false, step_failed = false;
        std::optional<base::Time> saves_at;
        std::optional<restart::JobRun> run;
        std::optional<restart::RunOrder> order;
        base::Time launches_at{};
        std::vector<std::string> given; // hosts, of a gang
        base::Time released_at{};       // a gang, likewise
    };

    void heartbeat(const std::string& name, Host& host);
    void look(const std::string& peer, Host& host, const std::vector<restart::LookRequest>& wanted);
    bool has_news(const Host& host) const; // that it says at once
    void snapshot();
    std::optional<base::Error> obey(const restart::Action& action);
    void end_jobs_on(const std::string& host);
    void requeue(Job& job);
    std::optional<base::Error> carry_out(const restart::DrainHost& action);
    std::optional<base::Error> carry_out(const restart::DownHost& action);
    std::optional<base::Error> carry_out(const restart::ResumeHost& action);
    std::optional<base::Error> carry_out(const restart::RequeueJob& action);
    std::optional<base::Error> carry_out(const restart::UpdateJob& action);
    std::optional<base::Error> carry_out(const restart::KeepOff& action);
    std::optional<base::Error> carry_out(const restart::NotifyJob& action);
    std::optional<base::Error> carry_out(const restart::RepairHost& action);
    std::optional<base::Error> carry_out(const restart::FreeHost& action);
    std::optional<base::Error> carry_out(const restart::PlaceJob& action);
    std::optional<base::Error> carry_out(const restart::ParkJob& action);
    std::optional<base::Error> carry_out(const restart::CheckHost& action);
    std::optional<base::Error> carry_out(const restart::EndCheck& action);
    std::optional<base::Error> carry_out(const restart::SubmitAgain& action);
    void schedule_gang(Job& job, std::set<std::string>& busy);
    void finish_boot(const std::string& name, Host& host);
    Job* find_job(base::JobId id);
    void exclude(Job& job, const std::vector<std::string>& hosts);
    void let_begin(Job& job);
    void settle(Job& job);
    void launch(Job& job);
    void schedule();

    std::map<std::string, Host> hosts_;
    restart::FabricLoaded fabric_;
    std::map<base::JobId, Job> jobs_;
    restart::State state_;
    base::Time start_, now_;
    unsigned steps_ = 0;
    std::uint32_t next_job_ = 1;
};
