#include "restart/ckpt/agent.hpp"

#include "base/json.hpp"

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
using base::Reader;

constexpr std::size_t longest_answer = 65536;
constexpr std::chrono::seconds shortest_pause{1}, longest_pause{30};
constexpr std::chrono::milliseconds slow{50}; // a failure that took this long holds the job up

// Waits until `fd` is ready for `events`. False: the deadline passed.
bool wait_for(int fd, short events, std::chrono::steady_clock::time_point deadline) {
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd watched{fd, events, 0};
        const int n = ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
        if (n > 0) return true;
        if (n == 0 || errno != EINTR) return false;
    }
}

// A number that may be null or absent.
Expected<std::optional<double>> maybe_number(const Reader& answer, std::string_view key) {
    if (!answer.has(key)) return std::optional<double>{};
    const auto number = answer.number(key);
    if (!number) return number.error();
    return std::optional<double>(*number);
}

// The answer's object, unless it says {"ok":false,"error":"…"}.
Expected<boost::json::value> parse_answer(const std::string& line) {
    auto document = base::parse_json(line);
    if (!document) return document;
    const Reader answer(*document);
    if (!document->is_object()) return answer.error("an object is wanted");
    if (answer.has("ok")) {
        const auto ok = answer.boolean("ok");
        if (!ok) return ok.error();
        if (!*ok) return Error{Code::denied, "refused: " + answer.text("error").value_or("no reason given")};
    }
    return document;
}

} // namespace

Agent::Agent(std::string socket, std::int64_t job, std::uint32_t restart, std::chrono::milliseconds patience)
    : socket_(std::move(socket)), job_(job), restart_(restart), patience_(patience) {}

Expected<AgentState> Agent::due() {
    const auto line = ask("{\"op\":\"due\"}\n", Clock::now() + patience_);
    if (!line) return line.error();
    const auto document = parse_answer(*line);
    if (!document) return give_up(document.error());
    const Reader answer(*document);
    AgentState state;
    const auto interval = maybe_number(answer, "interval_s"), save_by = maybe_number(answer, "save_by");
    if (!interval) return give_up(interval.error());
    if (!save_by) return give_up(save_by.error());
    if (*interval && **interval <= 0) return give_up(answer.error("interval_s: is not above 0"));
    state.interval_s = *interval;
    state.save_by_s = *save_by;
    if (answer.has("incident")) {
        auto incident = answer.text("incident");
        if (!incident) return give_up(incident.error());
        state.incident = std::move(*incident);
    }
    return state;
}

Expected<void> Agent::committed(std::uint64_t step, const std::string& path, double cost_s,
                                std::uint64_t bytes) {
    const auto text = base::to_text(
        {{"op", "commit"}, {"step", step}, {"path", path}, {"cost_s", cost_s}, {"bytes", bytes}});
    const auto line = ask(text + "\n", Clock::now() + std::chrono::seconds(1));
    if (!line) return line.error();
    if (const auto document = parse_answer(*line); !document) return give_up(document.error());
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
        // A connection kept from before may be to an agent that was restarted since.
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
    const auto hello = exchange(
        fmt::format("{{\"op\":\"hello\",\"job\":{},\"epoch\":{},\"rank\":0}}\n", job_, restart_), deadline);
    if (!hello) return hello.error();
    if (const auto document = parse_answer(*hello); !document) return document.error();
    return {};
}

Expected<std::string> Agent::exchange(const std::string& line, Clock::time_point deadline) {
    for (std::string_view rest = line; !rest.empty();) {
        const auto n = ::send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (n >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(n));
        } else if (errno == EAGAIN) {
            if (!wait_for(fd_.get(), POLLOUT, deadline)) return Error{Code::unavailable, "takes no question"};
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
        if (pending_.size() > longest_answer) return Error{Code::input, "its answer does not end"};
        char block[4096];
        const auto n = ::recv(fd_.get(), block, sizeof block, 0);
        if (n > 0) {
            pending_.append(block, static_cast<std::size_t>(n));
        } else if (n == 0) {
            return Error{Code::unavailable, "closed the connection"};
        } else if (errno == EAGAIN) {
            if (!wait_for(fd_.get(), POLLIN, deadline)) return Error{Code::unavailable, "does not answer"};
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
