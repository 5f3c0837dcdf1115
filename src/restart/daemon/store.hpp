// Writes the results of steps into the journal, on its own thread, so that a report never waits for a disk.
// What comes while one transaction is written goes into the next.
#pragma once

#include "base/clock.hpp"
#include "restart/daemon/journal.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace restart {

class Store {
public:
    // Both are called on the store's thread, without any lock of the store.
    struct Callbacks {
        std::function<Record()> take; // what to write now
        // It was written, or not, and why; then it is tried again, with what has come since, until it is. Its
        // actions may be performed from then on.
        std::function<void(const Record& record, const std::optional<base::Error>& error)> written;
    };
    Store(Journal journal, Callbacks callbacks);
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    ~Store() { stop(); }

    void start();
    // Writes what there is, once, and ends the thread.
    void stop();

    // For how long notes are kept; zero: for ever.
    void keep_history(base::Duration time);
    // How many bytes of events (Journal::keep_events); before start().
    void keep_events(std::uint64_t bytes) { journal_.keep_events(bytes); }

    // There is something to write: now, or within `lazy`.
    void write_soon();
    void write_within(base::Duration lazy);
    // Waits, at most `longest`, until what is due now was written or failed; not for what is due later, or
    // retried.
    void settle(base::Duration longest);

    // May be read by any thread.
    Journal& journal() { return journal_; }
    const Journal& journal() const { return journal_; }

private:
    using Steady = std::chrono::steady_clock::time_point;

    void run(const std::stop_token& stop);
    void forget(base::Duration keep);
    void write_once(std::unique_lock<std::mutex>& lock);

    Journal journal_; // written only by the thread
    Callbacks callbacks_;
    Record record_;        // of the thread: not yet on disk
    bool failing_ = false; // of the thread: the last commit failed
    Steady next_forget_{}; // of the thread

    std::mutex mutex_; // protects what follows
    std::condition_variable_any wake_, settled_;
    std::optional<Steady> due_; // none: nothing to write
    Steady not_before_{};       // after a failure
    base::Duration keep_{};
    std::uint64_t begun_ = 0; // writings
    std::uint64_t ended_ = 0;

    std::jthread thread_;
};

} // namespace restart
