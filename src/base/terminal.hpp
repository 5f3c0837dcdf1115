// What text is printed for: how wide a terminal is, and whether it shows colours. The one place that knows
// escape sequences of colours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace base {

struct Look {
    std::size_t columns = 0; // of the terminal; 0: lines are as long as they are
    bool colour = false;
};

enum class Tint { none, heading, bad, doubtful };

// As commands' --color has it: "always", "never", "auto". With auto a terminal shows colours unless NO_COLOR
// is set to something or TERM is dumb. A file or a pipe has no columns.
Look look_of(int fd, std::string_view colour);

// The text in this colour, where there are any.
std::string tinted(std::string text, Tint tint, const Look& look);

} // namespace base
