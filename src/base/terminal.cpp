#include "base/terminal.hpp"

#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace base {
namespace {

bool shows_colours() {
    const char* none = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    return (none == nullptr || *none == '\0') && term != nullptr && std::string_view(term) != "dumb";
}

} // namespace

Look look_of(int fd, std::string_view colour) {
    Look look;
    const bool terminal = ::isatty(fd) != 0;
    struct winsize size {};
    if (terminal && ::ioctl(fd, TIOCGWINSZ, &size) == 0) look.columns = size.ws_col;
    look.colour = colour == "always" || (colour != "never" && terminal && shows_colours());
    return look;
}

std::string tinted(std::string text, Tint tint, const Look& look) {
    if (!look.colour || tint == Tint::none || text.empty()) return text;
    const std::string_view code = tint == Tint::heading ? "1" : tint == Tint::bad ? "31" : "33";
    return "\033[" + std::string(code) + "m" + text + "\033[0m";
}

} // namespace base
