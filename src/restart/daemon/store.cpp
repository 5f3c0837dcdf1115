#include "restart/daemon/store.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <utility>

namespace restart {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto retry = std::chrono::seconds(1); // after a failure
constexpr auto forget_every = std::chrono::hours(1);

template <class T> void append(std::vector<T>& to, std::vector<T>&& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Later rows are appended: of a row that is there twice the later one counts.
void append(Record& to, Record&& from) {
    append(to.rows, std::move(from.rows));
    append(to.notes, std::move(from.notes));
    append(to.given, std::move(from.given));
    append(to.outcomes, std::move(from.outcomes));
    to.events = std::move(from.events); // if they cannot be written they are dropped
    to.began = std::move(from.began);
    to.continues = from.continues;
}

// The last of each key: a journal that cannot be written for a day holds no more than the state.
void keep_last(std::vector<StateRow>& rows) {
    std::map<std::string, std::string> last;
    for (auto& row : rows)
        last[std::move(row.key)] = std::move(row.json);
    rows.clear();
    for (auto& [key, json] : last)
        rows.push_back({key, std::move(json)});
}

} // namespace

Store::Store(Journal journal, Callbacks callbacks)
    : journal_(std::move(journal)), callbacks_(std::move(callbacks)) {}

void Store::start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Store::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
}

void Store::keep_history(base::Duration time) {
    const std::lock_guard lock(mutex_);
    keep_ = time;
}

void Store::write_soon() {
    write_within(base::Duration::zero());
}

void Store::write_within(base::Duration lazy) {
    const std::lock_guard lock(mutex_);
    const auto at = std::max<Steady>(Clock::now() + lazy, not_before_);
    if (due_ && *due_ <= at) return;
    due_ = at;
    wake_.notify_all();
}

void Store::settle(base::Duration longest) {
    std::unique_lock lock(mutex_);
    const bool due = due_ && *due_ <= Clock::now();
    const auto awaited = begun_ + (due ? 1 : 0);
    settled_.wait_for(lock, longest, [&] { return ended_ >= awaited; });
}

void Store::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        if (!due_)
            wake_.wait(lock, stop, [&] { return due_.has_value(); });
        else if (const auto until = *due_; until > Clock::now())
            wake_.wait_until(lock, stop, until, [&] { return due_ && *due_ < until; });
        else
            write_once(lock);
    }
    write_once(lock);
}

void Store::write_once(std::unique_lock<std::mutex>& lock) {
    due_.reset();
    ++begun_;
    const auto keep = keep_;
    lock.unlock();
    append(record_, callbacks_.take());
    std::optional<base::Error> error;
    // Nothing may be left of a refused record: it is still tested whether there is room.
    if (!record_.empty() || failing_)
        if (auto done = journal_.commit(record_, base::now()); !done) error = std::move(done).error();
    failing_ = error.has_value();
    callbacks_.written(record_, error);
    if (error) {
        keep_last(record_.rows);
        record_.events.clear();
        record_.began.reset();
    } else {
        record_ = {};
    }
    if (!error && keep > base::Duration::zero()) forget(keep);
    lock.lock();
    if (error) due_ = not_before_ = Clock::now() + retry;
    ++ended_;
    settled_.notify_all();
}

void Store::forget(base::Duration keep) {
    if (Clock::now() < next_forget_) return;
    const auto more = journal_.forget(base::now() - keep);
    if (!more) base::log::warning("{}; old notes stay for now", more.error().text);
    next_forget_ = Clock::now() + (more && *more ? std::chrono::seconds(1) : Clock::duration(forget_every));
}

} // namespace restart
