#include "base/log.hpp"
#include "base/clock.hpp"

#include <cstdlib>
#include <string>
#include <unistd.h>

namespace base::log {
namespace {

struct State {
    std::string program = "railyard";
    Level least = Level::info;
    bool journal = false; // systemd reads "<N>" as the priority and stamps the time itself
};
State state;

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
    std::string line = state.journal
                           ? fmt::format("<{}>{}: ", priority(level), state.program)
                           : fmt::format("{} {}: {}: ", iso_time(now()), state.program, word(level));
    for (const char c : text)
        line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c; // one event, one line
    line += '\n';
    // One write a line: lines of several threads do not mix. A full or closed log never stops the daemon.
    [[maybe_unused]] const auto n = ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace base::log
