#include "restart/watch/task_loop.hpp"

#include <algorithm>
#include <condition_variable>
#include <optional>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utility>

namespace restart {
namespace {

using Clock = TaskLoop::Clock;

constexpr auto never = Clock::time_point::max();

} // namespace

TaskLoop::Clock::time_point next_beat(base::Duration interval) {
    static const auto first = Clock::now();
    const auto every = std::chrono::nanoseconds(std::max(interval, base::Duration(1)));
    return first + ((Clock::now() - first) / every + 1) * every;
}

struct TaskLoop::Item {
    Work work;
    Clock::time_point due;
    bool busy = false;
    Clock::time_point asked = never; // when to run again, as requested while it was busy
};

struct TaskLoop::State {
    base::Duration patience;
    base::UniqueFd watchdog;
    std::mutex mutex; // of the members below
    std::condition_variable wake;
    std::vector<std::shared_ptr<Item>> items;
    std::uint64_t turn = 0;                 // number of the active thread; earlier ones have been relieved
    std::optional<Clock::time_point> since; // when it started its current task
    bool stopping = false;

    explicit State(base::Duration longest)
        : patience(longest), watchdog(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

    void run(std::uint64_t mine);
    std::shared_ptr<Item> first_due() const;
    // Arms the watchdog, which becomes readable at this time; never: disarms it. Arming wakes no thread.
    void wake_watchdog(Clock::time_point at) const {
        itimerspec timer{};
        if (at != never) {
            const auto ns = std::chrono::nanoseconds(at.time_since_epoch()).count();
            timer.it_value = {ns / 1'000'000'000, ns % 1'000'000'000};
        }
        ::timerfd_settime(watchdog.get(), TFD_TIMER_ABSTIME, &timer, nullptr);
    }
};

// Null: all are running, or there are none.
std::shared_ptr<TaskLoop::Item> TaskLoop::State::first_due() const {
    std::shared_ptr<Item> first;
    for (const auto& item : items)
        if (!item->busy && (!first || item->due < first->due)) first = item;
    return first;
}

void TaskLoop::State::run(std::uint64_t mine) {
    std::unique_lock lock(mutex);
    while (!stopping && turn == mine) {
        auto item = first_due();
        if (!item || item->due > Clock::now()) {
            wake_watchdog(never);
            if (item && item->due != never)
                wake.wait_until(lock, item->due);
            else
                wake.wait(lock);
            continue;
        }
        item->busy = true;
        since = Clock::now();
        wake_watchdog(*since + patience);
        lock.unlock();
        const auto again = item->work();
        lock.lock();
        item->busy = false;
        item->due = std::min(again, std::exchange(item->asked, never));
        if (turn == mine)
            since.reset();
        else
            wake.notify_all(); // the task is runnable for the new thread
        lock.unlock();
        item.reset(); // with everything it owns, if it was removed in the meantime
        lock.lock();
    }
}

TaskLoop::TaskLoop(base::Duration patience) : state_(std::make_shared<State>(patience)) {
    const std::lock_guard lock(mutex_);
    start();
}

TaskLoop::~TaskLoop() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
    }
    state_->wake.notify_all();
    std::vector<std::unique_ptr<Background>> ending;
    {
        const std::lock_guard lock(mutex_);
        std::swap(ending, threads_);
    }
    for (const auto& thread : ending) // stop all first: they share the wait
        thread->stop();
}

// Requires the lock of the threads.
void TaskLoop::start() {
    std::uint64_t turn = 0;
    {
        const std::lock_guard lock(state_->mutex);
        turn = ++state_->turn;
        state_->since.reset();
    }
    threads_.push_back(
        std::make_unique<Background>([state = state_, turn](const std::stop_token&) { state->run(turn); }));
}

void TaskLoop::forget_ended() {
    std::erase_if(threads_, [](const auto& thread) { return thread->ended(); });
}

TaskLoop::Task TaskLoop::add(Work work) {
    auto item = std::make_shared<Item>(Item{std::move(work), Clock::now()});
    {
        const std::lock_guard lock(state_->mutex);
        state_->items.push_back(item);
    }
    state_->wake.notify_all();
    return {state_, std::move(item)};
}

int TaskLoop::watchdog() const {
    return state_->watchdog.get();
}

void TaskLoop::relieve() {
    const std::lock_guard lock(mutex_);
    {
        const std::lock_guard state_lock(state_->mutex);
        std::uint64_t expired = 0;
        [[maybe_unused]] const auto n = ::read(state_->watchdog.get(), &expired, sizeof expired);
        if (state_->stopping || !state_->since || Clock::now() - *state_->since < state_->patience) return;
    }
    forget_ended();
    start();
}

std::size_t TaskLoop::threads() {
    const std::lock_guard lock(mutex_);
    forget_ended();
    return threads_.size();
}

void TaskLoop::Task::by(Clock::time_point time) {
    if (!state_) return;
    {
        const std::lock_guard lock(state_->mutex);
        auto& due = item_->busy ? item_->asked : item_->due;
        if (due <= time) return;
        due = time;
    }
    state_->wake.notify_all();
}

TaskLoop::Task& TaskLoop::Task::operator=(Task&& other) noexcept {
    remove();
    state_ = std::move(other.state_);
    item_ = std::move(other.item_);
    return *this;
}

void TaskLoop::Task::remove() {
    if (!state_) return;
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->items, item_);
}

} // namespace restart
