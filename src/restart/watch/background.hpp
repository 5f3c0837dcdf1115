// A thread for work that can hang in a driver, and the mailbox for its results.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace restart {

// Runs `body` until it returns, which it should soon after its stop token is set. Destruction sets the token
// and waits for a second; a body that still hangs in the kernel is detached and ends with the process. The
// body must therefore own what it uses (shared pointers).
class Background {
public:
    explicit Background(std::function<void(std::stop_token)> body) : state_(std::make_shared<State>()) {
        thread_ = std::thread([state = state_, body = std::move(body)] {
            body(state->stop.get_token());
            const std::lock_guard lock(state->mutex);
            state->ended = true;
            state->end.notify_all();
        });
    }
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;
    ~Background() {
        stop();
        std::unique_lock lock(state_->mutex);
        const bool ended =
            state_->end.wait_until(lock, *stopped_ + std::chrono::seconds(1), [&] { return state_->ended; });
        lock.unlock();
        if (ended)
            thread_.join();
        else
            thread_.detach();
    }

    // True once the body has returned.
    bool ended() const {
        const std::lock_guard lock(state_->mutex);
        return state_->ended;
    }

    // Asks the body to return, without waiting: to end several, stop all of them before waiting for the
    // first, so that they share the second.
    void stop() {
        state_->stop.request_stop();
        if (!stopped_) stopped_ = std::chrono::steady_clock::now();
    }

private:
    struct State {
        std::stop_source stop;
        std::mutex mutex;
        std::condition_variable end;
        bool ended = false;
    };
    std::shared_ptr<State> state_;
    std::thread thread_;
    std::optional<std::chrono::steady_clock::time_point> stopped_;
};

// Sleeps; false if woken early by a stop request.
template <class Rep, class Period> bool pause(std::stop_token stop, std::chrono::duration<Rep, Period> time) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

// The newest value, with its number (from 1) and the time it arrived.
template <class T> class Latest {
public:
    struct Entry {
        T value;
        std::uint64_t number;
        std::chrono::steady_clock::time_point came;
    };
    void put(T value) {
        const std::lock_guard lock(mutex_);
        const auto next = entry_ ? entry_->number + 1 : 1;
        entry_.emplace(Entry{std::move(value), next, std::chrono::steady_clock::now()});
    }
    std::optional<Entry> get() const {
        const std::lock_guard lock(mutex_);
        return entry_;
    }

private:
    mutable std::mutex mutex_;
    std::optional<Entry> entry_;
};

} // namespace restart
