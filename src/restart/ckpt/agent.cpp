#include "restart/ckpt/agent.hpp"

#include "base/wait_ready.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <utility>

namespace restart::ckpt {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::chrono::seconds shortest_pause{1}, longest_pause{30};
constexpr std::chrono::milliseconds slow{50}; // a failure that took this long delays the job

} // namespace

Agent::Agent(std::string socket, base::JobId job, std::uint32_t restart, std::chrono::milliseconds patience)
    : socket_(std::move(socket)), job_(job), restart_(restart), patience_(patience) {}

Expected<AgentState> Agent::due() {
    const auto line = ask(to_line(JobDue{}), Clock::now() + patience_);
    if (!line) return line.error();
    const auto advice = read_advice(*line);
    if (!advice) return give_up(advice.error());
    AgentState state;
    state.interval_s = advice->interval_s;
    if (advice->save_by) state.save_by_s = base::to_seconds(*advice->save_by);
    state.incident = advice->incident.value_or("");
    return state;
}

Expected<void> Agent::committed(JobCommit commit) {
    const auto line = ask(to_line(std::move(commit)), Clock::now() + std::chrono::seconds(1));
    if (!line) return line.error();
    if (auto done = read_done(*line); !done) return give_up(std::move(done).error());
    return {};
}

Expected<void> Agent::marked(const JobMark& mark) {
    const auto line = ask(to_line(mark), Clock::now() + patience_);
    if (!line) return line.error();
    if (auto done = read_done(*line); !done) return give_up(std::move(done).error());
    return {};
}

Expected<RunAdvice> Agent::run(const JobRun& run) {
    const auto line = ask(to_line(run), Clock::now() + patience_);
    if (!line) return line.error();
    auto advice = read_run_advice(*line);
    if (!advice) return give_up(std::move(advice).error());
    return advice;
}

Expected<void> Agent::over() {
    const auto line = ask(to_line(JobOver{}), Clock::now() + patience_);
    if (!line) return line.error();
    if (auto done = read_done(*line); !done) return give_up(std::move(done).error());
    return {};
}

Expected<KeepAdvice> Agent::keep(const JobKeep& keep) {
    const auto line = ask(to_line(keep), Clock::now() + patience_);
    if (!line) return line.error();
    auto advice = read_keep_advice(*line);
    if (!advice) return give_up(std::move(advice).error());
    return advice;
}

Expected<PreflightAdvice> Agent::preflight(const Preflight& preflight) {
    const auto line = ask(to_line(preflight), Clock::now() + patience_);
    if (!line) return line.error();
    auto advice = read_preflight_advice(*line);
    if (!advice) return give_up(std::move(advice).error());
    return advice;
}

Expected<void> Agent::save(base::Duration within) {
    const auto line = ask(to_line(JobSave{base::to_seconds(within)}), Clock::now() + patience_);
    if (!line) return line.error();
    if (auto done = read_done(*line); !done) return give_up(std::move(done).error());
    return {};
}

Expected<std::string> Agent::ask(const std::string& line, Clock::time_point deadline) {
    asked_ = Clock::now();
    if (asked_ < not_before_) return Error{Code::unavailable, last_trouble_};
    for (const bool again : {true, false}) {
        const bool kept = static_cast<bool>(fd_);
        if (!kept)
            if (auto ok = connect(deadline); !ok) return give_up(std::move(ok).error());
        auto answer = exchange(line, deadline);
        if (answer) {
            pause_ = shortest_pause;
            return answer;
        }
        fd_ = {};
        // The agent may have been restarted since this connection was made.
        if (!kept || !again || Clock::now() >= deadline) return give_up(std::move(answer).error());
    }
    return Error{Code::internal, "asked twice"};
}

Expected<void> Agent::connect(Clock::time_point deadline) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket_.size() >= sizeof address.sun_path)
        return Error{Code::usage, fmt::format("the path is longer than the {} bytes a socket can have",
                                              sizeof address.sun_path - 1)};
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return Error{Code::unavailable, std::generic_category().message(errno)};
    fd_ = std::move(fd);
    pending_.clear();
    const auto answer = exchange(to_line(JobHello{job_, restart_, 0}), deadline);
    if (!answer) return answer.error();
    const auto advice = read_advice(*answer);
    if (!advice) return advice.error();
    return {};
}

Expected<std::string> Agent::exchange(const std::string& line, Clock::time_point deadline) {
    for (std::string_view rest = line; !rest.empty();) {
        const auto n = ::send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (n >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(n));
        } else if (errno == EAGAIN) {
            if (!base::wait_ready(fd_.get(), POLLOUT, deadline))
                return Error{Code::unavailable, "takes no question"};
        } else if (errno != EINTR) {
            return Error{Code::unavailable, std::generic_category().message(errno)};
        }
    }
    for (;;) {
        if (const auto end = pending_.find('\n'); end != std::string::npos) {
            auto answer = pending_.substr(0, end);
            pending_.erase(0, end + 1);
            return answer;
        }
        if (pending_.size() > longest_job_answer) return Error{Code::input, "its answer does not end"};
        char block[4096];
        const auto n = ::recv(fd_.get(), block, sizeof block, 0);
        if (n > 0) {
            pending_.append(block, static_cast<std::size_t>(n));
        } else if (n == 0) {
            return Error{Code::unavailable, "closed the connection"};
        } else if (errno == EAGAIN) {
            if (!base::wait_ready(fd_.get(), POLLIN, deadline))
                return Error{Code::unavailable, "does not answer"};
        } else if (errno != EINTR) {
            return Error{Code::unavailable, std::generic_category().message(errno)};
        }
    }
}

Error Agent::give_up(Error error) {
    fd_ = {};
    pending_.clear();
    const auto now = Clock::now();
    pause_ = now - asked_ < slow ? shortest_pause : std::min(pause_ * 2, longest_pause);
    not_before_ = now + pause_;
    last_trouble_ = fmt::format("nodewatchd at {}: {}", socket_, error.text);
    error.text = last_trouble_;
    return error;
}

} // namespace restart::ckpt
