// Sends reports to restartd over one persistent connection, in a separate task: a restartd that is slow, down
// or refuses never delays sampling. Only the newest report is queued; data that only a replaced report
// contained (link counters) moves into it, and checkpoints stay in the job book until restartd has accepted
// them.
//
// Retries with a jittered delay that doubles up to `longest_delay`, which stays below the silence after which
// restartd suspects a host.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/watch/job_book.hpp"
#include "restart/watch/peer_looker.hpp"
#include "restart/watch/task_loop.hpp"
#include "restart/wire/delivery.hpp"
#include "restart/wire/report.hpp"
#include "restart/wire/signals.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace restart {

class Reporter {
public:
    static constexpr base::Duration longest_delay{2'000};

    // restartd's answers go to `book` and, if there is one, to `looker`; when it requests this host's
    // signals, `asked` is called, by a thread of the loop, which must outlive this. `answered` is called in
    // the same way with each answer. Errors: Code::input for a malformed URL.
    static base::Expected<std::unique_ptr<Reporter>> start(TaskLoop& loop, Delivery::Target target,
                                                           std::shared_ptr<JobBook> book,
                                                           std::shared_ptr<PeerLooker> looker = {},
                                                           std::function<void()> asked = {},
                                                           std::function<void(const Reply&)> answered = {});

    // Queues the newest report. Never waits.
    void offer(Report report);

    // The signals that restartd requested: sent once, after the next report that arrives. Never waits.
    void tell(HostSignals signals);

    // Changes the target. Errors as for start; the old target is then kept.
    base::Expected<void> retarget(Delivery::Target target);

    // Waits, at most this long, until restartd has every checkpoint and the last report. True: it has.
    bool flush(base::Duration longest);

private:
    struct Work;
    Reporter(TaskLoop& loop, std::shared_ptr<Work> work);
    TaskLoop& loop_;
    std::shared_ptr<Work> work_; // shared with the task, which may outlive us
    TaskLoop::Task task_;
};

// The delay before attempt `failures` + 1: 100 ms doubled up to `longest`, then scaled to between half and
// all of it by `random` in [0, 1), so that a thousand hosts do not reconnect at the same moment. Pure.
base::Duration retry_delay(unsigned failures, base::Duration longest, double random);

} // namespace restart
