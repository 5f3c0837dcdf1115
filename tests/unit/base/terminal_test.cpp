#include "base/terminal.hpp"

#include "base/unique_fd.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace {

// A terminal of our own, and what is printed on.
struct Terminal {
    base::UniqueFd master, slave;
    Terminal() : master(::posix_openpt(O_RDWR | O_NOCTTY)) {
        if (!master || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0) return;
        slave = base::UniqueFd(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY));
        const struct winsize size { .ws_row = 24, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0 };
        if (slave) ::ioctl(slave.get(), TIOCSWINSZ, &size);
    }
};

} // namespace

TEST_CASE("a terminal has columns and colours, and NO_COLOR, --color and a dumb one say otherwise") {
    const Terminal terminal;
    REQUIRE(terminal.slave);
    const auto colour = [&](const char* when) { return base::look_of(terminal.slave.get(), when).colour; };
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "xterm", 1);
    CHECK(base::look_of(terminal.slave.get(), "auto").columns == 100);
    CHECK(colour("auto"));
    CHECK_FALSE(colour("never"));
    ::setenv("NO_COLOR", "", 1); // as if it were not set: no-color.org
    CHECK(colour("auto"));
    ::setenv("NO_COLOR", "1", 1);
    CHECK_FALSE(colour("auto"));
    CHECK(colour("always"));
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "dumb", 1);
    CHECK_FALSE(colour("auto"));
}

TEST_CASE("a file has no columns, and colours only when they are asked for") {
    const base::UniqueFd file(::open("/dev/null", O_WRONLY));
    CHECK(base::look_of(file.get(), "auto").columns == 0);
    CHECK_FALSE(base::look_of(file.get(), "auto").colour);
    CHECK(base::look_of(file.get(), "always").colour);
}
