// Periodic tasks, run in turn by one thread, so that on an idle host the process wakes once per interval for
// all of them.
//
// A task that hangs, as in a driver, blocks its thread. relieve() then starts another thread for the rest,
// and the first one ends once its task returns: there is one thread, plus one for each hanging task. The
// caller of relieve() polls watchdog(), which becomes readable when this is needed and causes no wake-ups
// before.
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

// Thread-safe.
class TaskLoop {
public:
    using Clock = std::chrono::steady_clock;
    // Returns when it is due again. Never run by two threads at a time. It may hang, and then outlive the
    // loop: it must own what it uses (shared pointers).
    using Work = std::function<Clock::time_point()>;

    class Task;

    // `patience`: a task that takes longer no longer blocks the others.
    explicit TaskLoop(base::Duration patience);
    TaskLoop(const TaskLoop&) = delete;
    TaskLoop& operator=(const TaskLoop&) = delete;
    // Starts no more tasks; running ones have one second in total to return.
    ~TaskLoop();

    // Due at once. Of tasks due at the same time the one added first runs first.
    [[nodiscard]] Task add(Work work);

    // Readable while a task takes longer than the patience.
    int watchdog() const;
    // Starts another thread if needed. Never waits.
    void relieve();

    // Number of threads; at most one of them does not hang.
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

// A task's handle: the task is not started again after its destruction.
class TaskLoop::Task {
public:
    Task() = default;
    Task(Task&&) noexcept = default;
    Task& operator=(Task&& other) noexcept;
    ~Task() { remove(); }

    // Makes it due at this time, or earlier if it already was; if it is running, after that run.
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

// When a task with this interval is due next: at multiples of it since the start of the process, so that
// those of several tasks coincide.
TaskLoop::Clock::time_point next_beat(base::Duration interval);

} // namespace restart
