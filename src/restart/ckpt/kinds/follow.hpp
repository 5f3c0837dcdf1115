// Follows a directory whose checkpoints are written by another program: what is new since the last look, and
// when to look again. State is kept in memory only; nothing is written.
#pragma once

#include "restart/ckpt/kinds/look.hpp"

#include <functional>
#include <map>
#include <memory>

namespace restart::ckpt::kinds {

// A complete checkpoint as reported to restartd (JobCommit).
struct News {
    Whole whole;
    std::string path;
    base::Time begun{};   // not before the previous one was done
    std::string remark{}; // "": nothing unusual
};

class Follower {
public:
    using Open = std::function<base::Expected<std::unique_ptr<Files>>()>;

    // Checkpoints completed before `since` do not belong to this start of the job.
    Follower(Kind kind, base::Time since, Open open)
        : kind_(std::move(kind)), since_(since), open_(std::move(open)) {}

    // A checkpoint that was not the newest one before; nothing: no news. Errors: those of look; the next look
    // starts again from scratch.
    base::Expected<std::optional<News>> look(base::Time now);

    // What the last look found.
    const Found& found() const { return found_; }
    // Number of file system requests that it took: a few if nothing has changed.
    unsigned looked() const { return looked_; }

    // The minimum wait before the next look: at most `most_a_second` requests are made. Without events, a
    // sixtieth of the job's interval between checkpoints, 1 s to 30 s; 5 s if the interval is unknown.
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
    std::optional<Signs> known_; // of the last reliable look
    std::optional<Whole> last_;  // the newest one found
    unsigned looked_ = 0;
};

} // namespace restart::ckpt::kinds
