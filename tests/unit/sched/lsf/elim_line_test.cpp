#include "sched/lsf/elim_line.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <chrono>
#include <string>

using namespace sched::lsf;
using namespace std::chrono_literals;

namespace {

const base::Time now{1'700'000'000'000ms};

// Of a look that long ago, in nodewatchd's words (metrics_page.cpp).
std::string page(const std::string& findings, base::Duration ago = 1s) {
    return "# HELP railyard_findings Findings that hold, by rule and severity.\n"
           "# TYPE railyard_findings gauge\n" +
           findings + fmt::format("railyard_look_timestamp_seconds {}\n", base::to_seconds(now - ago));
}

std::string finding(const std::string& severity, int count = 1) {
    return fmt::format("railyard_findings{{rule=\"gpu.lost\",severity=\"{}\"}} {}\n", severity, count);
}

} // namespace

TEST_CASE("a host is as sound as its worst finding") {
    CHECK(health_of(page(""), now, 30s) == sound);
    CHECK(health_of(page(finding("info")), now, 30s) == sound);
    CHECK(health_of(page(finding("warn")), now, 30s) == warned);
    CHECK(health_of(page(finding("evict")), now, 30s) == broken);
    CHECK(health_of(page(finding("fatal")), now, 30s) == broken);
    CHECK(health_of(page(finding("evict") + finding("warn") + finding("info")), now, 30s) == broken);
    CHECK(health_of(page(finding("fatal", 0)), now, 30s) == sound);
    CHECK(warned > 50); // what elim.rail(8) recommends for loadSched
    CHECK(unknown > 50);
    CHECK(broken < 50);
}

TEST_CASE("what is old, cut or another's page says nothing") {
    CHECK_FALSE(health_of(page("", 31s), now, 30s));
    CHECK_FALSE(health_of(page("", -31s), now, 30s)); // a clock was set back
    CHECK(health_of(page("", -1s), now, 30s) == sound);
    CHECK_FALSE(health_of("", now, 30s));
    CHECK_FALSE(health_of("node_load1 0.3\n", now, 30s));
    CHECK_FALSE(health_of("railyard_look_timestamp_seconds x\n", now, 30s));
    CHECK_FALSE(health_of("railyard_look_timestamp_seconds nan\n", now, 30s));
    const auto whole = page(finding("warn"));
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK_FALSE(health_of(whole.substr(0, size), now, 30s));
}

TEST_CASE("lim is told the indices that it asks for") {
    CHECK(elim_line(60, nullptr) == "2 health 60 planned 0\n");
    CHECK(elim_line(60, "mem health tmp planned") == "2 health 60 planned 0\n");
    CHECK(elim_line(0, "planned") == "1 planned 0\n");
    CHECK(elim_line(0, "r1m health") == "1 health 0\n");
    CHECK(elim_line(100, "healthy unplanned").empty());
    CHECK(elim_line(100, "").empty());
}
