#include "restart/watch/job_session.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart {
namespace {

namespace json = boost::json;

constexpr auto largest = std::numeric_limits<std::int64_t>::max();

json::object advice_body(const Advice& advice) {
    json::object body;
    body["interval_s"] = advice.interval_s ? json::value(*advice.interval_s) : json::value(nullptr);
    body["save_by"] = advice.save_by ? json::value(base::to_seconds(*advice.save_by)) : json::value(nullptr);
    body["incident"] = advice.incident ? json::value(json::string(*advice.incident)) : json::value(nullptr);
    return body;
}

// The bounds are those of a report (core/report.hpp): one commit that restartd would refuse must not take the
// host's whole report with it.
base::Expected<Commit> read_commit(const base::Reader& body, base::Time now) {
    Commit commit;
    const auto step = body.integer_in("step", 0, largest);
    if (!step) return step.error();
    const auto path = body.text("path");
    if (!path) return path.error();
    if (!path->starts_with('/') || path->size() > 4095)
        return body.error("path: must be absolute and at most 4095 bytes long");
    if (std::any_of(path->begin(), path->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
        return body.error("path: holds a control character");
    const auto cost = body.number("cost_s");
    if (!cost) return cost.error();
    if (*cost < 0 || *cost > 1e6) return body.error("cost_s: must be between 0 and 1000000 seconds");
    const auto bytes = body.integer_in("bytes", 0, largest);
    if (!bytes) return bytes.error();
    commit.step = static_cast<std::uint64_t>(*step);
    commit.path = *path;
    commit.committed = now;
    commit.cost_s = *cost;
    commit.bytes = static_cast<std::uint64_t>(*bytes);
    return commit;
}

} // namespace

JobSession::JobSession(JobSession&& other) noexcept
    : book_(other.book_), uid_(other.uid_), job_(std::exchange(other.job_, std::nullopt)),
      errors_(other.errors_), news_(other.news_) {}

JobSession::~JobSession() {
    if (job_) book_->leave(*job_);
}

base::Expected<std::string> JobSession::perform(std::string_view line, base::Time now) {
    const auto document = base::parse_json(line, 4);
    if (!document) return document.error();
    const base::Reader body(*document);
    const auto op = body.text("op");
    if (!op) return op.error();
    if (*op == "hello") {
        const auto id = body.integer_in("job", 1, std::numeric_limits<std::uint32_t>::max());
        if (!id) return id.error();
        const auto epoch = body.integer_in("epoch", 0, std::numeric_limits<std::uint32_t>::max());
        if (!epoch) return epoch.error();
        const JobKey job{static_cast<std::uint32_t>(*id), static_cast<std::uint32_t>(*epoch), uid_};
        if (job_ != job) {
            if (auto joined = book_->join(job); !joined) return std::move(joined).error();
            if (job_) book_->leave(*job_);
            job_ = job;
            news_ = true;
        }
        auto answer = advice_body(book_->advice(job));
        answer["ok"] = true;
        return base::to_text(answer);
    }
    if (*op != "due" && *op != "commit") return body.error("op: must be hello, due or commit");
    if (!job_) return body.error("say hello first");
    if (*op == "due") return base::to_text(advice_body(book_->advice(*job_)));
    auto commit = read_commit(body, now);
    if (!commit) return std::move(commit).error();
    book_->commit(*job_, *std::move(commit));
    news_ = true;
    return std::string(R"({"ok":true})");
}

std::string JobSession::answer(std::string_view line, base::Time now) {
    auto answer = perform(line, now);
    if (answer) return *std::move(answer) + '\n';
    ++errors_;
    json::object refusal;
    refusal["ok"] = false;
    refusal["error"] = answer.error().text;
    return base::to_text(refusal) + '\n';
}

} // namespace restart
