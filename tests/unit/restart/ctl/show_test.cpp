#include "restart/ctl/show.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include <sstream>

using Catch::Contains;

namespace {

restart::Status faulty() {
    restart::Status status;
    status.time = base::Time(std::chrono::seconds(1'772'371'205));
    restart::HostStatus host;
    host.name = "n001";
    host.state = "drained";
    host.drain = true;
    host.agent.last_report = status.time;
    host.reason = "railyard[i-7]: all links of it are down since 14:20, on both ends";
    for (const char hca : {'0', '1', '2', '3', '4', '5', '6', '7'})
        host.findings.push_back({"ib.link_down", std::string("mlx5_") + hca + ":1", restart::Severity::evict,
                                 status.time, "it is down"});
    status.hosts.push_back(host);
    return status;
}

std::size_t longest_line(const std::string& text) {
    std::istringstream lines(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);)
        longest = std::max(longest, line.size());
    return longest;
}

} // namespace

TEST_CASE("status tells what is alike once, and fits the terminal") {
    const auto whole = show(faulty(), false);
    CHECK_THAT(whole, Contains("ib.link_down on mlx5_[0-7]:1 (evict)"));
    CHECK(longest_line(whole) > 100);
    CHECK(longest_line(show(faulty(), false, {.columns = 100})) <= 100);
}

TEST_CASE("a host with a fault that puts it out of use is shown in red, and only where there are colours") {
    CHECK_THAT(show(faulty(), false, {.colour = true}), Contains("\033[31mn001"));
    CHECK_THAT(show(faulty(), false), !Contains("\033"));
}

TEST_CASE("lines that are added to a history stand below those before") {
    restart::History first, more;
    first.timeline.push_back({{}, "signal", "i-7", "n001", {}, {}, "its links are down"});
    more.timeline.push_back({{}, "decision", "i-7", "n001", {}, {}, "it is drained"});
    const auto above = show_first(first, {}), below = show_more(more, {});
    CHECK_THAT(above, Contains("WHAT"));
    CHECK_THAT(below, !Contains("WHAT"));
    CHECK(above.find("its links", above.find('\n')) - above.find('\n') - 1 == below.find("it is drained"));
}
