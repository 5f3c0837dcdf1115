// Detects that this host is cut off from the cluster, so that a resource manager that considers it lost may
// start its jobs elsewhere while they still run here. LSF does: after a cable was cut, two copies of a job
// ran.
//
// A missing answer of restartd is not enough: it may be stopped, or its host may be down. A host is cut off
// if it reaches neither restartd's hosts nor half of some others, which restartd named earlier, from all over
// the cluster. If the network splits in two, the larger part stays at work, and its hosts are not cut off.
// Any response of the other kernel is an answer, also a refusal. With fewer than two others there is no
// decision.
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

// The decision; no clock, no sockets.
class CutOff {
public:
    using Time = std::chrono::steady_clock::time_point;
    // The result of one look.
    struct Round {
        bool restartd = false; // one of its hosts is alive
        std::size_t others = 0, live = 0;
    };

    explicit CutOff(Time begin) : answered_(begin) {}

    // restartd has answered: not cut off.
    void answered(Time now);
    // The result of a look that ended then.
    void saw(const Round& round, Time ended);

    // Whether it is time for a look, which costs some packets.
    bool looks(Time now, base::Duration after) const { return now - answered_ >= after / 4; }
    // How long restartd has not answered, if this host is cut off; otherwise none. Three looks in a row must
    // agree, as a process that was suspended did not look in the meantime.
    std::optional<base::Duration> silence(Time now, base::Duration after) const;
    const Round& last() const { return last_; }

private:
    Time answered_;
    int bad_ = 0; // looks in a row
    Round last_;
};

// Looks in its own task while processes of jobs are kept here, and informs the book.
class CutOffWatch {
public:
    using Look = std::function<base::Knocked(const std::string& address, std::uint16_t port)>;
    static constexpr base::Duration patience{1'200}; // of one look

    // `restartd`: possible addresses. `after`: how long restartd must have been silent; 0: never cut off.
    CutOffWatch(TaskLoop& loop, std::shared_ptr<JobBook> book, std::vector<Witness> restartd,
                base::Duration after, Look look = by_knocking);

    // restartd has answered. Callable from any thread; never waits for a look.
    void answered(const Reply& reply);
    // Whether restartd should name other hosts.
    bool wants_witnesses() const;
    void retarget(std::vector<Witness> restartd, base::Duration after);

private:
    static base::Knocked by_knocking(const std::string& address, std::uint16_t port);
    struct Work;
    std::shared_ptr<Work> work_;
    TaskLoop::Task task_;
};

} // namespace restart
