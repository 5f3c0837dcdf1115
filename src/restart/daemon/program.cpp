#include "restart/daemon/program.hpp"

#include "base/child.hpp"
#include "base/unique_fd.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace restart {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using Clock = std::chrono::steady_clock;

constexpr int look_again_ms = 50;
constexpr std::chrono::seconds end_patience{5}; // of a killed one
constexpr std::size_t longest_line = 256;

// The last line, however much is printed.
class LastLine {
public:
    void take(std::string_view text) {
        for (const char c : text) {
            if (c == '\n') {
                if (!blank()) last_ = line_;
                line_.clear();
            } else if (line_.size() < longest_line) {
                line_ += c;
            }
        }
    }
    std::string text() const { return base::printable(blank() ? last_ : line_, longest_line); }

private:
    bool blank() const { return line_.find_first_not_of(" \t\r") == std::string::npos; }
    std::string line_, last_;
};

void read_some(int fd, LastLine& line) {
    char block[65536];
    for (;;) {
        const auto n = ::read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        line.take({block, static_cast<std::size_t>(n)});
    }
}

// Whether it has ended. One that hangs in its storage cannot be killed until that answers, and is not waited
// for: neither other repairs nor the stop of restartd may hang with it.
bool buried(pid_t child, const std::function<bool()>& leave) {
    for (const auto until = Clock::now() + end_patience; ::waitpid(child, nullptr, WNOHANG) == 0;) {
        if (leave() || Clock::now() >= until) return false;
        ::poll(nullptr, 0, look_again_ms);
    }
    return true;
}

Expected<std::string> run(const std::vector<std::string>& words, base::Duration limit,
                          const std::function<bool()>& leave) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Code::io, std::generic_category().message(errno)};
    const base::UniqueFd from(ends[0]);
    base::UniqueFd to(ends[1]);
    ::fcntl(from.get(), F_SETFL, O_NONBLOCK);
    const auto child = base::start_program(
        words, {.output = to.get(), .errors = base::Start::Errors::with_output, .own_group = true});
    if (!child)
        return Error{child.error().code == Code::not_found ? Code::not_found : Code::io, child.error().text};
    to = {};
    LastLine line;
    const auto until = Clock::now() + limit;
    int status = 0;
    bool open = true;
    for (;;) {
        pollfd watched{from.get(), POLLIN, 0};
        ::poll(&watched, open ? 1 : 0, look_again_ms);
        if (open && (watched.revents & (POLLIN | POLLHUP)) != 0) {
            read_some(from.get(), line);
            open = (watched.revents & POLLIN) != 0; // else there are no writers any more: not polled again
        }
        const auto reaped = ::waitpid(*child, &status, WNOHANG);
        if (reaped == *child || (reaped < 0 && errno != EINTR)) break;
        if (leave()) return Error{Code::unavailable, "is left to end by itself"};
        if (Clock::now() < until) continue;
        ::kill(-*child, SIGKILL);
        const bool killed = buried(*child, leave);
        return Error{Code::io, fmt::format("has not ended within {}, and {}{}", base::human_duration(limit),
                                           killed ? "was killed" : "does not end when it is killed",
                                           line.text().empty() ? "" : ": " + line.text())};
    }
    read_some(from.get(), line);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return line.text();
    const bool refused = WIFEXITED(status) && WEXITSTATUS(status) == 1;
    return Error{refused ? Code::unfit : Code::io,
                 fmt::format("{} {}{}", WIFEXITED(status) ? "status" : "ended by signal",
                             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                             line.text().empty() ? "" : ": " + line.text())};
}

} // namespace

Expected<std::string> run_program(std::vector<std::string> words, base::Duration limit,
                                  const std::function<bool()>& leave) {
    const auto program = words.at(0);
    auto said = run(words, limit, leave);
    if (!said) return std::move(said).error().within(program);
    return said;
}

} // namespace restart
