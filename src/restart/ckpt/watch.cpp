// railckpt watch: looks, reports, waits, and asks the program to save when restartd does. The books are
// restartd's; this process keeps what it has not yet been able to report, the newest alone.
#include "base/units.hpp"
#include "base/utf8.hpp"
#include "restart/ckpt/agent.hpp"
#include "restart/ckpt/asking.hpp"
#include "restart/ckpt/changes.hpp"
#include "restart/ckpt/foreign.hpp"
#include "restart/ckpt/kinds/follow.hpp"
#include "restart/ckpt/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace restart::ckpt {
namespace {

using kinds::Follower;
using kinds::News;
using namespace std::chrono_literals;

constexpr base::Duration least_pause = 200ms, retry_pause = 1s;
constexpr int last_tries = 3;
constexpr base::Duration hear_each = 1s; // whether a request to save has come

void warn_watch(const std::string& text) {
    fmt::print(stderr, "railckpt: {}\n", text);
}

base::UniqueFd end_signals() {
    sigset_t ends;
    ::sigemptyset(&ends);
    for (const int number : {SIGTERM, SIGINT, SIGHUP})
        ::sigaddset(&ends, number);
    ::sigprocmask(SIG_BLOCK, &ends, nullptr);
    return base::UniqueFd(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Becomes readable when the process ends; none before Linux 5.3, or if the process has ended.
base::UniqueFd end_of(pid_t process) {
    return base::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

class Watch {
public:
    explicit Watch(const WatchOptions& options)
        : options_(options), dir_(absolute(options.job.dir)),
          follower_(options.kind, start_of_job(base::now()), [this] { return open(); }) {
        if (!options.job.socket.empty() && options.job.job)
            agent_.emplace(options.job.socket, *options.job.job.job, options.job.restart,
                           options.job.patience);
        else
            warn_watch(
                "no job of Railyard's (RAIL_CKPT_SOCKET, SLURM_JOB_ID): what is found is only printed");
        if (!options.signal) return;
        asking_.emplace(*options.signal, options.marks, options.beside);
        asking_->begin();
    }

    int run(const base::Cli& cli) {
        if (options_.beside) beside_ = end_of(*options_.beside);
        ends_[0].fd = signals_.get();
        ends_[1].fd = beside_.get();
        for (bool last = false;; last = is_over(base::Duration(0))) {
            look();
            report();
            if (last || std::fflush(stdout) != 0) {
                // The last one counts most: an agent that was slow is told once more.
                for (int tries = 0; agent_ && unreported_ && tries < last_tries; ++tries) {
                    ::poll(nullptr, 0, static_cast<int>(retry_pause.count()));
                    report();
                }
                no_longer_ask();
                return base::finish_output(cli, base::exit_done);
            }
            wait();
        }
    }

private:
    base::Expected<std::unique_ptr<kinds::Files>> open() {
        auto files = kinds::FilesOnDisk::open(dir_);
        if (!files) return std::move(files).error();
        local_ = (*files)->is_local();
        return std::unique_ptr<kinds::Files>(*std::move(files));
    }

    void look() {
        auto news = follower_.look(base::now());
        say(trouble_, news ? std::string() : news.error().text);
        if (const auto asked = follower_.looked(); asked > Follower::most_a_second)
            say(spread_,
                fmt::format("{}: a look at a new checkpoint asks its file system some {} questions: no "
                            "more than {} are asked in a second, the next look waits",
                            shown_dir(), asked / 100 * 100, Follower::most_a_second));
        if (!news) return;
        const auto& found = follower_.found();
        // With a complete checkpoint, these belong to the next one, which is being written.
        for (const auto& why : found.passed_over)
            if (!found.newest && std::find(told_.begin(), told_.end(), why) == told_.end())
                warn_watch(fmt::format("{}/{}", shown_dir(), why));
        told_ = found.passed_over;
        say(unknown_, unknown());
        if (!*news) return;
        print(**news);
        unreported_ = std::move(**news);
    }

    std::string unknown() const {
        const auto& found = follower_.found();
        if (found.kind.known == kinds::Known::railckpt)
            return shown_dir() + ": railckpt commit reports the checkpoints there itself";
        if (found.kind.known != kinds::Known::automatic || !found.others) return {};
        return shown_dir() + ": its checkpoints are not known to Railyard: name their kind with --kind";
    }

    void print(const News& news) const {
        const auto& whole = news.whole;
        if (!news.remark.empty()) warn_watch(base::printable(news.path, 300) + ": " + news.remark);
        if (options_.json) {
            fmt::print("{}\n", base::to_text(whole_to_json(whole, follower_.found().kind, news.path)));
            return;
        }
        fmt::print("{}: {}, {}{} bytes in {} files, written in {}\n",
                   whole.step ? fmt::format("step {}", *whole.step) : "a step that its name does not have",
                   news.path, whole.cut ? "more than " : "", whole.bytes, whole.files,
                   base::human_duration(whole.done - news.begun));
    }

    // restartd counts from the report: safe_s is how much older the saved state is (Commit::safe_s).
    void report() {
        if (!agent_) return;
        hear();
        if (!unreported_) return;
        const auto& whole = unreported_->whole;
        const auto taken = base::to_seconds(whole.done - unreported_->begun);
        const auto age = std::clamp(base::to_seconds(base::now() - unreported_->begun), taken, 1e6);
        const auto blocked = options_.blocked ? std::min(options_.blocked->count(), taken) : taken;
        step_ = whole.step.value_or(step_);
        const auto done = agent_->committed(
            {step_, base::as_utf8(unreported_->path), std::min(blocked, age), whole.bytes, age});
        say(agent_trouble_, done ? std::string() : done.error().text + ": not reported yet");
        if (!done) return;
        if (unreported_->begun >= asked_at_) no_longer_ask();
        unreported_.reset();
    }

    // A request that nobody could be asked for is tried again: the program may still be starting.
    void hear() {
        const auto state = agent_->due();
        if (!state) return;
        interval_s_ = state->interval_s;
        const auto request = request_of(*state);
        if (request.empty()) {
            no_longer_ask();
            asked_for_.clear();
        }
        const auto kind = follower_.found().kind.known;
        if (request.empty() || request == asked_for_ || kind == kinds::Known::railckpt) return;
        if (!options_.signal) asking_.emplace(base::own_signal(kind), options_.marks, options_.beside);
        const auto done = asking_->ask();
        const auto by = base::clock_time(base::time_from_seconds(*state->save_by_s));
        say(ask_trouble_, fmt::format("Railyard asks to save by {}{}: {}", by,
                                      state->incident.empty() ? "" : " (" + state->incident + ")",
                                      done ? *done : done.error().text));
        if (!done) return;
        asked_for_ = request;
        asked_at_ = base::now();
        awaited_ = true;
    }

    void no_longer_ask() {
        if (awaited_) asking_->done();
        awaited_ = false;
    }

    void wait() {
        auto most = Follower::period(interval_s_);
        if (unreported_ && agent_) most = std::min(most, retry_pause);
        const auto least = std::max(least_pause, follower_.least_wait());
        pause(least, 2);
        if (local_) follow_changes();
        ends_[2].fd = local_ ? changes_.fd() : -1;
        if (most > least) pause(most - least, 3);
        changes_.forget();
    }

    // Until one of these `ends` comes, for so long at most; requests to save are heard, and hurry the next
    // look.
    void pause(base::Duration within, nfds_t ends) {
        while (within.count() > 0) {
            const auto part = agent_ ? std::min(within, hear_each) : within;
            if (::poll(ends_.data(), ends, static_cast<int>(part.count())) > 0) return;
            within -= part;
            if (agent_ && within.count() > 0) hear();
            if (awaited_ && ends > 2) return;
        }
    }

    // What changed before the folders were followed is seen by one look more, which follows.
    void follow_changes() {
        std::vector<std::string> folders;
        for (const auto& name : follower_.found().signs)
            folders.push_back(name.empty() ? dir_ : dir_ + '/' + name);
        if (folders == followed_) return;
        changes_.follow(folders);
        followed_ = std::move(folders);
        look();
        report();
    }

    // Whether it should end, now or within this time.
    bool is_over(base::Duration within) {
        return ::poll(ends_.data(), 2, static_cast<int>(within.count())) > 0 ||
               (options_.beside && ::kill(*options_.beside, 0) != 0 && errno == ESRCH);
    }

    // A problem is reported once while it lasts.
    static void say(std::string& told, std::string text) {
        if (text != told && !text.empty()) warn_watch(text);
        told = std::move(text);
    }

    std::string shown_dir() const { return base::printable(dir_, 300); }

    WatchOptions options_;
    base::UniqueFd signals_ = end_signals(), beside_;
    std::array<pollfd, 3> ends_{{{-1, POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}}}; // the third: changes
    std::string dir_;
    Follower follower_;
    Changes changes_;
    std::optional<Agent> agent_;
    std::optional<News> unreported_;
    std::uint64_t step_ = 0; // of the last one reported
    std::optional<double> interval_s_;
    bool local_ = false;
    std::vector<std::string> told_, followed_;
    std::string trouble_, unknown_, agent_trouble_, ask_trouble_, spread_;
    std::optional<Asking> asking_;
    std::string asked_for_; // the request for which the program was asked
    base::Time asked_at_{}; // when
    bool awaited_ = false;  // what it saves then has not been seen
};

} // namespace

int watch(const base::Cli& cli, const WatchOptions& options) {
    return Watch(options).run(cli);
}

} // namespace restart::ckpt
