// Decides railrun's next action from what it sees: a plain value and a function over events, without I/O or
// clock.
//
//   running --- order ---------> ending ---.
//      |                            |      | (its end)
//      '---- (its end) ------> settling <--'
//                                |   |   '--> over: it ends as the step did
//                                |   '------> next launch: running
//                                '----------> waiting for a requeue, then over
//
// A step is restarted if restartd orders it, or if one of its hosts has left the allocation. Slurm ends such
// a step with any status, including 0, but does not end an mpirun that waits for the lost host; if restartd
// is not heard, the allocation is checked from time to time. In all other cases the step's end is final. A
// program often fails before it is known that one of its hosts is lost: the end of a failed step is accepted
// only after `settle`, and only while restartd suspects none of its hosts.
#pragma once

#include "base/clock.hpp"
#include "restart/run/seats.hpp"
#include "restart/wire/job_lines.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace restart::run {

struct Rules {
    std::optional<std::uint64_t> max_restarts; // launches beyond the first
    std::uint32_t most_futile = 3;             // launches in a row without a newer checkpoint
    bool may_requeue = false;                  // the job itself, if restartd does not: --restart=auto
    base::Duration settle{5'000};
    base::Duration order_wait{5'000};   // for restartd's choice of hosts, when it knows of the step's end
    base::Duration unheard_wait{1'500}; // and when it does not
    base::Duration unheard_look{
        30'000}; // to check for a lost host, repeatedly while the step runs and restartd is not heard
    base::Duration suspicion_most{60'000};
    base::Duration end_grace{10'000};     // from the request to end to the kill,
    base::Duration lost_grace{1'000};     // for a step that lost a host, which mpirun waits for
    base::Duration requeue_wait{20'000};  // for restartd to requeue the job,
    base::Duration requeued_wait{60'000}; // and for Slurm to end this start
};

// Events. `number` is a signal's.
struct Ended {
    int status = 0; // as in a shell
};
struct Looked {                                                    // the reply to Look
    std::optional<Hosts> allocation;                               // none: no answer from Slurm
    std::optional<std::pair<std::uint32_t, std::uint64_t>> newest; // epoch and step of the newest checkpoint
};
struct Advised {
    std::optional<RunAdvice> advice; // none: no agent answers
};
struct Signalled {
    int number = 0;
    bool reached_child = false; // it came from the terminal, to both
};
struct Passed {}; // time
using Event = std::variant<Ended, Looked, Advised, Signalled, Passed>;

// Commands.
struct Launch {
    Seats seats;
};
struct End {
    bool kill = false;
};
struct Forward {
    int number = 0;
};
struct Look {};
struct Over {}; // report to the agent that this job no longer restarts its step
struct Requeue {};
struct Exit {
    int status = 0;
};
struct Say {
    std::string text;
};
using Command = std::variant<Launch, End, Forward, Look, Over, Requeue, Exit, Say>;

class Course {
public:
    // The first launch is running on these hosts of the allocation.
    Course(Rules rules, Seats seats, Hosts allocation, decltype(Looked::newest) newest)
        : rules_(rules), seats_(std::move(seats)), allocation_(std::move(allocation)), newest_(newest) {}

    std::vector<Command> on(const Event& event, base::Time now);

    // For the agent.
    JobRun run() const;
    // Whether events are expected soon: the caller then polls more often.
    bool hurried() const { return phase_ != Phase::running; }
    const Seats& seats() const { return seats_; }
    std::uint32_t launch() const { return launch_; }

private:
    enum class Phase { running, ending, settling, requeue, over };
    using Commands = std::vector<Command>;

    void take(const Ended& ended);
    void take(const Looked& looked);
    void take(const Advised& advised);
    void take(const Signalled& signalled);
    void take(const Passed&);

    void begin_ending(const std::string& why, bool lost);
    void decide(); // what to do after the step's end
    void follow_loss(const std::set<std::string>& gone);
    void follow_failure();
    void start_again(Seats seats, const std::string& why);
    void give_up(const std::string& why, bool requeue);
    void wait_for_requeue();
    void exit(int status);
    bool heard() const { return advice_ && advice_->heard; }
    int failure() const { return *status_ != 0 ? *status_ : 1; }

    Rules rules_;
    Seats seats_;
    Hosts allocation_;
    decltype(Looked::newest) newest_; // when the launch began
    Phase phase_ = Phase::running;
    std::uint32_t launch_ = 0, futile_ = 0;
    std::optional<int> status_, stopped_by_; // of the ended step; a signal that ends railrun, too
    std::optional<RunAdvice> advice_;
    std::optional<RunOrder> order_; // for this launch
    std::string refused_;           // hosts of an order that could not be executed
    std::set<std::string> left_;    // hosts that are not used again
    bool ended_by_us_ = false, lost_ = false, looked_ = false, allocation_known_ = false, requeued_ = false,
         may_requeue_ = false;
    decltype(Looked::newest) seen_; // newest checkpoint at the last look
    std::optional<base::Time> gone_since_;
    base::Time since_{}, last_look_{}; // of the phase

    base::Time now_{}; // of the event being taken
    Commands commands_;
};

} // namespace restart::run
