// The shell around restart::step: passes it events one at a time, its results to the store, performs its
// actions and applies their outcomes. Errands for others (reading the queue, a comment) are done between two
// actions.
//
// Threads and order. Callers (HTTP workers), a ticker and the resource manager's thread each apply events
// under one mutex, which is never held while waiting for a disk: the store's thread takes what has changed
// and writes it, and one for other files (driver_files.cpp) may wait for storage that hangs. Only the
// resource manager's thread calls the resource manager, one call at a time, and applies the result before the
// next call, so outcomes and snapshots arrive in the order in which they happened there. An action reaches
// that thread only after the transaction that holds its intent was committed. While the journal cannot be
// written (disk full) events are still accepted, but no action is performed: everything waits in memory and
// is written as soon as possible.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/file.hpp"
#include "base/window.hpp"
#include "restart/core/facts/event.hpp"
#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"
#include "restart/core/step.hpp"
#include "restart/core/store/event_log.hpp"
#include "restart/daemon/dispatcher.hpp"
#include "restart/daemon/fabric_file.hpp"
#include "restart/daemon/health_writer.hpp"
#include "restart/daemon/metrics.hpp"
#include "restart/daemon/rm_users.hpp"
#include "restart/daemon/store.hpp"
#include "restart/rm/rm.hpp"
#include "restart/wire/rates.hpp"
#include "restart/wire/report.hpp"
#include "restart/wire/status.hpp"
#include "sched/placing.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace restart {

// The site's programs for repairs; empty: none.
struct RepairPrograms {
    std::string gpu_reset, power_cycle;
    base::Duration limit = std::chrono::minutes(5);
    std::string check{};
    base::Duration check_limit = std::chrono::minutes(30);
};

struct DriverOptions {
    Policy policy;
    base::Duration poll{1'000}; // between two readings of the resource manager
    base::Duration tick{200};
    base::Duration save{10'000};  // between two writings of a state changed only by reports
    std::filesystem::path fabric; // fabric.json: units; read again when it changes
    std::filesystem::path health; // written for placement; empty: none
    bool explain_pending = true;  // why_writer.hpp
    bool leaves_small = true;     // single-host jobs ([placement] pack)
    double spare_risk = 0;        // of the hosts kept free for restarts (sched/ask/spare_floor.hpp)
    base::Duration repair_time{};
    base::Duration keep_history{}; // of notes; zero: for ever
    std::vector<base::Window> maintenance;
    std::uint64_t keep_events = 0;   // bytes of step()'s input and output; at the start
    std::function<bool()> may_act{}; // called before each action: whether only this restartd acts
    PrimaryStatus primary{};
    RepairPrograms programs{};
};

// What a look at the driver shows in addition to its state.
struct DriverStatus {
    base::Time now{};
    Policy policy;
    std::filesystem::path journal;
    std::string journal_error; // empty while it can be written
    std::string fabric_error;
    bool explain_pending = true;
    PrimaryStatus primary;
    std::vector<std::string> unknown_hosts; // that reported lately and were refused by name, sorted
    std::optional<SpareStatus> spares{};    // none: no fabric file was read
};

class Driver {
public:
    // Continues from the journal's state. Errors: the journal cannot be read, or holds a state that cannot be
    // understood (the text names the file, the field and the fix).
    static base::Expected<std::unique_ptr<Driver>> make(Journal journal, ResourceManager& rm,
                                                        Metrics& metrics, DriverOptions options);
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;
    ~Driver();

    void start();
    // Ends the threads and writes the state. False when the resource manager's thread, or the one for files,
    // is still inside a call after `patience`: then the process can only be ended; the effect of that call is
    // settled at the next start.
    bool stop(base::Duration patience);
    // New options for everything from the next event on.
    void reload(DriverOptions options);

    // The following for any thread.

    // How often it has ticked; constant when the driver hangs.
    std::uint64_t ticks() const { return ticks_; }

    // Errors: Code::denied for a host that is not known, Code::unavailable before the hosts are known.
    base::Expected<Reply> report(const Report& report);
    void sweep(const FabricReport& report);
    // The incident's id. Errors: step's refusal (not_found, unfit, denied), Code::unavailable when the
    // journal cannot be written.
    base::Expected<std::string> drain(const std::string& host, const std::string& reason,
                                      const std::string& user);
    base::Expected<std::string> resume(const std::string& host, const std::string& user);
    // Errors: step's refusal (not_found, input, unfit), Code::unavailable when the journal cannot be written.
    base::Expected<void> pause(const OperatorPause& request);
    base::Expected<void> go(const OperatorGo& request);

    // look(f): f(const State&, const DriverStatus&) with the state locked; keep it short.
    template <class Look> auto look(Look look) {
        const std::lock_guard lock(mutex_);
        return look(std::as_const(state_), status());
    }
    base::Expected<std::vector<Note>> notes(const NoteFilter& filter);
    base::Expected<std::vector<StoredAction>> intents(const std::string& incident, const View& view = {});
    void update_gauges(); // driver_gauges.cpp
    // The user the resource manager runs as; none until it has answered.
    std::optional<std::uint32_t> rm_owner();
    // What it hides from its users, as last read, possibly before a restart; none until it was.
    std::optional<RmPrivacy> privacy();
    // What its accounting grants (rm_users.hpp); none: no answer within `patience`.
    std::optional<RmUser> rm_user(std::uint32_t uid, const std::string& name, base::Duration patience);

    // Reads the resource manager now, so that the state is no older than the request. Requests in the
    // meantime share the next reading, with a pause between two. Returns whether it answered within
    // `patience`.
    bool refresh(base::Duration patience);
    // The fabric as last read, for placement; null until it was.
    std::shared_ptr<const sched::Placing> placing();
    // The body of GET /v1/map; null until the fabric file was read.
    std::shared_ptr<const std::string> fabric_map();
    // The queue, no older than the request; shared, with pauses, in the same way. Errors: Code::unavailable
    // when the resource manager does not answer within `patience`.
    base::Expected<std::shared_ptr<const RmQueue>> queue(base::Duration patience);
    // ResourceManager::write_why. Errors: also Code::unavailable after `patience`; it may be done later then.
    base::Expected<void> write_why(base::JobId job, const std::string& text, base::Duration patience);

private:
    Driver(Journal journal, std::optional<State> state, ResourceManager& rm, Metrics& metrics,
           DriverOptions options);

    using Steady = std::chrono::steady_clock::time_point; // when to act: not affected by setting the clock

    // All with mutex_ held.
    std::optional<base::Error> apply(const Event& event);
    void collect(Step& step, const Event& event);
    void begin_events(bool continues);
    void settle_intents(const Event& event);
    void count(std::uint64_t first_incident);
    DriverStatus status() const;
    void keep_unknown(const std::string& host);

    base::Expected<std::string> wish(const Event& event);
    // The store's callbacks.
    Record take_unsaved();
    void written(const Record& record, const std::optional<base::Error>& error);

    void run_ticker(const std::stop_token& stop);
    Steady read_at() const; // when the resource manager is read next
    bool read_due() const;
    void run_rm(const std::stop_token& stop);
    bool may_act() const { return !options_.may_act || options_.may_act(); } // with mutex_ held
    void take_due();                                                         // of later_; with mutex_ held
    void perform_one(std::unique_lock<std::mutex>& lock);
    void read_rm(std::unique_lock<std::mutex>& lock);
    void dispatch(std::unique_lock<std::mutex>& lock);
    base::Expected<RmQueue> read_queue(ResourceManager& rm);                   // without mutex_
    void run_asker(const std::stop_token& stop);                               // driver_ask.cpp
    void run_programs(const std::stop_token& stop, std::deque<Action>& queue); // driver_programs.cpp
    void warn_of_missing_parts();
    // driver_files.cpp
    void run_files(const std::stop_token& stop);
    // For as long as storage usually takes, because it may hang.
    void wait_for_files();
    void look_at_files();            // again
    std::string files_error() const; // with mutex_ held
    void load_fabric();
    void write_health();
    base::SavedMap saved_jobs();
    void look_at_windows(); // with mutex_ held
    void log_witnesses();   // with mutex_ held
    base::HealthMap weak_hosts();
    std::optional<base::SpareFloor> learn_spares(); // for placement

    // A call of the resource manager with a waiting caller. It owns what it uses, because the caller may be
    // gone.
    struct Errand {
        std::function<void(ResourceManager&)> call;
        bool done = false;
    };
    base::Expected<RmUser> ask_user(const std::string& name, base::Duration patience);
    // Whether it was done within `patience`.
    bool run_errand(std::function<void(ResourceManager&)> call, base::Duration patience);

    std::mutex mutex_;
    std::condition_variable_any wake_; // of the resource manager's thread
    std::condition_variable_any ended_;
    State state_;
    StateRows rows_; // of the state, as the store has them
    ResourceManager& rm_;
    Metrics& metrics_;
    DriverOptions options_;

    Record unsaved_; // except for its rows and events
    EventWriter events_;
    std::shared_ptr<const State> events_began_; // with this state, and not written at all yet
    bool events_continue_ = true;
    std::string journal_error_;
    std::map<std::string, base::Time> unknown_hosts_; // by name, when each last reported
    std::set<std::string> pending_;                   // intents that the journal holds as pending

    std::map<std::string, Steady, std::less<>> asked_; // silent hosts, and when each was last asked

    std::deque<Action> queue_;                    // committed, to be performed
    std::deque<std::pair<Steady, Action>> later_; // committed, and not ready yet: tried again then
    std::deque<Action> programs_;                 // committed, for programs of the site
    std::deque<Action> checks_;                   // the same, those that take long and do nothing to a host
    std::deque<std::shared_ptr<Errand>> errands_;
    std::condition_variable_any progress_; // of the resource manager's thread: an errand done, a reading
    std::uint64_t reads_wanted_ = 0;       // by refresh(); a reading satisfies requests made before it began
    std::uint64_t reads_met_ = 0;
    Steady next_read_{};
    Steady read_began_{}; // the last
    Steady rested_{};     // when it may be read again for readers
    std::uint32_t failed_reads_ = 0;
    std::optional<std::uint32_t> rm_owner_;
    Steady started_{};
    Dispatcher dispatcher_;        // used only by the resource manager's thread
    std::string dispatch_error_;   // as last logged
    std::string logged_witnesses_; // as last logged
    std::optional<RmConfig> logged_config_;
    bool rm_ended_ = true;

    FabricFile fabric_; // used only by the files' thread
    std::string fabric_error_;
    bool files_wanted_ = false; // read even if nothing has changed
    bool files_ended_ = true;
    std::uint64_t files_looks_ = 0;
    std::optional<Steady> files_began_; // the look under way
    std::shared_ptr<const sched::Placing> placing_;
    std::shared_ptr<const std::string> map_; // of the same file
    std::optional<SpareStatus> spares_;

    std::timed_mutex queue_mutex_; // protects what follows; held while the queue is read
    std::shared_ptr<const RmQueue> rm_queue_;
    Steady queue_began_{};
    Steady queue_rested_{};

    RmUsers rm_users_;

    HealthWriter health_; // used only by the files' thread
    std::atomic<std::uint64_t> ticks_ = 0;

    Store store_;
    std::array<std::jthread, 2> askers_;          // this many hosts are asked in parallel
    std::array<std::jthread, 4> program_threads_; // half of them for checks
    std::jthread ticker_;
    std::jthread files_thread_;
    std::jthread rm_thread_;
};

} // namespace restart
