#include "restart/ckpt/session.hpp"

#include "restart/ckpt/prune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <system_error>

namespace restart::ckpt {

using base::Code;
using base::Error;
using base::Expected;

namespace {
constexpr std::chrono::milliseconds ask_pause{200};
}

Session::Session(Options options, std::filesystem::path dir)
    : options_(std::move(options)), dir_(std::move(dir)), last_(Clock::now()) {
    if (!options_.socket.empty() && options_.job)
        agent_.emplace(options_.socket, *options_.job.job, options_.restart, options_.patience);
}

Expected<Session> Session::open(const Options& options) {
    std::error_code failed;
    auto dir = std::filesystem::canonical(options.dir, failed);
    if (failed && failed.value() == ENOENT)
        return Error{
            Code::not_found,
            fmt::format("{}: no such checkpoint directory: create it (mkdir -p) before the job starts",
                        options.dir)};
    if (failed) return base::system_error(options.dir, failed.value());
    if (!std::filesystem::is_directory(dir, failed))
        return Error{Code::not_found,
                     fmt::format("{}: is not a directory: a checkpoint directory is wanted", options.dir)};
    Session session(options, std::move(dir));
    if (!options.read_only) {
        auto fence = Fence::raise(session.dir_, {.job = options.job,
                                                 .restart = options.restart,
                                                 .cluster = options.cluster,
                                                 .take_over = options.take_over,
                                                 .launch = options.launch,
                                                 .lsf = options.lsf});
        if (!fence) return std::move(fence).error();
        session.fence_ = std::make_unique<Fence>(std::move(*fence));
    }
    return session;
}

void Session::count_from_files() {
    double since_1970 = 0;
    if (const auto found = latest(Depth::sizes); found && found->newest) {
        since_1970 = found->newest->manifest.time_s;
        cost_ = Seconds{found->newest->manifest.cost_s};
    }
    struct stat info {};
    if (::stat((dir_ / "epoch").c_str(), &info) == 0)
        since_1970 = std::max(since_1970, static_cast<double>(info.st_mtim.tv_sec));
    count_from(base::time_from_seconds(since_1970));
}

void Session::count_from(base::Time committed) {
    // A commit in the future (clocks differ between nodes) counts as now; no commit, as very long ago.
    const Seconds age{std::max(0.0, base::to_seconds(base::now() - committed))};
    last_ = Clock::now() - std::chrono::duration_cast<Clock::duration>(std::min(age, Seconds{1e9}));
}

Interval Session::interval() const {
    return choose_interval(state_, options_.interval, cost_, options_.mtbf);
}

Verdict Session::due() {
    if (agent_ && (asked_ == Clock::time_point{} || Clock::now() - asked_ >= ask_pause)) {
        auto state = agent_->due();
        asked_ = Clock::now();
        agent_trouble_ = state ? std::string() : state.error().text;
        state_ = state ? std::optional(std::move(*state)) : std::nullopt;
    }
    const auto now = Clock::now();
    return decide(state_, interval(),
                  {now - last_, failed_ ? std::optional<Seconds>(now - *failed_) : std::nullopt, served_});
}

Expected<std::filesystem::path> Session::begin(std::uint64_t step) {
    if (!fence_)
        return Error{Code::usage,
                     fmt::format("{}: opened only to look: no checkpoint can be written", dir_.string())};
    if (stage_)
        return Error{Code::usage,
                     fmt::format("{}: is begun already: commit or abort it first", stage_->path().string())};
    auto stage = Stage::open(dir_, *fence_, step);
    if (!stage) {
        failed_ = Clock::now();
        return std::move(stage).error();
    }
    stage_.emplace(std::move(*stage));
    serving_ = request_of(state_);
    return stage_->path();
}

Expected<Published> Session::commit(const Spent& spent, const std::set<std::string>& linked) {
    if (!stage_) return Error{Code::usage, "no checkpoint is begun: begin comes before commit"};
    auto published = stage_->publish(options_.job, spent, linked);
    const auto begun = stage_->begun();
    stage_.reset();
    troubles_.clear();
    if (!published) {
        failed_ = Clock::now();
        return published;
    }
    const auto now = Clock::now();
    const auto whole = std::max<Seconds>(now - begun + spent.before, spent.blocked.value_or(Seconds{0}));
    cost_ = spent.blocked.value_or(whole);
    last_ = now - std::chrono::duration_cast<Clock::duration>(whole - *cost_);
    failed_.reset();
    if (!serving_.empty()) served_ = serving_;
    damaged_.erase(published->manifest.id);
    prune_behind(published->manifest.id);
    if (agent_) {
        const auto acknowledged =
            agent_->committed({published->manifest.id.step, published->path.string(), cost_->count(),
                               published->manifest.bytes(), spent.blocked ? whole.count() : 0});
        if (!acknowledged) troubles_.push_back(acknowledged.error().text);
    }
    return published;
}

// A process that has been fenced off in the meantime removes nothing.
void Session::prune_behind(const Id& newcomer) {
    if (const auto ours = fence_->check(); !ours) {
        troubles_.push_back(ours.error().text);
        return;
    }
    auto pruned = prune(dir_, newcomer, fence_->base(), options_.keep, damaged_);
    troubles_ = std::move(pruned.troubles);
    if (pruned.beside != kept_beside_ && pruned.beside > 0) troubles_.push_back(std::move(pruned.kept));
    kept_beside_ = pruned.beside;
}

Expected<void> Session::abort() {
    if (!stage_) return {};
    auto removed = stage_->remove();
    stage_.reset();
    return removed;
}

Expected<Latest> Session::latest(Depth depth, Wanted wanted) {
    auto found = find_latest(dir_, depth, wanted);
    if (!found) return found;
    damaged_.insert(found->damaged.begin(), found->damaged.end());
    return found;
}

} // namespace restart::ckpt
