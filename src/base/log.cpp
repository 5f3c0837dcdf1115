#include "base/log.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace base::log {
namespace {

struct State {
    std::string program = "railyard";
    Level least = Level::info;
    bool journal = false; // systemd reads "<N>" as the priority and adds the time itself
};
State state;

// Rate limit for each level, so that a flood at one level cannot hide more important lines: a burst, and then
// a rate per second.
constexpr double at_once = 2'000, a_second = 100;

class Bound {
public:
    // The number of lines dropped since the last one written; nothing: this one is dropped, too.
    std::optional<std::uint64_t> take() {
        const auto now = std::chrono::steady_clock::now();
        const std::lock_guard lock(mutex_);
        left_ = std::min(at_once, left_ + a_second * std::chrono::duration<double>(now - at_).count());
        at_ = now;
        if (left_ < 1) {
            ++left_out_;
            return std::nullopt;
        }
        --left_;
        return std::exchange(left_out_, 0);
    }
    void leave_out(std::uint64_t lines) {
        const std::lock_guard lock(mutex_);
        left_out_ += lines;
    }

private:
    std::mutex mutex_;
    double left_ = at_once;
    std::chrono::steady_clock::time_point at_{};
    std::uint64_t left_out_ = 0;
};
std::array<Bound, 4> bounds; // by level

constexpr std::string_view word(Level level) {
    switch (level) {
    case Level::error: return "error";
    case Level::warning: return "warning";
    case Level::info: return "info";
    case Level::debug: break;
    }
    return "debug";
}

constexpr int priority(Level level) { // syslog(3)
    switch (level) {
    case Level::error: return 3;
    case Level::warning: return 4;
    case Level::info: return 6;
    case Level::debug: break;
    }
    return 7;
}

// Standard error. Threads never block on the reader: a hanging journald would otherwise block every thread
// that logs, and with it reports and decisions.
class Output {
public:
    // False if there is no room. The rest of a partly written line is written before the next line.
    bool put(std::string_view line) {
        const std::lock_guard lock(mutex_);
        rest_.erase(0, write(rest_));
        if (!rest_.empty()) return false;
        const auto taken = write(line);
        if (taken > 0) rest_ = line.substr(taken);
        return taken > 0;
    }

private:
    // The number of bytes written at once. A writable pipe has room for at least PIPE_BUF bytes (pipe(7)).
    static std::size_t write(std::string_view text) {
        std::size_t taken = 0;
        while (taken < text.size()) {
            pollfd room{STDERR_FILENO, POLLOUT, 0};
            if (::poll(&room, 1, 0) != 1) break;
            const auto some = text.substr(taken, PIPE_BUF);
            const auto n = ::write(STDERR_FILENO, some.data(), some.size());
            if (n <= 0) break;
            taken += static_cast<std::size_t>(n);
        }
        return taken;
    }

    std::mutex mutex_;
    std::string rest_;
};
Output output;

bool put(Level level, std::string_view text) {
    std::string line = state.journal
                           ? fmt::format("<{}>{}: ", priority(level), state.program)
                           : fmt::format("{} {}: {}: ", iso_time(now()), state.program, word(level));
    for (const char c : text)
        line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c; // one event, one line
    line += '\n';
    return output.put(line);
}

} // namespace

void open(std::string_view program, Level least) {
    state.program = program;
    state.least = least;
    state.journal = std::getenv("JOURNAL_STREAM") != nullptr;
}

bool enabled(Level level) {
    return level <= state.least;
}

void write(Level level, std::string_view text) {
    if (!enabled(level)) return;
    auto& bound = bounds.at(static_cast<std::size_t>(level));
    const auto left_out = bound.take();
    if (!left_out) return;
    if (*left_out > 0 &&
        !put(level, fmt::format("{} lines of this level were left out: there were more than {:g} a second, "
                                "or nobody read them",
                                *left_out, a_second))) {
        bound.leave_out(*left_out + 1);
        return;
    }
    if (!put(level, text)) bound.leave_out(1);
}

} // namespace base::log
