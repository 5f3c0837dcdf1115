// The shell around restart::step: feeds it events one at a time, hands what it leaves behind to the store,
// performs its actions and applies their outcomes. Errands for others (what the queue is, a comment) are done
// between two actions.
//
// Threads and order. Callers (HTTP workers), a ticker and the resource manager's thread each apply events
// under one mutex, under which nobody waits for a disk: the store's thread takes what has changed and writes
// it. Only the resource manager's thread talks to the resource manager, one call at a time, and applies the result
// before the next call, so outcomes and snapshots arrive in the order in which they happened there.
// An action reaches that thread only after the transaction that holds its intent was committed. While the
// journal cannot be written (disk full) events are still taken, but no action is performed: everything waits
// in memory and is written as soon as it can be.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/file.hpp"
#include "restart/core/event.hpp"
#include "restart/core/policy.hpp"
#include "restart/core/state.hpp"
#include "restart/core/step.hpp"
#include "restart/daemon/fabric_file.hpp"
#include "restart/daemon/health_writer.hpp"
#include "restart/daemon/metrics.hpp"
#include "restart/daemon/store.hpp"
#include "restart/rm/rm.hpp"
#include "restart/wire/report.hpp"
#include "sched/placing.hpp"

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

struct DriverOptions {
    Policy policy;
    base::Duration poll{1'000}; // between two readings of the resource manager
    base::Duration tick{200};
    base::Duration save{10'000};  // between two writings of a state that only saw reports
    std::filesystem::path fabric; // fabric.json: units; read again when it changes
    std::filesystem::path health; // written for placement; empty: none
    bool explain_pending = true;  // why_writer.hpp
    double spare_risk = 0;        // of the hosts kept free for restarts (sched/spare_floor.hpp)
    base::Duration repair_time{};
    base::Duration keep_history{}; // of notes; zero: for ever
};

// What a look at the driver shows beside its state.
struct DriverStatus {
    base::Time now{};
    Policy policy;
    std::filesystem::path journal;
    std::string journal_error; // empty while it can be written
    std::string fabric_error;
    bool explain_pending = true;
};

class Driver {
public:
    // Goes on from the journal's state. Errors: the journal cannot be read, or holds a state that cannot be
    // understood (the text names the file, the field and the way out).
    static base::Expected<std::unique_ptr<Driver>> make(Journal journal, ResourceManager& rm,
                                                        Metrics& metrics, DriverOptions options);
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;
    ~Driver();

    void start();
    // Ends the threads and writes the state. False when the resource manager's thread is still inside a call
    // after `patience`: then only ending the process is left; what that call does is settled at the next
    // start.
    bool stop(base::Duration patience);
    // New options for everything from the next event on.
    void reload(DriverOptions options);

    // From here on for any thread.

    // Errors: Code::denied for a host that is not known, Code::unavailable before the hosts are known.
    base::Expected<Reply> report(const Report& report);
    void sweep(const FabricReport& report);
    // The incident's id. Errors: step's refusal (not_found, unfit, denied), Code::unavailable when the
    // journal cannot be written.
    base::Expected<std::string> drain(const std::string& host, const std::string& reason,
                                      const std::string& user);
    base::Expected<std::string> resume(const std::string& host, const std::string& user);

    // look(f): f(const State&, const DriverStatus&) with the state held still; keep it short.
    template <class Look> auto look(Look look) {
        const std::lock_guard lock(mutex_);
        return look(std::as_const(state_), status());
    }
    base::Expected<std::vector<Note>> notes(const NoteFilter& filter);
    base::Expected<std::vector<StoredAction>> intents(const std::string& incident);
    void update_gauges();
    // The user the resource manager runs as; none until it has answered.
    std::optional<std::uint32_t> rm_owner();

    // Reads the resource manager now, so that the state is no older than the question. Whether it answered
    // within `patience`.
    bool refresh(base::Duration patience);
    // The fabric as last read, to place on; null until it was.
    std::shared_ptr<const sched::Placing> placing();
    // The queue as it is now. Errors: Code::unavailable when the resource manager does not answer within
    // `patience`.
    base::Expected<RmQueue> queue(base::Duration patience);
    // ResourceManager::tell_why. Errors: also Code::unavailable after `patience`; it may be done later then.
    base::Expected<void> tell_why(std::uint32_t job, const std::string& text, base::Duration patience);

private:
    Driver(Journal journal, std::optional<State> state, ResourceManager& rm, Metrics& metrics, DriverOptions options);

    using Steady = std::chrono::steady_clock::time_point; // when to act: not moved by a clock that is set

    // All with mutex_ held.
    std::optional<base::Error> apply(const Event& event);
    void collect(Step& step, const Event& event);
    void settle_intents(const Event& event);
    void count(std::uint64_t first_incident);
    DriverStatus status() const;

    base::Expected<std::string> wish(const Event& event);
    // The store's callbacks.
    Record take_unsaved();
    void written(const Record& record, const std::optional<base::Error>& error);

    void run_ticker(const std::stop_token& stop);
    bool read_due() const;
    void run_rm(const std::stop_token& stop);
    void perform_one(std::unique_lock<std::mutex>& lock);
    void read_rm(std::unique_lock<std::mutex>& lock);
    void warn_of_missing_parts();
    void load_fabric();
    void tell_health();
    void tell_witnesses(); // with mutex_ held
    base::HealthMap weak_hosts();

    // A call of the resource manager that somebody waits for. It owns what it touches, for whoever waits may
    // have gone.
    struct Errand {
        std::function<void(ResourceManager&)> call;
        bool done = false;
    };
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

    Record unsaved_; // but for its rows
    std::string journal_error_;
    std::set<std::string> pending_; // intents that the journal holds as pending

    std::deque<Action> queue_; // committed, to be performed
    std::deque<std::shared_ptr<Errand>> errands_;
    std::condition_variable_any progress_; // of the resource manager's thread: an errand done, a reading
    std::uint64_t reads_wanted_ = 0;       // by refresh(); a reading meets those that came before it began
    std::uint64_t reads_met_ = 0;
    Steady next_read_{};
    std::uint32_t failed_reads_ = 0;
    std::optional<std::uint32_t> rm_owner_;
    Steady started_{};
    std::string witnesses_told_; // as they were when they were last logged
    std::optional<RmConfig> told_config_;
    bool rm_ended_ = true;

    FabricFile fabric_;
    std::string fabric_error_;
    std::shared_ptr<const sched::Placing> placing_;

    HealthWriter health_; // only the ticker's

    Store store_;
    std::jthread ticker_;
    std::jthread rm_thread_;
};

} // namespace restart
