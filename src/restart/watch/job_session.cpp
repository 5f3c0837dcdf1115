#include "restart/watch/job_session.hpp"

namespace restart {

JobSession::JobSession(JobSession&& other) noexcept
    : book_(other.book_), uid_(other.uid_), job_(std::exchange(other.job_, std::nullopt)),
      errors_(other.errors_), news_(other.news_) {}

JobSession::~JobSession() {
    if (job_) book_->leave(*job_);
}

base::Expected<std::string> JobSession::hello(const JobHello& hello) {
    const JobKey job{hello.job, hello.epoch, uid_};
    if (job_ != job) {
        if (auto joined = book_->join(job); !joined) return std::move(joined).error();
        if (job_) book_->leave(*job_);
        job_ = job;
        news_ = true;
    }
    return hello_answer(book_->advice(job));
}

base::Expected<std::string> JobSession::perform(std::string_view line, base::Time now) {
    auto request = read_job_request(line);
    if (!request) return std::move(request).error();
    if (const auto* first = std::get_if<JobHello>(&*request)) return hello(*first);
    if (!job_) return base::Error{base::Code::input, "say hello first"};
    if (std::holds_alternative<JobDue>(*request)) return due_answer(book_->advice(*job_));
    auto& told = std::get<JobCommit>(*request);
    book_->commit(*job_, {told.step, std::move(told.path), now, told.cost_s, told.bytes});
    news_ = true;
    return commit_answer();
}

std::string JobSession::answer(std::string_view line, base::Time now) {
    auto answer = perform(line, now);
    if (answer) return *std::move(answer);
    ++errors_;
    return job_refusal(answer.error().text);
}

} // namespace restart
