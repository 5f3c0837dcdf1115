#include "restart/ckpt/marks.hpp"

#include "base/units.hpp"
#include "restart/ckpt/options.hpp"
#include "restart/ckpt/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

namespace restart::ckpt {

using base::Code;
using base::Error;
using base::Expected;

Expected<Marks> Marks::open(const std::function<const char*(const char*)>& getenv) {
    // All but the directory, which marks do not need.
    Given given;
    given.dir = ".";
    const auto options = resolve(given, getenv);
    if (!options) return options.error();
    std::uint32_t rank = 0;
    if (const char* text = getenv("SLURM_PROCID"); text != nullptr && *text != '\0') {
        const auto number = base::parse_count(text);
        if (!number || *number > std::numeric_limits<std::uint32_t>::max())
            return Error{
                Code::usage,
                fmt::format("environment variable SLURM_PROCID=\"{}\": a whole number is wanted", text)};
        rank = static_cast<std::uint32_t>(*number);
    }
    std::optional<Agent> agent;
    if (!options->socket.empty() && options->job)
        agent.emplace(options->socket, *options->job.job, options->restart, options->patience);
    return Marks(std::move(agent), rank);
}

Expected<void> Marks::step(double waited_s, Clock::time_point now) {
    if (!agent_) return {};
    if (!begun_) {
        begun_ = last_ = now;
        return {};
    }
    const double took = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    ++sums_.steps;
    sums_.seconds += took;
    // Handles NaN, too.
    sums_.waited_s += waited_s > 0 ? std::min(waited_s, took) : 0;
    if (now - *begun_ < period || sums_.seconds <= 0) return {};
    auto told = agent_->marked(
        {rank_, sums_.steps, sums_.seconds, std::min(sums_.waited_s, sums_.seconds), sums_.first});
    begun_ = now;
    if (told || told.error().code == Code::denied) sums_ = {}; // an agent that refuses accepts none later
    // Without an agent, only the last minutes accumulate.
    if (sums_.seconds > 300) sums_ = {};
    if (!told && told.error().code == Code::denied) agent_.reset();
    return told;
}

} // namespace restart::ckpt
