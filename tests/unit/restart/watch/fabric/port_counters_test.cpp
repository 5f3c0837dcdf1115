#include "restart/watch/fabric/port_counters.hpp"

#include <catch2/catch.hpp>

using namespace restart;
using enum PortCounter;

namespace {

PortReading reading(std::initializer_list<std::pair<PortCounter, std::uint64_t>> values, bool wide) {
    PortReading one;
    one.answered = true;
    for (const auto& [counter, value] : values) {
        one.values[static_cast<std::size_t>(counter)] = value;
        one.has |= bit_of(counter);
        if (wide) one.wide |= bit_of(counter);
    }
    return one;
}

} // namespace

TEST_CASE("a counter grows by what it is above the last reading") {
    const auto grown = growth(reading({{symbol_errors, 7}, {receive_errors, 1}}, false),
                              reading({{symbol_errors, 12}, {receive_errors, 1}}, false));
    CHECK_FALSE(grown.restarted);
    CHECK(grown.of(symbol_errors) == 5);
    CHECK(grown.of(receive_errors) == 0);
}

TEST_CASE("one counter that fell says that the device began anew, and nothing has grown") {
    // After a boot the link has trained: the errors of that are above those of before.
    const auto grown = growth(reading({{symbol_errors, 0}, {receive_packets, 5000}}, false),
                              reading({{symbol_errors, 40}, {receive_packets, 12}}, false));
    CHECK(grown.restarted);
    CHECK(grown.of(symbol_errors) == 0);
    CHECK(grown.of(receive_packets) == 0);
}

TEST_CASE("a counter of 64 bits passes its end, one of 32 stays there") {
    const auto last = ~std::uint64_t{0};
    const auto wrapped =
        growth(reading({{transmit_words, last - 9}}, true), reading({{transmit_words, 10}}, true));
    CHECK_FALSE(wrapped.restarted);
    CHECK(wrapped.of(transmit_words) == 20);
    CHECK(
        growth(reading({{transmit_words, last / 2}}, true), reading({{transmit_words, 10}}, true)).restarted);

    const auto end = std::uint64_t{0xffff'ffff};
    CHECK(growth(reading({{transmit_words, end - 9}}, false), reading({{transmit_words, 10}}, false))
              .restarted);
    const auto stays =
        growth(reading({{transmit_words, end}}, false), reading({{transmit_words, end}}, false));
    CHECK_FALSE(stays.restarted);
    CHECK(stays.of(transmit_words) == 0);
}

TEST_CASE("all of 64 bits set is a device that does not answer") {
    const auto last = ~std::uint64_t{0};
    const auto gone = growth(reading({{symbol_errors, 3}}, true), reading({{symbol_errors, last}}, true));
    const auto back = growth(reading({{symbol_errors, last}}, true), reading({{symbol_errors, 3}}, true));
    for (const auto& grown : {gone, back}) {
        CHECK_FALSE(grown.restarted);
        CHECK(grown.of(symbol_errors) == 0);
    }
}

TEST_CASE("what only one reading has, or with another width, has not grown") {
    const auto none = growth(reading({}, true), reading({{symbol_errors, 3}}, true));
    const auto other = growth(reading({{symbol_errors, 1}}, false), reading({{symbol_errors, 3}}, true));
    for (const auto& grown : {none, other}) {
        CHECK_FALSE(grown.restarted);
        CHECK(grown.of(symbol_errors) == 0);
    }
}

TEST_CASE("each counter of PortCounters has its end by its bits") {
    const std::pair<PortCounter, std::uint64_t> ends[] = {{symbol_errors, 65'535},
                                                          {link_recoveries, 255},
                                                          {link_downs, 255},
                                                          {integrity_errors, 15},
                                                          {transmit_discards, 65'535}};
    for (const auto& [counter, end] : ends) {
        INFO(to_string(counter));
        CHECK(at_its_end(reading({{counter, end}}, false), counter));
        CHECK_FALSE(at_its_end(reading({{counter, end - 1}}, false), counter));
        CHECK_FALSE(at_its_end(reading({{counter, end}}, true), counter));
    }
    CHECK_FALSE(at_its_end(PortReading(), symbol_errors));
}

TEST_CASE("readings pass through a pipe, and a cut one is an error") {
    const std::vector readings{reading({{symbol_errors, 3}}, false),
                               reading({{receive_words, 1ULL << 40U}}, true)};
    const auto bytes = to_bytes(readings);
    CHECK(readings_from(bytes).value() == readings);
    CHECK(readings_from("").value().empty());
    for (std::size_t length = 1; length < sizeof(PortReading); ++length)
        CHECK_FALSE(readings_from(std::string_view(bytes).substr(0, length)));
}
