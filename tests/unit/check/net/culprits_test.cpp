#include "check/net/culprits.hpp"

#include "traces/rail_matrix.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace check::net;
using trace::MatrixShape;
using trace::RailMatrix;

namespace {

const double third_off = -std::log(0.7);

MatrixShape shape_of(std::uint32_t hosts, std::uint32_t rails, std::uint32_t hosts_a_leaf = 32) {
    MatrixShape shape;
    shape.hosts = hosts;
    shape.rails = rails;
    shape.hosts_a_leaf = hosts_a_leaf;
    return shape;
}

std::vector<Culprit> named(const MatrixShape& shape, const RailMatrix& matrix, std::uint32_t rounds,
                           std::uint64_t seed = 1) {
    return culprits(fit(matrix.measure(seed, rounds), shape.hosts, shape.rails), matrix.leaves());
}

std::string text(const std::vector<Culprit>& found) {
    std::string text;
    for (const auto& one : found)
        text += std::string(to_string(one.part)) + " " + (one.host ? std::to_string(*one.host) : "-") + " " +
                (one.rail ? std::to_string(*one.rail) : "-") + " " + std::to_string(one.slowness) + "\n";
    return text;
}

} // namespace

TEST_CASE("one slow cable is named, and nothing else") {
    const auto shape = shape_of(64, 8);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        RailMatrix matrix(shape);
        const auto host = static_cast<std::uint32_t>(seed * 7 % 64),
                   rail = static_cast<std::uint32_t>(seed % 8);
        matrix.slow_cable(host, rail, third_off);
        const auto found = named(shape, matrix, 12, seed);
        CAPTURE(seed);
        CAPTURE(text(found));
        REQUIRE(found.size() == 1);
        CHECK(found[0].part == Part::cable);
        CHECK(found[0].host == host);
        CHECK(found[0].rail == rail);
        CHECK(found[0].slowness == Approx(third_off).margin(0.1));
    }
}

TEST_CASE("nothing is named where nothing is slow") {
    const auto shape = shape_of(64, 8);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        CHECK(named(shape, RailMatrix(shape), 12, seed).empty());
    }
}

TEST_CASE("a slow host is named once and not by its cables") {
    const auto shape = shape_of(32, 4);
    RailMatrix matrix(shape);
    matrix.slow_host(5, third_off);
    const auto found = named(shape, matrix, 0);
    CAPTURE(text(found));
    REQUIRE(found.size() == 1);
    CHECK(found[0].part == Part::host);
    CHECK(found[0].host == 5u);
    CHECK_FALSE(found[0].rail);
}

TEST_CASE("a slow leaf is named once, and its own slower cable beside it") {
    const auto shape = shape_of(32, 4, 8);
    RailMatrix matrix(shape);
    matrix.slow_leaf(2, 1, third_off);
    matrix.slow_cable(17, 1, 4 * third_off);
    const auto found = named(shape, matrix, 0);
    CAPTURE(text(found));
    REQUIRE(found.size() == 2);
    CHECK(found[0].part == Part::cable);
    CHECK(found[0].host == 17u);
    CHECK(found[0].slowness == Approx(3 * third_off).margin(0.1)); // beside its leaf's
    CHECK(found[1].part == Part::leaf);
    CHECK(found[1].leaf == 2u);
    CHECK(found[1].rail == 1u);
}

TEST_CASE("a rail that is slow on all hosts is named as a rail") {
    const auto shape = shape_of(16, 4);
    RailMatrix matrix(shape);
    for (std::uint32_t host = 0; host < 16; ++host)
        matrix.slow_cable(host, 3, third_off);
    const auto found = named(shape, matrix, 0);
    CAPTURE(text(found));
    REQUIRE(found.size() == 1);
    CHECK(found[0].part == Part::rail);
    CHECK(found[0].rail == 3u);
}

TEST_CASE("partners of slow ends are not blamed, however many are slow") {
    const auto shape = shape_of(32, 4);
    RailMatrix matrix(shape);
    for (std::uint32_t host = 0; host < 12; ++host)
        matrix.slow_cable(host, host % 4, third_off * (1 + host % 3));
    const auto found = named(shape, matrix, 0);
    CHECK(found.size() == 12);
    for (const auto& one : found) {
        CHECK(one.part == Part::cable);
        CHECK(*one.host < 12);
        CHECK(*one.rail == *one.host % 4);
    }
}

TEST_CASE("a host with one rail is named as a host") {
    const auto shape = shape_of(16, 1);
    RailMatrix matrix(shape);
    matrix.slow_cable(9, 0, 1);
    const auto found = named(shape, matrix, 0);
    CAPTURE(text(found));
    REQUIRE(found.size() == 1);
    CHECK(found[0].part == Part::host);
    CHECK(found[0].host == 9u);
}

TEST_CASE("of three hosts the slow cable is named, of two only its rail") {
    auto shape = shape_of(3, 4);
    shape.hiccups = 0;
    RailMatrix matrix(shape);
    matrix.slow_cable(2, 1, 2);
    auto found = named(shape, matrix, 0);
    CAPTURE(text(found));
    REQUIRE(found.size() == 1);
    CHECK(found[0].part == Part::cable);
    CHECK(found[0].host == 2u);
    CHECK(found[0].rail == 1u);
    shape.hosts = 2;
    RailMatrix pair(shape);
    pair.slow_cable(1, 1, 2);
    found = named(shape, pair, 0);
    CAPTURE(text(found));
    REQUIRE(found.size() == 1);
    CHECK(found[0].part == Part::rail);
    CHECK(found[0].rail == 1u);
}

TEST_CASE("a cable at a twentieth of the others' bandwidth is named although a pair of few was disturbed") {
    struct Pair {
        std::uint32_t a, b, rail;
        double gbps;
    };
    std::vector<Cell> cells;
    for (const auto& pair : {Pair{0, 1, 0, 5.6}, Pair{0, 2, 0, 12.0}, Pair{1, 2, 0, 15.6},
                             Pair{0, 1, 1, 15.8}, Pair{0, 2, 1, 0.973}, Pair{1, 2, 1, 0.992}})
        cells.push_back({pair.a, pair.b, pair.rail, -std::log(pair.gbps)});
    const auto found = culprits(fit(cells, 3, 2), {});
    CAPTURE(text(found));
    REQUIRE(found.size() == 1);
    CHECK(found[0].part == Part::cable);
    CHECK(found[0].host == 2);
    CHECK(found[0].rail == 1);
}

TEST_CASE("ends that nobody measured, and measures that are no numbers, decide nothing") {
    CHECK(culprits(fit({}, 4, 2), {}).empty());
    CHECK(culprits(fit({{0, 1, 0, std::nan("")}, {0, 1, 1, HUGE_VAL}}, 4, 2), {}).empty());
    const auto shape = shape_of(16, 2);
    auto cells = RailMatrix(shape).measure(1, 0);
    std::erase_if(cells, [](const Cell& cell) { return cell.a == 3 || cell.b == 3; });
    const auto fitted = fit(cells, 16, 2);
    CHECK(fitted.end(3, 0).heard == 0);
    CHECK(culprits(fitted, {}).empty());
}

TEST_CASE("latencies from microseconds to milliseconds do not hide each other") {
    // A cable with 5 ms more, another with 200 us more, of 50 us: logarithms 4.6 and 1.6.
    const auto shape = shape_of(16, 8);
    RailMatrix matrix(shape);
    matrix.slow_cable(4, 2, std::log(101.0));
    matrix.slow_cable(5, 2, std::log(5.0));
    const auto found = named(shape, matrix, 0);
    CAPTURE(text(found));
    REQUIRE(found.size() == 2);
    CHECK(found[0].host == 4u);
    CHECK(found[1].host == 5u);
}
