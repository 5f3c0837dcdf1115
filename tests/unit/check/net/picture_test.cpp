#include "check/net/picture.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace check::net;

namespace {

// All pairs of so many hosts over two rails; over rail 1 those of host 2 reach a tenth.
Gathered measured(std::uint32_t hosts) {
    Gathered made;
    for (std::uint32_t a = 0; a < hosts; ++a) {
        made.hosts.push_back(fmt::format("n{}<&>", a));
        made.rails.push_back({{"mlx5_0:1", "x", ""}, {"mlx5_1:1", "x", ""}});
        for (std::uint32_t b = a + 1; b < hosts; ++b)
            for (std::uint32_t rail = 0; rail < 2; ++rail) {
                const double gbps = rail == 1 && (a == 2 || b == 2) ? 10 : 100;
                made.measures.push_back({a, b, rail, Measured{2, gbps, gbps}, {}});
            }
    }
    made.rounds = made.all_rounds = hosts - 1;
    return made;
}

std::size_t count(const std::string& text, const std::string& of) {
    std::size_t found = 0;
    for (auto at = text.find(of); at != std::string::npos; at = text.find(of, at + 1))
        ++found;
    return found;
}

} // namespace

TEST_CASE("a picture shows every end, frames what is named, and lists it") {
    const auto gathered = measured(6);
    const auto verdict = judge(gathered, {});
    REQUIRE(verdict.slow.size() == 1);
    const auto svg = draw_svg(gathered, verdict, {"su2", "su2", "su1", "su1", "su2", "su1"});
    CHECK(svg.starts_with("<?xml"));
    CHECK(count(svg, "<title>") == 12);
    CHECK(count(svg, "class=\"named\"") == 1);
    CHECK(svg.find("n2&lt;&amp;&gt; rail 1: 10 Gb/s, 10 % of the rail's") != std::string::npos);
    CHECK(svg.find("n2&lt;&amp;&gt; mlx5_1:1 (rail 1): 10 % of the others' bandwidth") != std::string::npos);
    CHECK(svg.find(">su1<") < svg.find(">su2<")); // by units
    CHECK(count(svg, ": pairs") == 2);
    CHECK(svg == draw_svg(gathered, verdict, {"su2", "su2", "su1", "su1", "su2", "su1"}));
}

TEST_CASE("a picture of many hosts has their ends, and of hosts that nobody measured empty ones") {
    auto gathered = measured(130);
    const auto verdict = judge(gathered, {});
    const auto svg = draw_svg(gathered, verdict, {});
    CHECK(count(svg, "<title>") == 260);
    CHECK(svg.find(": pairs") == std::string::npos);
    Gathered none;
    none.hosts = {"a", "b"};
    none.rails = {{{"eth0", "x", ""}}, {{"eth0", "", "no such device"}}};
    none.lost = {{1, "did not come"}};
    const auto empty = draw_svg(none, judge(none, {}), {});
    CHECK(count(empty, "class=\"empty\"") == 2);
    CHECK(empty.find("b: did not come") != std::string::npos);
}
