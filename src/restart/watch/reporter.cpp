#include "restart/watch/reporter.hpp"

#include "base/log.hpp"
#include "restart/daemon/http_client.hpp"

#include <algorithm>
#include <random>

namespace restart {

namespace log = base::log;
using namespace std::chrono_literals;

base::Duration retry_delay(unsigned failures, base::Duration longest, double random) {
    const auto doubled = base::Duration(100ms) * (std::int64_t{1} << std::min(failures, 20U));
    const auto whole = std::min(doubled, longest);
    return base::Duration(
        static_cast<base::Duration::rep>(static_cast<double>(whole.count()) * (0.5 + random / 2)));
}

struct Reporter::Work {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::optional<Report> waiting;
    Target target;
    bool retargeted = true;
    std::shared_ptr<JobBook> book;

    // The thread's own.
    std::optional<HttpClient> client;
    std::string url;
    std::string trouble = "not asked yet"; // what was last logged; empty: all is well
    unsigned failures = 0;
    std::minstd_rand random{std::random_device{}()};

    void run(std::stop_token stop);
    // A sentence when the report was not taken.
    std::optional<std::string> deliver(const Report& report);
    void tell(const std::optional<std::string>& failure);
};

std::optional<std::string> Reporter::Work::deliver(const Report& report) {
    const auto answer = client->request("POST", "/v1/report", report.to_json(), timeout);
    if (!answer) return answer.error().text;
    if (answer->status != 200)
        return fmt::format("{}: refuses reports: {} {}", url, answer->status, answer->body.substr(0, 300));
    const auto reply = Reply::from_json(answer->body);
    if (!reply) return fmt::format("{}: answers what is no reply: {}", url, reply.error().text);
    book->delivered(report.jobs, *reply);
    return std::nullopt;
}

// Logged on change: "timed out" after "connection refused" is the same trouble to a reader, a refusal is not.
void Reporter::Work::tell(const std::optional<std::string>& failure) {
    const std::string kind = !failure                                            ? ""
                             : failure->find("refuses reports") != failure->npos ? "refused"
                                                                                 : "unreachable";
    if (kind == trouble) return;
    if (!failure)
        log::info("reports to {}", url);
    else
        log::warning("{}; trying on", *failure);
    trouble = kind;
}

void Reporter::Work::run(std::stop_token stop) {
    while (!stop.stop_requested()) {
        std::optional<Report> report;
        {
            std::unique_lock lock(mutex);
            if (!wake.wait(lock, stop, [&] { return waiting.has_value(); })) return;
            std::swap(report, waiting);
            if (retargeted) {
                auto made =
                    HttpClient::make(target.url, MungeAuth(target.munge_socket)); // was checked in retarget
                if (made) client = *std::move(made);
                url = target.url;
                retargeted = false;
            }
        }
        const auto failure = deliver(*report);
        tell(failure);
        if (!failure) {
            failures = 0;
            continue;
        }
        {
            // Nothing is lost with it: a newer report says the same anew, but for the links.
            const std::lock_guard lock(mutex);
            if (!waiting)
                waiting = std::move(report);
            else if (!waiting->links)
                waiting->links = std::move(report->links);
        }
        const auto fraction = std::uniform_real_distribution<double>(0, 1)(random);
        if (!pause(stop, retry_delay(failures++, longest_delay, fraction))) return;
    }
}

Reporter::Reporter(std::shared_ptr<Work> work)
    : work_(std::move(work)), thread_([shared = work_](std::stop_token stop) { shared->run(stop); }) {}

base::Expected<std::unique_ptr<Reporter>> Reporter::start(Target target, std::shared_ptr<JobBook> book) {
    if (auto made = HttpClient::make(target.url); !made) return std::move(made).error();
    auto work = std::make_shared<Work>();
    work->target = std::move(target);
    work->book = std::move(book);
    return std::unique_ptr<Reporter>(new Reporter(std::move(work)));
}

base::Expected<void> Reporter::retarget(Target target) {
    if (auto made = HttpClient::make(target.url); !made) return std::move(made).error();
    const std::lock_guard lock(work_->mutex);
    if (work_->target == target) return {};
    work_->target = std::move(target);
    work_->retargeted = true;
    return {};
}

void Reporter::offer(Report report) {
    const std::lock_guard lock(work_->mutex);
    if (work_->waiting && work_->waiting->links && !report.links)
        report.links = std::move(work_->waiting->links);
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
