// The conversation with one client of the job socket (wire/job_lines.hpp). No sockets here. After
// `most_errors` lines that cannot be answered the client should be disconnected.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/job_book.hpp"
#include "restart/watch/ucx_book.hpp"
#include "restart/watch/ucx_port.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

class JobSession {
public:
    static constexpr int most_errors = 16;

    // `uid` is the peer's, from the kernel (SO_PEERCRED).
    JobSession(JobBook& book, UcxBook& ucx, std::uint32_t uid) : book_(&book), ucx_(&ucx), uid_(uid) {}
    JobSession(JobSession&& other) noexcept;
    JobSession& operator=(JobSession&&) = delete;
    ~JobSession(); // leaves the books

    // The answer to one line, with its newline. `now` stamps a commit.
    std::string answer(std::string_view line, base::Time now);

    bool hopeless() const { return errors_ >= most_errors; }
    // Where its job's UCX statistics arrive; null: it requested none.
    UcxPort* statistics() const { return port_.get(); }

    // Whether there is something to report soon: a new job or a commit. Resets it.
    bool news() { return std::exchange(news_, false); }

private:
    base::Expected<std::string> hello(const JobHello& hello);
    base::Expected<std::string> run(std::optional<JobRun> run);
    std::string keep(const JobKeep& keep);
    void leave();
    base::Expected<std::string> stats(const JobStats& stats);
    base::Expected<std::string> perform(std::string_view line, base::Time now);

    JobBook* book_;
    UcxBook* ucx_;
    std::uint32_t uid_;
    std::optional<JobKey> job_;
    std::uint64_t holder_ = 0;  // of what the job's railrun runs; 0: this client is not one
    Kept kept_ = Kept::no;      // state of the job's processes, as reported by this client
    bool preflight_ = false;    // it reported the job's preflight
    std::uint64_t speaker_ = 0; // in the book of UCX; 0: this client reports no UCX
    std::unique_ptr<UcxPort> port_;
    int errors_ = 0;
    bool news_ = false;
};

} // namespace restart
