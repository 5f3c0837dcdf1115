// One client's conversation on the job socket: lines of JSON in, lines of JSON out. No sockets here.
//
//   {"op":"hello","job":12,"epoch":1,"rank":0}   {"ok":true,"interval_s":37.5,"save_by":null,"incident":null}
//   {"op":"due"}                                 {"interval_s":37.5,"save_by":1700000009.0,"incident":"i-7"}
//   {"op":"commit","step":400,"path":"/…","cost_s":0.8,"bytes":123}     {"ok":true}
//
// interval_s is null until restartd has answered once. Anything else is answered {"ok":false,"error":"…"}
// and changes nothing; after `most_errors` of these the client is to be dropped.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/job_book.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restart {

class JobSession {
public:
    static constexpr int most_errors = 16;
    static constexpr std::size_t longest_line = 8192; // bytes; a path has at most 4095

    // `uid` is the peer's, told by the kernel.
    JobSession(JobBook& book, std::uint32_t uid) : book_(&book), uid_(uid) {}
    JobSession(JobSession&& other) noexcept;
    JobSession& operator=(JobSession&&) = delete;
    ~JobSession(); // leaves the book

    // The answer to one line, with its newline. `now` stamps a commit.
    std::string answer(std::string_view line, base::Time now);

    bool hopeless() const { return errors_ >= most_errors; }
    // Something restartd should hear of soon: a new job or a commit. Asking forgets it.
    bool news() { return std::exchange(news_, false); }

private:
    base::Expected<std::string> perform(std::string_view line, base::Time now);

    JobBook* book_;
    std::uint32_t uid_;
    std::optional<JobKey> job_;
    int errors_ = 0;
    bool news_ = false;
};

} // namespace restart
