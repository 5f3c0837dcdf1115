#include "check/apart.hpp"

#include "base/close_inherited.hpp"
#include "base/unique_fd.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace check {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr int kill_patience_ms = 2000;
constexpr base::Duration companion_patience{1000};

class Child {
public:
    Child(std::string_view check, const Task& task)
        : check_(check), part_(task.part), test_(task.test), companion_(task.companion) {}

    base::Expected<void> start(const Task& task) {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
            return base::system_error("socketpair", errno);
        base::UniqueFd mine(ends[0]);
        const base::UniqueFd its(ends[1]);
        pid_ = ::fork();
        if (pid_ < 0) return base::system_error("fork", errno);
        if (pid_ == 0) be_child(task, its.get());
        socket_ = std::move(mine);
        until_ = Clock::now() + task.deadline;
        deadline_ = task.deadline;
        hurried_ = task.hurried;
        return {};
    }

    int fd() const { return socket_.get(); }
    bool running() const { return static_cast<bool>(socket_); }
    bool meets() const { return meets_; }
    bool companion() const { return companion_; }
    bool has_told() const { return !outcome.facts.empty(); }
    void dismiss() {
        ::kill(pid_, SIGKILL);
        reap(kill_patience_ms);
        socket_ = {};
    }
    Clock::time_point until() const { return until_; }

    // A process that waits for others is not blamed for them: its time starts again.
    void release() {
        meets_ = false;
        until_ = Clock::now() + deadline_;
        // A child that has died is seen at the next read.
        (void)::send(fd(), "m", 1, MSG_NOSIGNAL);
    }

    // Reads what has come; `progress` is called for each step.
    void read(const std::function<void(std::string_view)>& progress) {
        std::array<char, 65536> block;
        const auto n = ::recv(fd(), block.data(), block.size(), 0);
        if (n < 0 && errno == EINTR) return;
        if (n > 0) text_.append(block.data(), static_cast<std::size_t>(n));
        std::size_t at = 0;
        for (std::size_t end; (end = text_.find('\n', at)) != std::string::npos; at = end + 1)
            take(std::string_view(text_).substr(at, end - at), progress);
        text_.erase(0, at);
        if (n > 0 && !ended_ && text_.size() < longest_line) return;
        finish();
    }

    void stop(std::string_view why, Verdict verdict) {
        ::kill(pid_, SIGKILL);
        const bool gone = reap(kill_patience_ms);
        fail(verdict,
             fmt::format(
                 "{}{}", why,
                 gone ? "" : fmt::format("; its process {} cannot be ended, it sleeps in the kernel", pid_)));
    }
    void time_out() {
        stop(fmt::format("no end within {}{}: given up", base::human_duration(deadline_),
                         hurried_ ? ", and a sound one may take longer" : ""),
             hurried_ ? Verdict::not_run : Verdict::bad);
    }
    void fail(Verdict verdict, std::string says) {
        socket_ = {};
        if (companion_) return;
        Result result{.check = std::string(check_), .test = test_, .part = part_, .verdict = verdict};
        result.says = std::move(says);
        outcome.results.push_back(std::move(result));
    }

    TaskOutcome outcome;

private:
    [[noreturn]] static void be_child(const Task& task, int socket) {
        base::close_inherited(socket);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (const int number : {SIGINT, SIGTERM, SIGPIPE})
            std::signal(number, SIG_DFL);
        // Libraries print messages of their own.
        if (const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0)
            for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
                ::dup2(null, fd);
        Sink sink(socket, socket);
        try {
            task.work(sink);
        } catch (const std::exception& wrong) {
            sink.fact("died", wrong.what());
            ::_exit(1);
        }
        sink.end();
        // The kernel releases the rest: destructors of a driver in trouble may not return.
        ::_exit(0);
    }

    void take(std::string_view line, const std::function<void(std::string_view)>& progress) {
        const auto parsed = base::parse_json(line);
        if (!parsed) return; // a message of a library
        const base::Reader from(*parsed);
        if (from.has("begin")) {
            if (const auto at = from.at("begin"))
                if (const auto result = result_of(*at)) {
                    part_ = result->part;
                    test_ = result->test;
                    progress(fmt::format("{}: {}", part_.name, test_));
                }
        } else if (from.has("result")) {
            const auto at = from.at("result");
            auto result = result_of(*at);
            if (result) outcome.results.push_back(*std::move(result));
        } else if (from.has("fact")) {
            const auto key = from.text("fact"), value = from.text("value");
            if (key && value) outcome.facts[*key] = *value;
        } else if (from.has("meet")) {
            meets_ = true;
        } else if (from.has("end")) {
            ended_ = true;
        }
    }

    bool reap(int patience_ms) {
        for (int waited = 0;; waited += 10) {
            if (const auto got = ::waitpid(pid_, &status_, WNOHANG);
                got == pid_ || (got < 0 && errno != EINTR))
                return true;
            if (waited >= patience_ms) return false;
            ::poll(nullptr, 0, 10);
        }
    }

    void finish() {
        if (ended_) {
            socket_ = {};
            outcome.whole = true;
            // It has reported everything; a driver that keeps it from ending is a separate matter.
            if (!reap(kill_patience_ms)) ::kill(pid_, SIGKILL);
            return;
        }
        if (!reap(kill_patience_ms)) return stop("it ends without an end", Verdict::not_run);
        const auto died = outcome.facts.find("died");
        fail(Verdict::not_run, died != outcome.facts.end() ? died->second
                               : WIFSIGNALED(status_)
                                   ? fmt::format("its process was ended by signal {}", WTERMSIG(status_))
                                   : "its process ended without a word");
    }

    std::string check_;
    Part part_; // the step that it is in
    std::string test_;
    bool companion_;
    base::UniqueFd socket_;
    pid_t pid_ = -1;
    int status_ = 0;
    Clock::time_point until_{};
    base::Duration deadline_{};
    bool hurried_ = false;
    std::string text_;
    bool meets_ = false, ended_ = false;
};

} // namespace

void Sink::send(const json::object& message) {
    const auto text = base::to_text(message) + "\n";
    for (std::string_view rest = text; !rest.empty();) {
        const auto n = ::send(out_, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) ::_exit(1);
        rest.remove_prefix(static_cast<std::size_t>(n));
    }
}

void Sink::begin(const Part& part, std::string_view test) {
    send({{"begin", to_json(Result{.check = "-", .test = std::string(test), .part = part})}});
}

void Sink::add(const Result& result) {
    send({{"result", to_json(result)}});
}

void Sink::fact(std::string_view key, const std::string& value) {
    send({{"fact", std::string(key)}, {"value", value}});
}

void Sink::meet() {
    send({{"meet", true}});
    char word = 0;
    ssize_t n;
    do
        n = ::recv(in_, &word, 1, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0) ::_exit(1);
}

void Sink::end() {
    send({{"end", true}});
}

std::vector<TaskOutcome> run_apart(std::string_view check, std::vector<Task> tasks, const Request& request) {
    std::vector<Child> children;
    children.reserve(tasks.size());
    for (auto& task : tasks) {
        if (request.deadline && !task.companion) {
            task.deadline = *request.deadline;
            task.hurried = task.deadline < level_takes(request.level);
        }
        auto& child = children.emplace_back(check, task);
        if (auto started = child.start(task); !started) child.fail(Verdict::not_run, started.error().text);
    }
    std::optional<Clock::time_point> grace;
    for (;;) {
        std::vector<pollfd> watched{{request.interrupt, POLLIN, 0}};
        std::vector<Child*> running;
        bool all_watch = true;
        auto soonest = Clock::time_point::max();
        for (auto& child : children) {
            if (!child.running()) continue;
            running.push_back(&child);
            all_watch = all_watch && child.companion();
            watched.push_back({child.fd(), POLLIN, 0});
        }
        // One that has reported nothing yet is given a moment.
        if (all_watch && !grace) grace = Clock::now() + companion_patience;
        const bool all_told =
            std::all_of(running.begin(), running.end(), [](const Child* one) { return one->has_told(); });
        if (all_watch && (all_told || Clock::now() >= *grace)) {
            for (auto* child : running)
                child->dismiss();
            break;
        }
        if (std::all_of(running.begin(), running.end(),
                        [](const Child* one) { return one->meets() || one->companion(); }))
            for (auto* child : running)
                if (child->meets()) child->release();
        for (const auto* child : running)
            if (!child->meets()) soonest = std::min(soonest, child->until());
        if (grace) soonest = std::min(soonest, *grace);
        const auto left = std::chrono::ceil<base::Duration>(soonest - Clock::now()).count();
        ::poll(watched.data(), watched.size(),
               static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000)));
        if (watched[0].revents != 0) {
            for (auto* child : running)
                child->stop("interrupted", Verdict::not_run);
            break;
        }
        for (std::size_t i = 0; i < running.size(); ++i) {
            if (watched[i + 1].revents != 0)
                running[i]->read(request.progress);
            else if (!running[i]->meets() && Clock::now() >= running[i]->until())
                running[i]->time_out();
        }
    }
    std::vector<TaskOutcome> outcomes;
    for (auto& child : children)
        outcomes.push_back(std::move(child.outcome));
    return outcomes;
}

} // namespace check
