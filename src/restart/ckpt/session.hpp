// One process's view of its job's checkpoints: when the next is due, writing it, finding the latest. What
// railckpt.h offers in C and the command railckpt in a shell.
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

    // What the user should know of the claim: Fence::notice. "" when there is nothing.
    std::string notice() const { return fence_ ? fence_->notice() : std::string(); }

    // Counts the interval from the newest checkpoint's time of commit (or the claim's, when that is later)
    // instead of from open: for a command that is started anew for each question.
    void count_from_files();
    // The same from a checkpoint that another program keeps.
    void count_from(base::Time committed);

    // Asks the agent when 200 ms have passed since the last time, and decides.
    Verdict due();
    Interval interval() const;
    const std::string& agent_trouble() const { return agent_trouble_; } // why the agent did not answer, ""

    // Errors of the three: Stage's, and Code::usage for the wrong order.
    base::Expected<std::filesystem::path> begin(std::uint64_t step);
    base::Expected<Published> commit(const Spent& spent = {}, const std::set<std::string>& linked = {});
    base::Expected<void> abort();
    bool begun() const { return stage_.has_value(); }
    // What the last commit could not do beside publishing (prune, report to the agent), and, when that has
    // changed, which older checkpoints it keeps beside options.keep.
    const std::vector<std::string>& commit_troubles() const { return troubles_; }

    // find_latest; what is found damaged once is not trusted by prune again.
    base::Expected<Latest> latest(Depth depth, Wanted wanted = Wanted::newest);

private:
    using Clock = std::chrono::steady_clock;
    Session(Options options, std::filesystem::path dir);
    void prune_behind(const Id& newcomer);

    Options options_;
    std::filesystem::path dir_;
    std::unique_ptr<Fence> fence_; // where it stands is held on to by the stage
    std::optional<Agent> agent_;
    std::optional<Stage> stage_;

    Clock::time_point last_;                  // when the job went on after the last commit, or the start
    std::optional<Clock::time_point> failed_; // last attempt, if it failed
    Clock::time_point asked_{};               // the agent
    std::optional<AgentState> state_;         // its last word
    std::string agent_trouble_;
    std::string serving_, served_; // requests to save: of the stage, of the last commit
    std::optional<Seconds> cost_;  // of the last commit: how long the job stood still for it
    std::set<Id> damaged_;
    std::vector<std::string> troubles_;
    std::size_t kept_beside_ = 0; // how many, when that was reported last
};

} // namespace restart::ckpt
