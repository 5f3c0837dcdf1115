// Tasks that are done again and again, in turn, by one thread, so that a host on which nothing happens is
// woken once an interval for all of them.
//
// A task that hangs, as in a driver, keeps the thread that does it. relieve() then starts another thread for
// the rest, and the first one ends once its task returns: there is one thread, and one more for each task
// that hangs. relieve() is for whoever looks at watchdog(), which becomes readable when it is needed and
// costs the process no wake-up before.
#pragma once

#include "base/clock.hpp"
#include "base/unique_fd.hpp"
#include "restart/watch/background.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace restart {

// For any thread.
class TaskLoop {
public:
    using Clock = std::chrono::steady_clock;
    // Returns when it is due again. Never run by two threads at a time. It may hang, and then outlive the
    // loop: it owns what it uses (shared pointers).
    using Work = std::function<Clock::time_point()>;

    class Task;

    // `patience`: a task that takes longer no longer holds up the others.
    explicit TaskLoop(base::Duration patience);
    TaskLoop(const TaskLoop&) = delete;
    TaskLoop& operator=(const TaskLoop&) = delete;
    // No task is begun any more; those that are being done have a second in all to return.
    ~TaskLoop();

    // Due at once. Of tasks that are due at the same time the one that was added first comes first.
    [[nodiscard]] Task add(Work work);

    // Readable while a task takes longer than the patience.
    int watchdog() const;
    // Starts another thread where one is needed. Never waits.
    void relieve();

    // Threads that are there, of which at most one does not hang.
    std::size_t threads();

private:
    struct Item;
    struct State;
    void start();
    void forget_ended();

    std::shared_ptr<State> state_; // shared with the threads, which may outlive us
    std::mutex mutex_;             // of the threads
    std::vector<std::unique_ptr<Background>> threads_;
};

// A task's place in the loop: it is no longer begun once this has gone.
class TaskLoop::Task {
public:
    Task() = default;
    Task(Task&&) noexcept = default;
    Task& operator=(Task&& other) noexcept;
    ~Task() { remove(); }

    // Due at this time, unless it is before; while it is being done, so soon after that.
    void by(Clock::time_point time);
    void now() { by(Clock::now()); }

private:
    friend TaskLoop;
    Task(std::shared_ptr<State> state, std::shared_ptr<Item> item)
        : state_(std::move(state)), item_(std::move(item)) {}
    void remove();

    std::shared_ptr<State> state_;
    std::shared_ptr<Item> item_;
};

// When a task of this interval is due again: at multiples of it since the process began, so that those of
// several tasks fall together.
TaskLoop::Clock::time_point next_beat(base::Duration interval);

} // namespace restart
