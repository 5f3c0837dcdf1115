// Step marks: what one process of a job says of its steps, so that restartd can tell which of its hosts holds
// it back. railckpt.h offers it in C.
//
// The agent of the process's host is told at most every `period`, in one line and with the patience of Agent;
// in between a mark costs two additions. A process without an agent makes marks for nobody.
#pragma once

#include "restart/ckpt/agent.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace restart::ckpt {

class Marks {
public:
    static constexpr std::chrono::seconds period{5};
    using Clock = std::chrono::steady_clock;

    // None: of a process outside of a job, or without a job socket.
    Marks(std::optional<Agent> agent, std::uint32_t rank) : agent_(std::move(agent)), rank_(rank) {}

    // By RAIL_CKPT_SOCKET, SLURM_JOB_ID, SLURM_RESTART_COUNT and SLURM_PROCID. Errors (Code::usage) name the
    // variable.
    static base::Expected<Marks> open(const std::function<const char*(const char*)>& getenv);

    // A step is over. Of the time since the last mark the process waited for others for `waited_s`; what is
    // no time, or longer than that, is cut. The first one begins the count. Errors: why the agent was not
    // told, Agent's; what was marked is then told with the next.
    base::Expected<void> step(double waited_s, Clock::time_point now = Clock::now());

private:
    std::optional<Agent> agent_;
    std::uint32_t rank_ = 0;
    std::optional<Clock::time_point> begun_; // of what is not told yet
    Clock::time_point last_{};
    JobMark sums_{0, 0, 0, 0, true};
};

} // namespace restart::ckpt
