// One process's view of its job's checkpoints: when the next is due, writing it, finding the latest.
// railckpt.h offers it in C, the command railckpt in a shell.
#pragma once

#include "base/clock.hpp"
#include "restart/ckpt/agent.hpp"
#include "restart/ckpt/fence.hpp"
#include "restart/ckpt/options.hpp"
#include "restart/ckpt/published.hpp"
#include "restart/ckpt/schedule.hpp"
#include "restart/ckpt/stage.hpp"

#include <memory>
#include <optional>

namespace restart::ckpt {

class Session {
public:
    // Claims the directory unless options.read_only. Errors: Code::not_found for no such directory;
    // Fence::raise's.
    static base::Expected<Session> open(const Options& options);

    const std::filesystem::path& dir() const { return dir_; } // absolute, without links
    const Options& options() const { return options_; }

    // What the user should know about the claim: Fence::notice. "" if nothing.
    std::string notice() const { return fence_ ? fence_->notice() : std::string(); }

    // Counts the interval from the commit time of the newest checkpoint (or from the claim, if later) instead
    // of from open: for a command that is started for each query.
    void count_from_files();
    // The same from another program's checkpoint.
    void count_from(base::Time committed);

    // Queries the agent if 200 ms have passed since the last time, and decides.
    Verdict due();
    Interval interval() const;
    const std::string& agent_trouble() const { return agent_trouble_; } // why the agent did not answer, or ""

    // Errors: those of Stage, and Code::usage for the wrong order of calls.
    base::Expected<std::filesystem::path> begin(std::uint64_t step);
    base::Expected<Published> commit(const Spent& spent = {}, const std::set<std::string>& linked = {});
    base::Expected<void> abort();
    bool begun() const { return stage_.has_value(); }
    // What the last commit could not do after publishing (prune, report to the agent), and, if that has
    // changed, which older checkpoints it keeps in addition to options.keep.
    const std::vector<std::string>& commit_troubles() const { return troubles_; }

    // find_latest; checkpoints found damaged are not trusted by prune afterwards.
    base::Expected<Latest> latest(Depth depth, Wanted wanted = Wanted::newest);

private:
    using Clock = std::chrono::steady_clock;
    Session(Options options, std::filesystem::path dir);
    void prune_behind(const Id& newcomer);

    Options options_;
    std::filesystem::path dir_;
    std::unique_ptr<Fence> fence_; // on the heap, as the stage keeps a pointer to it
    std::optional<Agent> agent_;
    std::optional<Stage> stage_;

    Clock::time_point last_;                  // when the job continued after the last commit, or the start
    std::optional<Clock::time_point> failed_; // last attempt, if it failed
    Clock::time_point asked_{};               // the agent
    std::optional<AgentState> state_;         // its last answer
    std::string agent_trouble_;
    std::string serving_, served_; // requests to save: for the stage, for the last commit
    std::optional<Seconds> cost_;  // of the last commit: how long it stopped the job
    std::set<Id> damaged_;
    std::vector<std::string> troubles_;
    std::size_t kept_beside_ = 0; // the number last reported
};

} // namespace restart::ckpt
