// Follows a directory whose checkpoints another program keeps: what is new in it since the last look, and
// when to look again. What is known of it stays in memory; nothing is written.
#pragma once

#include "restart/ckpt/kinds/look.hpp"

#include <functional>
#include <map>
#include <memory>

namespace restart::ckpt::kinds {

// A whole checkpoint as it is reported to restartd (JobCommit).
struct News {
    Whole whole;
    std::string path;
    base::Time begun{};   // not before the one before it was done
    std::string remark{}; // "": nothing is strange about it
};

class Follower {
public:
    using Open = std::function<base::Expected<std::unique_ptr<Files>>()>;

    // What was whole before `since` is none of this start of the job.
    Follower(Kind kind, base::Time since, Open open)
        : kind_(std::move(kind)), since_(since), open_(std::move(open)) {}

    // A checkpoint that was not the newest one before; nothing: no news. Errors: look's; the next look begins
    // anew.
    base::Expected<std::optional<News>> look(base::Time now);

    // What the last look found.
    const Found& found() const { return found_; }
    // How many questions to the file system it took: a few, where nothing has changed.
    unsigned looked() const { return looked_; }

    // How long to wait for the next look, at least: no more than `most_a_second` questions are asked. Where
    // events do not tell, a sixtieth of the job's interval between checkpoints, 1 s to 30 s; 5 s where it is
    // not known.
    base::Duration least_wait() const;
    static base::Duration period(std::optional<double> interval_s);
    static constexpr unsigned most_a_second = 500;

private:
    using Signs = std::map<std::string, std::optional<Entry>>;

    base::Expected<Signs> signs(Files& files) const;

    Kind kind_;
    base::Time since_;
    Open open_;
    Found found_;
    std::optional<Signs> known_; // of the last look that may be relied on
    std::optional<Whole> last_;  // the newest one of it
    unsigned looked_ = 0;
};

} // namespace restart::ckpt::kinds
