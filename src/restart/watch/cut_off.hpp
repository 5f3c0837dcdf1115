// Whether this host is cut off from the cluster, so that a resource manager that takes it for lost may start
// its jobs elsewhere while they still run here. LSF does so: of a cut cable two copies of a job ran.
//
// That restartd does not answer is not enough: it may be stopped, or its host be down. Cut off is a host that
// reaches neither restartd's hosts nor half of some others, which restartd named, from all over the cluster,
// while it could: a network that broke in two leaves the larger part at work, and who is in it is not cut
// off. An answer is any of the other kernel's, a refusal too. Nothing is judged by fewer than two others.
#pragma once

#include "base/knock.hpp"
#include "restart/watch/job_book.hpp"
#include "restart/watch/task_loop.hpp"
#include "restart/wire/report.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace restart {

// The judgement; no clock, no sockets.
class CutOff {
public:
    using Time = std::chrono::steady_clock::time_point;
    // What one look around saw.
    struct Round {
        bool restartd = false; // one of its hosts lives
        std::size_t others = 0, live = 0;
    };

    explicit CutOff(Time begin) : answered_(begin) {}

    // restartd has answered: all is well.
    void answered(Time now);
    // A look around that began and ended then.
    void saw(const Round& round, Time ended);

    // Whether it is time to look around, which costs some packets.
    bool looks(Time now, base::Duration after) const { return now - answered_ >= after / 4; }
    // For how long restartd has not answered, where that means cut off; none: it does not. Three looks in a
    // row must have seen so, as what stood still for a while has looked at nothing meanwhile.
    std::optional<base::Duration> silence(Time now, base::Duration after) const;
    const Round& last() const { return last_; }

private:
    Time answered_;
    int bad_ = 0; // looks in a row
    Round last_;
};

// Looks around, in a task of its own, while processes of jobs are kept here, and tells the book.
class CutOffWatch {
public:
    using Look = std::function<base::Knocked(const std::string& address, std::uint16_t port)>;
    static constexpr base::Duration patience{1'200}; // of one look

    // `restartd`: where it may be. `after`: how long restartd must have been silent; 0: nothing is judged.
    CutOffWatch(TaskLoop& loop, std::shared_ptr<JobBook> book, std::vector<Witness> restartd,
                base::Duration after, Look look = by_knocking);

    // restartd has answered. For any thread; never waits for a look.
    void answered(const Reply& reply);
    // Whether restartd is to name others.
    bool wants_witnesses() const;
    void retarget(std::vector<Witness> restartd, base::Duration after);

private:
    static base::Knocked by_knocking(const std::string& address, std::uint16_t port);
    struct Work;
    std::shared_ptr<Work> work_;
    TaskLoop::Task task_;
};

} // namespace restart
