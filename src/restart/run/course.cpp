#include "restart/run/course.hpp"

#include "base/hostlist.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace restart::run {
namespace {

constexpr base::Duration look_pause{200}; // between two looks at the allocation

bool ends_us(int number) {
    return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT;
}

std::string list(const std::set<std::string>& hosts) {
    return base::fold_hostlist({hosts.begin(), hosts.end()});
}

} // namespace

std::vector<Command> Course::on(const Event& event, base::Time now) {
    now_ = now;
    commands_.clear();
    if (phase_ == Phase::over) return {};
    std::visit([&](const auto& what) { take(what); }, event);
    return std::exchange(commands_, {});
}

JobRun Course::run() const {
    return {launch_, base::fold_hostlist(seats_.ranks), base::fold_hostlist(seats_.spares),
            phase_ == Phase::settling};
}

void Course::exit(int status) {
    phase_ = Phase::over;
    commands_.emplace_back(Exit{status});
}

void Course::take(const Ended& ended) {
    status_ = ended.status;
    ended_by_us_ = phase_ == Phase::ending;
    phase_ = Phase::settling;
    since_ = now_;
    looked_ = allocation_known_ = false;
    gone_since_.reset();
    if (stopped_by_) return exit(ended.status);
    last_look_ = now_;
    commands_.emplace_back(Look{});
}

void Course::take(const Looked& looked) {
    looked_ = true;
    allocation_known_ = looked.allocation.has_value();
    if (looked.allocation) allocation_ = *looked.allocation;
    seen_ = looked.newest;
    if (phase_ == Phase::settling) return decide();
    const auto gone = allocation_known_ ? missing(seats_.ranks, allocation_) : std::set<std::string>();
    if (phase_ == Phase::running && !gone.empty())
        begin_ending(list(gone) + " lost, and restartd is not heard: the step ends here", true);
}

void Course::take(const Advised& advised) {
    advice_ = advised.advice;
    if (!advice_ || !advice_->order || advice_->order->launch != launch_) return;
    if (advice_->order->hosts == refused_) return;
    order_ = advice_->order;
    if (phase_ == Phase::running)
        return begin_ending(
            fmt::format("{}: the step ends here and starts again on {}", order_->incident, order_->hosts),
            order_->lost);
    lost_ = lost_ || order_->lost;
    if (phase_ == Phase::settling && looked_) decide();
}

void Course::begin_ending(const std::string& why, bool lost) {
    phase_ = Phase::ending;
    since_ = now_;
    lost_ = lost;
    commands_.emplace_back(Say{why});
    commands_.emplace_back(End{false});
}

void Course::take(const Signalled& signalled) {
    const bool child = phase_ == Phase::running || phase_ == Phase::ending;
    if (child && !signalled.reached_child) commands_.emplace_back(Forward{signalled.number});
    if (!ends_us(signalled.number)) return;
    stopped_by_ = signalled.number;
    if (!child) exit(status_ && *status_ != 0 ? *status_ : 128 + signalled.number);
}

void Course::take(const Passed&) {
    switch (phase_) {
    case Phase::ending:
        if (now_ - since_ < (lost_ ? rules_.lost_grace : rules_.end_grace)) return;
        since_ = now_;
        commands_.emplace_back(Say{"the step does not end: it is killed"});
        commands_.emplace_back(End{true});
        return;
    case Phase::settling:
        if (now_ - last_look_ >= look_pause) {
            last_look_ = now_;
            commands_.emplace_back(Look{});
        }
        return;
    case Phase::requeue: return wait_for_requeue();
    case Phase::running:
        if (last_look_ == base::Time{}) last_look_ = now_; // the first launch
        if (!heard() && now_ - std::max(last_look_, since_) >= rules_.unheard_look) {
            last_look_ = now_;
            commands_.emplace_back(Look{});
        }
        return;
    case Phase::over: return;
    }
}

void Course::decide() {
    const auto gone = allocation_known_ ? missing(seats_.ranks, allocation_) : std::set<std::string>();
    // A launch that ended successfully on its own needs no order; one that we ended may also return 0.
    if (*status_ == 0 && !ended_by_us_ && allocation_known_ && gone.empty()) return exit(0);
    if (order_) {
        auto ranks = base::expand_hostlist(order_->hosts);
        auto left = left_;
        if (ranks)
            for (const auto& host : seats_.ranks)
                if (std::find(ranks->begin(), ranks->end(), host) == ranks->end()) left.insert(host);
        auto seats =
            ranks ? with_ranks(*std::move(ranks), allocation_, left) : base::Expected<Seats>(ranks.error());
        if (seats && seats->ranks.size() != seats_.ranks.size())
            seats = base::Error{base::Code::input, "the number of hosts is another"};
        if (seats) {
            left_ = std::move(left);
            return start_again(*std::move(seats), order_->incident);
        }
        commands_.emplace_back(
            Say{fmt::format("{}: {}: {}", order_->incident, order_->hosts, seats.error().text)});
        refused_ = order_->hosts;
        order_.reset();
    }
    if (!gone.empty()) return follow_loss(gone);
    if (*status_ != 0 || ended_by_us_) return follow_failure();
    // Wait for Slurm to confirm that no host is lost; an unreachable controller does not end a step.
    if (now_ - since_ >= rules_.settle) exit(0);
}

void Course::follow_loss(const std::set<std::string>& gone) {
    if (!gone_since_) {
        gone_since_ = now_;
        commands_.emplace_back(Say{fmt::format("{} {} lost", list(gone), gone.size() == 1 ? "is" : "are")});
    }
    if (now_ - *gone_since_ < (heard()   ? rules_.order_wait
                               : advice_ ? rules_.unheard_wait
                                         : base::Duration{}))
        return;
    auto left = left_;
    left.insert(gone.begin(), gone.end());
    // A spare that was lost as well cannot be used.
    for (const auto& host : missing(seats_.spares, allocation_))
        left.insert(host);
    auto seats = without(seats_, left);
    if (!seats) return give_up(seats.error().text, true);
    left_ = std::move(left);
    start_again(*std::move(seats), list(gone) + " lost");
}

void Course::follow_failure() {
    const auto waited = now_ - since_;
    if (advice_ && (waited < rules_.settle || (advice_->suspected && waited < rules_.suspicion_most))) return;
    exit(failure());
}

void Course::start_again(Seats seats, const std::string& why) {
    if (rules_.max_restarts && launch_ >= *rules_.max_restarts)
        return give_up(fmt::format("the step was started again {} times (--max-restarts)", launch_), false);
    futile_ = seen_ && newest_ == seen_ ? futile_ + 1 : 0;
    if (futile_ >= rules_.most_futile)
        return give_up(fmt::format("{} launches in a row made no newer checkpoint", futile_), false);
    newest_ = seen_;
    seats_ = std::move(seats);
    ++launch_;
    order_.reset();
    refused_.clear();
    phase_ = Phase::running;
    since_ = now_;
    commands_.emplace_back(
        Say{fmt::format("launch {} on {} ({})", launch_, base::fold_hostlist(seats_.ranks), why)});
    commands_.emplace_back(Launch{seats_});
}

void Course::give_up(const std::string& why, bool requeue) {
    phase_ = Phase::requeue;
    since_ = now_;
    may_requeue_ = requeue && rules_.may_requeue;
    commands_.emplace_back(Say{why + ": the job is left to restartd"});
    commands_.emplace_back(Over{});
}

void Course::wait_for_requeue() {
    const auto waited = now_ - since_;
    if (requeued_ ? waited < rules_.requeued_wait : advice_ && waited < rules_.requeue_wait) return;
    if (requeued_ || !may_requeue_) return exit(failure());
    requeued_ = true;
    since_ = now_;
    commands_.emplace_back(Say{"restartd does not requeue the job: it is requeued from here"});
    commands_.emplace_back(Requeue{});
}

} // namespace restart::run
