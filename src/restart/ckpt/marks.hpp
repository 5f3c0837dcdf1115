// Step marks: one process of a job reports its steps, so that restartd can find the host that delays the
// others. railckpt.h offers it in C.
//
// The agent of the process's host gets at most one line every `period`, with the patience of Agent; in
// between a mark costs two additions. Without an agent, marks have no effect.
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

    // No agent: for a process outside of a job, or without a job socket.
    Marks(std::optional<Agent> agent, std::uint32_t rank) : agent_(std::move(agent)), rank_(rank) {}

    // Configured by RAIL_CKPT_SOCKET, SLURM_JOB_ID, SLURM_RESTART_COUNT and SLURM_PROCID. Errors
    // (Code::usage) name the variable.
    static base::Expected<Marks> open(const std::function<const char*(const char*)>& getenv);

    // A step has ended. `waited_s`: how long, since the last mark, the process waited for others; invalid
    // values and values above that time are clipped. The first call starts the count. Errors: why the agent
    // was not informed (Agent's); the marks are then reported with the next.
    base::Expected<void> step(double waited_s, Clock::time_point now = Clock::now());

private:
    std::optional<Agent> agent_;
    std::uint32_t rank_ = 0;
    std::optional<Clock::time_point> begun_; // of what is not reported yet
    Clock::time_point last_{};
    JobMark sums_{0, 0, 0, 0, true};
};

} // namespace restart::ckpt
