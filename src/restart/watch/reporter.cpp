#include "restart/watch/reporter.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <random>

namespace restart {

using namespace std::chrono_literals;

base::Duration retry_delay(unsigned failures, base::Duration longest, double random) {
    const auto doubled = base::Duration(100ms) * (std::int64_t{1} << std::min(failures, 20U));
    const auto whole = static_cast<double>(std::min(doubled, longest).count());
    return base::Duration(static_cast<base::Duration::rep>(whole * (0.5 + random / 2)));
}

struct Reporter::Work {
    std::mutex mutex; // of what both sides touch
    std::condition_variable_any wake;
    std::optional<Report> waiting;
    std::optional<Delivery> next_delivery; // after a change of the target
    Delivery::Target target;
    std::shared_ptr<JobBook> book;

    // The thread's own.
    std::optional<Delivery> delivery;
    unsigned failures = 0;
    std::minstd_rand random{std::random_device{}()};

    void run(std::stop_token stop);
    bool deliver(const Report& report);
};

bool Reporter::Work::deliver(const Report& report) {
    const auto answer = delivery->post("/v1/report", report.to_json());
    if (!answer) return false;
    const auto reply = Reply::from_json(*answer);
    if (!reply) {
        if (failures == 0) base::log::error("restartd answers what is no reply: {}", reply.error().text);
        return false;
    }
    book->delivered(report.jobs, *reply);
    return true;
}

void Reporter::Work::run(std::stop_token stop) {
    while (!stop.stop_requested()) {
        std::optional<Report> report;
        {
            std::unique_lock lock(mutex);
            if (!wake.wait(lock, stop, [&] { return waiting.has_value(); })) return;
            std::swap(report, waiting);
            if (next_delivery) {
                delivery = std::move(next_delivery);
                next_delivery.reset();
            }
        }
        if (deliver(*report)) {
            failures = 0;
            continue;
        }
        {
            // Nothing is lost with it: a newer report says all that holds.
            const std::lock_guard lock(mutex);
            if (!waiting) waiting = std::move(report);
        }
        const auto fraction = std::uniform_real_distribution<double>(0, 1)(random);
        if (!pause(stop, retry_delay(failures++, longest_delay, fraction))) return;
    }
}

Reporter::Reporter(std::shared_ptr<Work> work)
    : work_(std::move(work)), thread_([shared = work_](std::stop_token stop) { shared->run(stop); }) {}

base::Expected<std::unique_ptr<Reporter>> Reporter::start(Delivery::Target target,
                                                          std::shared_ptr<JobBook> book) {
    auto delivery = Delivery::make(target);
    if (!delivery) return std::move(delivery).error();
    auto work = std::make_shared<Work>();
    work->target = std::move(target);
    work->next_delivery = *std::move(delivery);
    work->book = std::move(book);
    return std::unique_ptr<Reporter>(new Reporter(std::move(work)));
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
    const std::lock_guard lock(work_->mutex);
    work_->waiting = std::move(report);
    work_->wake.notify_one();
}

bool Reporter::flush(base::Duration longest) {
    const auto end = std::chrono::steady_clock::now() + longest;
    while (work_->book->undelivered() > 0) {
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(10ms);
    }
    return true;
}

} // namespace restart
