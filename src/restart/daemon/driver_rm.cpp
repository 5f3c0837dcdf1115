// The driver's thread that calls the resource manager, one call at a time: actions, callers' errands, and
// readings.
#include "restart/daemon/driver.hpp"

#include "base/log.hpp"
#include "base/units.hpp"
#include "restart/core/act/act.hpp"
#include "restart/core/detect/witnesses.hpp"
#include "restart/core/facts/host_use.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace restart {
namespace {

namespace log = base::log;

constexpr base::Duration rest{200}; // at least, between two readings that callers request
constexpr base::Duration not_ready_pause{1'000};
constexpr base::Duration after_action{50}; // see soon what an action has changed
constexpr base::Duration slowest_read{5'000};

using Stopwatch = std::chrono::steady_clock;

double since(Stopwatch::time_point begin) {
    return std::chrono::duration<double>(Stopwatch::now() - begin).count();
}

// When the resource manager may be read again at callers' request, after a reading that began then: it is
// left to others for at least twice as long as the reading took.
Stopwatch::time_point after_rest(Stopwatch::time_point begin, base::Duration apart) {
    const auto now = Stopwatch::now();
    return now + std::max<Stopwatch::duration>(std::max(rest, apart), 2 * (now - begin));
}

} // namespace

// Callers' requests make it be read early, but not continuously.
Driver::Steady Driver::read_at() const {
    return reads_met_ < reads_wanted_ ? std::min(next_read_, rested_) : next_read_;
}

// The first ones postponed are the first to be tried again.
void Driver::take_due() {
    const auto now = Stopwatch::now();
    for (; !later_.empty() && later_.front().first <= now; later_.pop_front())
        queue_.push_back(std::move(later_.front().second));
}

bool Driver::read_due() const {
    return Stopwatch::now() >= read_at();
}

void Driver::run_rm(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        const auto until = later_.empty() ? read_at() : std::min(read_at(), later_.front().first);
        wake_.wait_until(lock, stop, until, [&] {
            return !queue_.empty() || !errands_.empty() || read_due() || read_at() < until;
        });
        if (stop.stop_requested()) break;
        take_due();
        if (!may_act()) { // another restartd may do what waits here: nothing more is begun
            wake_.wait_for(lock, stop, rest, [] { return false; });
        } else if (!queue_.empty()) {
            perform_one(lock);
        } else if (!errands_.empty()) {
            const auto errand = std::move(errands_.front());
            errands_.pop_front();
            lock.unlock();
            errand->call(rm_);
            lock.lock();
            errand->done = true;
            progress_.notify_all();
        } else if (read_due()) {
            read_rm(lock);
        }
    }
    rm_ended_ = true;
    ended_.notify_all();
}

void Driver::perform_one(std::unique_lock<std::mutex>& lock) {
    const auto action = std::move(queue_.front());
    queue_.pop_front();
    // The situation may have changed while it waited here or for the journal.
    if (const auto why = why_obsolete(state_, options_.policy, base::now(), action); !why.empty()) {
        metrics_.add(Metric::actions, {std::string(to_string(kind_of(action))), "overtaken"});
        apply(ActionDone{action.id, base::Error{base::Code::unfit, why}, true});
        return;
    }
    lock.unlock();
    const auto begin = Stopwatch::now();
    if (!rm_.is_ready(action)) {
        lock.lock();
        later_.emplace_back(Stopwatch::now() + not_ready_pause, action);
        return;
    }
    auto done = rm_.perform(action);
    const auto took = since(begin);
    lock.lock();
    metrics_.observe(Metric::action_seconds, took);
    metrics_.add(Metric::actions, {std::string(to_string(kind_of(action))),
                                   done ? "done" : std::string(base::to_string(done.error().code))});
    ActionDone event{action.id, {}, false, {}};
    if (!done) {
        // That the resource manager does not answer is logged once, by the first that finds it.
        if (done.error().code != base::Code::unavailable || state_.rm_answers)
            log::warning("{}: {}: {}", action.id, describe(action), done.error().text);
        event.error = std::move(done).error();
    }
    apply(event);
    next_read_ = std::min(next_read_, std::max(Steady(Stopwatch::now() + after_action),
                                               Steady(read_began_ + rm_.between_reads())));
}

void Driver::read_rm(std::unique_lock<std::mutex>& lock) {
    const bool ask_user = !rm_owner_;
    const auto met = reads_wanted_;
    const auto begin = Stopwatch::now();
    lock.unlock();
    auto snapshot = rm_.read();
    const auto user = snapshot && ask_user ? rm_.owner() : std::optional<std::uint32_t>();
    lock.lock();
    reads_met_ = met;
    read_began_ = begin;
    rested_ = after_rest(begin, rm_.between_reads());
    if (user) {
        rm_owner_ = user;
        if (::geteuid() != 0 && ::geteuid() != *user)
            log::warning("running as user {}, neither root nor the resource manager's ({}): drains and "
                         "requeues will be refused",
                         ::geteuid(), *user);
    }
    metrics_.add(Metric::rm_polls, {snapshot ? "done" : std::string(base::to_string(snapshot.error().code))});
    if (snapshot) {
        failed_reads_ = 0;
        apply(RmRead{*std::move(snapshot)});
        log_witnesses();
        warn_of_missing_parts();
        progress_.notify_all();
        next_read_ = Stopwatch::now() + options_.poll;
        dispatch(lock);
        return;
    }
    if (failed_reads_ == 0) log::warning("{}", snapshot.error().text);
    apply(RmUnavailable{snapshot.error().text});
    progress_.notify_all();
    const auto wait = options_.poll * (1 << std::min(failed_reads_, 8U));
    next_read_ = Stopwatch::now() + std::max(options_.poll, std::min(wait, slowest_read));
    ++failed_reads_;
}

// With the health of hosts as placement uses it.
base::Expected<RmQueue> Driver::read_queue(ResourceManager& rm) {
    auto queue = rm.queue();
    if (!queue) return queue;
    const auto weak = weak_hosts();
    for (auto& node : queue->nodes)
        if (const auto found = weak.find(node.name); found != weak.end()) node.health = found->second.health;
    const std::lock_guard lock(mutex_);
    for (auto& node : queue->nodes)
        if (const auto found = state_.hosts.find(node.name); found != state_.hosts.end())
            node.heard = is_heard(found->second, base::now(), options_.policy.silent);
    queue->leaves_small = !rm.places_gangs() && options_.leaves_small;
    return queue;
}

// Right after a reading, which it uses for placement.
void Driver::dispatch(std::unique_lock<std::mutex>& lock) {
    if (!rm_.places_gangs() || !placing_) return;
    const auto facts = dispatch_facts(state_, options_.policy, base::now());
    if (std::none_of(facts.gangs.begin(), facts.gangs.end(),
                     [](const auto& gang) { return gang.second.may_plan; }))
        return;
    const auto placing = placing_;
    lock.unlock();
    const auto queue = read_queue(rm_);
    auto planned =
        queue ? dispatcher_.pass(*queue, facts, *placing) : base::Expected<GangsPlanned>(queue.error());
    lock.lock();
    const auto error = planned ? std::string() : planned.error().text;
    if (error != dispatch_error_ && !error.empty()) log::warning("no gang is placed: {}", error);
    dispatch_error_ = error;
    if (planned && !planned->gangs.empty()) apply(*std::move(planned));
}

// At the first reading, and when they change. At first, the lack of a quick one is logged as a warning only
// after the others had time to report.
void Driver::log_witnesses() {
    const auto witnesses = witnesses_of(state_, options_.policy, base::now());
    const bool settled = Stopwatch::now() - started_ > std::chrono::minutes(1);
    auto now = fmt::format("{} {} {}", witnesses.fabric, witnesses.slow && settled,
                           witnesses.declares_down_after.value_or(base::Duration(-1)).count());
    if (now == std::exchange(logged_witnesses_, now)) return;
    const auto text =
        fmt::format("witnesses of the loss of a host: {}", fmt::join(sentences(witnesses), "; "));
    if (witnesses.slow && settled)
        log::warning(
            "{}; none of them is quick: a host whose agent falls silent may be called lost only then", text);
    else
        log::info("{}", text);
}

// At start, and when it changes.
void Driver::warn_of_missing_parts() {
    if (!state_.rm_config || logged_config_ == state_.rm_config) return;
    const auto& missing = state_.rm_config->missing;
    for (const auto& part : missing)
        log::warning("installed half: {}", part);
    if (missing.empty() && logged_config_ && !logged_config_->missing.empty())
        log::info("{} is configured with all parts of Railyard now", options_.policy.words.controller);
    logged_config_ = state_.rm_config;
}

bool Driver::run_errand(std::function<void(ResourceManager&)> call, base::Duration patience) {
    auto errand = std::make_shared<Errand>();
    errand->call = std::move(call);
    std::unique_lock lock(mutex_);
    if (rm_ended_) return false;
    errands_.push_back(errand);
    wake_.notify_all();
    if (progress_.wait_for(lock, patience, [&] { return errand->done; })) return true;
    std::erase(errands_, errand);
    return false;
}

bool Driver::refresh(base::Duration patience) {
    std::unique_lock lock(mutex_);
    if (rm_ended_) return false;
    const auto mine = ++reads_wanted_;
    wake_.notify_all();
    return progress_.wait_for(lock, patience, [&] { return reads_met_ >= mine; }) && state_.rm_answers;
}

base::Expected<std::shared_ptr<const RmQueue>> Driver::queue(base::Duration patience) {
    const auto asked = Stopwatch::now();
    const base::Error away{base::Code::unavailable, "the resource manager does not answer"};
    const std::unique_lock reading(queue_mutex_, patience);
    if (!reading) return away;
    if (rm_queue_ && queue_began_ >= asked) return rm_queue_;
    std::this_thread::sleep_until(std::min(queue_rested_, Steady(asked + patience)));
    queue_began_ = Stopwatch::now();
    if (rm_.places_gangs() && !refresh(patience)) return away;
    const auto read = std::make_shared<base::Expected<RmQueue>>(base::Error{});
    const bool answered = run_errand([this, read](ResourceManager& rm) { *read = read_queue(rm); }, patience);
    queue_rested_ = after_rest(queue_began_, rm_.between_reads());
    if (!answered) return away;
    if (!*read) return std::move(*read).error();
    rm_queue_ = std::make_shared<const RmQueue>(*std::move(*read));
    return rm_queue_;
}

base::Expected<RmUser> Driver::ask_user(const std::string& name, base::Duration patience) {
    const auto read = std::make_shared<base::Expected<RmUser>>(RmUser());
    if (!run_errand([read, name](ResourceManager& rm) { *read = rm.user(name); }, patience))
        return base::Error{base::Code::unavailable, "the resource manager does not answer"};
    return *read;
}

base::Expected<void> Driver::write_why(base::JobId job, const std::string& text, base::Duration patience) {
    const auto done = std::make_shared<base::Expected<void>>();
    if (!run_errand([done, job, text](ResourceManager& rm) { *done = rm.write_why(job, text); }, patience))
        return base::Error{base::Code::unavailable, "the resource manager does not answer"};
    return *done;
}

} // namespace restart
