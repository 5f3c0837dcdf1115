// Daemon logging on standard error, one event a line; under systemd with its priority prefix.
//
// Levels are defined by what the reader must do: error = work was lost or will be; warning = an administrator
// should act; info = rare, worth a line (transitions, not states); debug = for developers. Libraries do not
// log.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace base::log {

enum class Level { error, warning, info, debug };

// Sets the program name put in front of each line, and the lowest level that is written. Call once at start.
void open(std::string_view program, Level least);

void write(Level level, std::string_view text);
bool enabled(Level level);

template <class... Args> void error(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::error, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args> void warning(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args> void info(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args> void debug(fmt::format_string<Args...> format, Args&&... args) {
    if (enabled(Level::debug)) write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}

} // namespace base::log
