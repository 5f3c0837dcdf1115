// Where text is printed: the width of the terminal, and whether it shows colours. All colour escape sequences
// are in this module.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace base {

struct Look {
    std::size_t columns = 0; // of the terminal; 0: lines are not wrapped
    bool colour = false;
};

enum class Tint { none, heading, bad, doubtful };

// `colour` is the argument of --color: "always", "never", "auto". With auto, a terminal shows colours unless
// NO_COLOR is set and not empty or TERM is dumb. A file or a pipe has no columns.
Look look_of(int fd, std::string_view colour);

// The text in this colour, if colours are used.
std::string tinted(std::string text, Tint tint, const Look& look);

} // namespace base
