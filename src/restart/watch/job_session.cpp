#include "restart/watch/job_session.hpp"

#include <unistd.h>

namespace restart {

JobSession::JobSession(JobSession&& other) noexcept
    : book_(other.book_), ucx_(other.ucx_), uid_(other.uid_), job_(std::exchange(other.job_, std::nullopt)),
      holder_(std::exchange(other.holder_, 0)), kept_(std::exchange(other.kept_, Kept::no)),
      preflight_(std::exchange(other.preflight_, false)), speaker_(std::exchange(other.speaker_, 0)),
      port_(std::move(other.port_)), errors_(other.errors_), news_(other.news_) {}

JobSession::~JobSession() {
    leave();
    if (speaker_ != 0) ucx_->leave(speaker_);
}

void JobSession::leave() {
    if (!job_) return;
    if (preflight_) book_->end_preflight(*job_);
    preflight_ = false;
    if (holder_ != 0) static_cast<void>(book_->run(*job_, holder_, std::nullopt).has_value());
    if (kept_ != Kept::no) {
        book_->keep(*job_, kept_, Kept::no);
        kept_ = Kept::no;
        news_ = true;
    }
    book_->leave(*job_);
    job_.reset();
}

base::Expected<std::string> JobSession::hello(const JobHello& hello) {
    const JobKey job{hello.job, hello.epoch, uid_};
    if (job_ != job) {
        if (auto joined = book_->join(job); !joined) return std::move(joined).error();
        leave();
        job_ = job;
        news_ = true;
    }
    return hello_answer(book_->advice(job));
}

base::Expected<std::string> JobSession::run(std::optional<JobRun> run) {
    if (holder_ == 0) holder_ = book_->new_holder();
    const bool over = !run;
    const auto changed = book_->run(*job_, holder_, std::move(run));
    if (!changed) return changed.error();
    news_ = news_ || *changed;
    return over ? commit_answer() : run_answer(book_->run_advice(*job_));
}

std::string JobSession::keep(const JobKeep& keep) {
    const auto now = keep.ended ? Kept::ended : Kept::here;
    if (now != kept_) {
        book_->keep(*job_, kept_, now);
        kept_ = now;
        news_ = true;
    }
    return keep_answer(book_->keep_advice(*job_));
}

base::Expected<std::string> JobSession::stats(const JobStats& stats) {
    // A port costs a descriptor, and counts for the user that it names.
    if (uid_ != 0 && uid_ != ::geteuid())
        return base::Error{base::Code::denied, "only root may ask for statistics"};
    port_.reset();
    const JobKey job{stats.job, stats.epoch, stats.uid};
    if (auto joined = ucx_->join(job); !joined) return std::move(joined).error();
    auto opened = UcxPort::open(*ucx_, job);
    if (!opened) return std::move(opened).error();
    port_ = *std::move(opened);
    return stats_answer(port_->number());
}

base::Expected<std::string> JobSession::perform(std::string_view line, base::Time now) {
    auto request = read_job_request(line);
    if (!request) return std::move(request).error();
    if (const auto* first = std::get_if<JobHello>(&*request)) return hello(*first);
    if (auto* said = std::get_if<JobUcx>(&*request)) {
        auto told = ucx_->tell(speaker_, uid_, std::move(*said));
        if (!told) return std::move(told).error();
        speaker_ = *told;
        return commit_answer();
    }
    if (const auto* wanted = std::get_if<JobStats>(&*request)) return stats(*wanted);
    if (!job_) return base::Error{base::Code::input, "say hello first"};
    if (std::holds_alternative<JobDue>(*request)) return due_answer(book_->advice(*job_));
    if (auto* said = std::get_if<JobRun>(&*request)) return run(std::move(*said));
    if (std::holds_alternative<JobOver>(*request)) return run(std::nullopt);
    if (const auto* kept = std::get_if<JobKeep>(&*request)) return keep(*kept);
    if (auto* told = std::get_if<Preflight>(&*request)) {
        news_ = news_ || !preflight_;
        preflight_ = true;
        book_->preflight(*job_, std::move(*told));
        return preflight_answer(book_->preflight_advice(*job_));
    }
    if (const auto* mark = std::get_if<JobMark>(&*request)) {
        book_->mark(*job_, *mark);
        return commit_answer();
    }
    if (const auto* save = std::get_if<JobSave>(&*request)) {
        book_->save(*job_, now + base::duration_from_seconds(save->within_s));
        return commit_answer();
    }
    auto& commit = std::get<JobCommit>(*request);
    book_->commit(*job_,
                  {commit.step, std::move(commit.path), now, commit.cost_s, commit.bytes, commit.safe_s});
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
