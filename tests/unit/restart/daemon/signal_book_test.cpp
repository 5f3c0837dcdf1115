// Questions for hosts' signals, by a clock of the test's own.
#include "restart/daemon/signal_book.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace std::chrono_literals;
using namespace restart;

namespace {

HostSignals of(const std::string& host) {
    HostSignals signals;
    signals.host = host;
    return signals;
}

struct Desk {
    SignalBook book;
    SignalBook::Steady now{};
    base::Time wall{std::chrono::seconds(1'700'000'000)};

    SignalsState ask(const std::string& host = "n001") { return book.ask(host, now).state; }
    bool reported(const std::string& host = "n001", bool tells = true) {
        return book.reported(host, tells, now);
    }
    bool take(const std::string& host = "n001") { return book.take(of(host), now, wall).has_value(); }
};

} // namespace

TEST_CASE("a host is asked once for all who ask, and what it tells serves for some seconds") {
    Desk desk;
    CHECK_FALSE(desk.reported()); // nobody asks
    CHECK_FALSE(desk.take());
    for (int i = 0; i < 100; ++i)
        CHECK(desk.ask() == SignalsState::asked);
    CHECK_FALSE(desk.reported("n002"));
    CHECK(desk.reported());
    CHECK_FALSE(desk.reported()); // it is on its way
    CHECK(desk.take());
    CHECK_FALSE(desk.take()); // nobody asks any more
    for (desk.now += 1s; desk.now < SignalBook::Steady{} + SignalBook::fresh; desk.now += 500ms) {
        CHECK(desk.ask() == SignalsState::here);
        CHECK_FALSE(desk.reported());
    }
    const auto found = desk.book.ask("n001", desk.now);
    CHECK(found.state == SignalsState::asked);
    REQUIRE(found.signals); // the last ones meanwhile
    CHECK(found.came == desk.wall);
    CHECK(desk.reported());
}

TEST_CASE("a question that was lost is said again, and one that is not answered is given up") {
    Desk desk;
    desk.ask();
    unsigned told = 0;
    for (int i = 0; i < 40; ++i)
        told += desk.reported() ? 1 : 0;
    CHECK(told == 10);
    desk.now += SignalBook::patience;
    CHECK(desk.book.look("n001", desk.now).state == SignalsState::asked);
    CHECK_FALSE(desk.reported());
    CHECK_FALSE(desk.take());
}

TEST_CASE("an agent of an older release is known by its report, and asked again later") {
    Desk desk;
    desk.ask();
    CHECK_FALSE(desk.reported("n001", false));
    CHECK(desk.ask() == SignalsState::older);
    CHECK_FALSE(desk.take());
    desk.now += SignalBook::fresh;
    CHECK(desk.ask() == SignalsState::asked); // it was updated meanwhile
    CHECK(desk.reported("n001", true));
    CHECK(desk.take());
    CHECK(desk.ask() == SignalsState::here);
}

TEST_CASE("few hosts are asked at once, and few answers are kept, for some time") {
    Desk desk;
    for (std::size_t i = 0; i < SignalBook::most_asked; ++i)
        CHECK(desk.ask(fmt::format("n{}", i)) == SignalsState::asked);
    CHECK(desk.ask("late") == SignalsState::busy);
    CHECK(desk.ask("n0") == SignalsState::asked);
    CHECK(desk.take("n0"));
    CHECK(desk.ask("late") == SignalsState::asked);
    CHECK(desk.take("late"));
    for (std::size_t i = 1; i < SignalBook::most_asked; ++i)
        CHECK(desk.take(fmt::format("n{}", i)));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < 1'000; ++i) {
        desk.now += 1ms;
        const auto host = fmt::format("m{}", i);
        CHECK(desk.ask(host) == SignalsState::asked);
        CHECK(desk.take(host));
    }
    for (std::size_t i = 0; i < 1'000; ++i)
        if (desk.book.look(fmt::format("m{}", i), desk.now).signals) ++kept;
    CHECK(kept == SignalBook::most_kept);
    CHECK(desk.book.look("m999", desk.now).signals); // the newest
    desk.now += SignalBook::keep;
    CHECK_FALSE(desk.book.look("m999", desk.now).signals);
}

TEST_CASE("answers that are kept do not keep others from being asked again") {
    Desk desk;
    for (std::size_t i = 0; i < SignalBook::most_kept; ++i) {
        desk.ask(fmt::format("n{}", i));
        CHECK(desk.take(fmt::format("n{}", i)));
    }
    desk.now += SignalBook::fresh;
    for (std::size_t i = 0; i < SignalBook::most_asked; ++i)
        CHECK(desk.ask(fmt::format("n{}", i)) == SignalsState::asked);
    const auto busy = desk.book.ask("n40", desk.now);
    CHECK(busy.state == SignalsState::busy);
    CHECK(busy.signals); // the old ones at least
}
