#include "restart/watch/reporter.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <random>
#include <thread>

namespace restart {

using namespace std::chrono_literals;

namespace {

constexpr unsigned unheard_after = 5; // attempts: some seconds

} // namespace

base::Duration retry_delay(unsigned failures, base::Duration longest, double random) {
    const auto doubled = base::Duration(100ms) * (std::int64_t{1} << std::min(failures, 20U));
    const auto whole = static_cast<double>(std::min(doubled, longest).count());
    return base::Duration(static_cast<base::Duration::rep>(whole * (0.5 + random / 2)));
}

struct Reporter::Work {
    std::mutex mutex; // of the members that both sides use
    std::optional<Report> waiting;
    std::optional<HostSignals> told;         // signals to send after a report
    std::uint64_t offered = 0, accepted = 0; // number offered; the last one that restartd accepted
    std::optional<Delivery> next_delivery;   // after a change of the target
    Delivery::Target target;
    std::shared_ptr<JobBook> book;
    std::shared_ptr<PeerLooker> looker;         // may be null
    std::function<void()> asked;                // may be empty
    std::function<void(const Reply&)> answered; // may be empty

    // Used by the task only.
    std::optional<Delivery> delivery;
    std::optional<Report> delivered; // the last report, if it succeeded
    unsigned failures = 0;
    TaskLoop::Clock::time_point retry{}; // not before
    std::minstd_rand random{std::random_device{}()};

    TaskLoop::Clock::time_point step();
    bool deliver(const Report& report);
    void deliver_signals();
};

bool Reporter::Work::deliver(const Report& report) {
    auto answer = delivered == report ? delivery->post("/v1/report", report_as_before)
                                      : base::Expected<std::string>(base::Error{base::Code::unfit, {}});
    if (!answer && answer.error().code == base::Code::unfit)
        answer = delivery->post("/v1/report", report.to_json());
    delivered.reset();
    if (!answer) return false;
    const auto reply = Reply::from_json(*answer);
    if (!reply) {
        if (failures == 0) base::log::error("restartd answers what is no reply: {}", reply.error().text);
        return false;
    }
    book->delivered(report.jobs, *reply);
    if (looker) looker->wanted(reply->looks);
    delivered = report;
    if (reply->tell && asked) asked();
    if (answered) answered(*reply);
    return true;
}

// Not retried: the requester asks again.
void Reporter::Work::deliver_signals() {
    std::optional<HostSignals> signals;
    {
        const std::lock_guard lock(mutex);
        std::swap(signals, told);
    }
    if (!signals) return;
    // The delivery logs errors.
    [[maybe_unused]] const auto answer = delivery->post("/v1/report/signals", signals->to_json());
}

TaskLoop::Clock::time_point Reporter::Work::step() {
    constexpr auto until_offered = TaskLoop::Clock::time_point::max();
    if (TaskLoop::Clock::now() < retry) return retry;
    std::optional<Report> report;
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(mutex);
        if (!waiting) return until_offered;
        std::swap(report, waiting);
        number = offered;
        if (next_delivery) {
            delivery = std::move(next_delivery);
            next_delivery.reset();
        }
    }
    if (deliver(*report)) {
        failures = 0;
        deliver_signals();
        const std::lock_guard lock(mutex);
        accepted = number;
        return until_offered;
    }
    {
        // Nothing is lost: a newer report contains all current findings.
        const std::lock_guard lock(mutex);
        if (!waiting) waiting = std::move(report);
    }
    if (failures >= unheard_after) book->unanswered();
    const auto fraction = std::uniform_real_distribution<double>(0, 1)(random);
    return retry = TaskLoop::Clock::now() + retry_delay(failures++, longest_delay, fraction);
}

Reporter::Reporter(TaskLoop& loop, std::shared_ptr<Work> work)
    : loop_(loop), work_(std::move(work)), task_(loop.add([shared = work_] { return shared->step(); })) {}

base::Expected<std::unique_ptr<Reporter>> Reporter::start(TaskLoop& loop, Delivery::Target target,
                                                          std::shared_ptr<JobBook> book,
                                                          std::shared_ptr<PeerLooker> looker,
                                                          std::function<void()> asked,
                                                          std::function<void(const Reply&)> answered) {
    auto delivery = Delivery::make(target);
    if (!delivery) return std::move(delivery).error();
    auto work = std::make_shared<Work>();
    work->target = std::move(target);
    work->next_delivery = *std::move(delivery);
    work->book = std::move(book);
    work->looker = std::move(looker);
    work->asked = std::move(asked);
    work->answered = std::move(answered);
    return std::unique_ptr<Reporter>(new Reporter(loop, std::move(work)));
}

base::Expected<void> Reporter::retarget(Delivery::Target target) {
    if (work_->target == target) return {};
    auto delivery = Delivery::make(target);
    if (!delivery) return std::move(delivery).error();
    work_->target = std::move(target);
    const std::lock_guard lock(work_->mutex);
    work_->next_delivery = *std::move(delivery);
    return {};
}

void Reporter::offer(Report report) {
    {
        const std::lock_guard lock(work_->mutex);
        work_->waiting = std::move(report);
        ++work_->offered;
    }
    task_.now();
}

void Reporter::tell(HostSignals signals) {
    const std::lock_guard lock(work_->mutex);
    work_->told = std::move(signals);
}

bool Reporter::flush(base::Duration longest) {
    const auto end = std::chrono::steady_clock::now() + longest;
    const auto known = [&] {
        const std::lock_guard lock(work_->mutex);
        return work_->accepted == work_->offered;
    };
    while (work_->book->undelivered() > 0 || !known()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(10ms);
        loop_.relieve();
    }
    return true;
}

} // namespace restart
