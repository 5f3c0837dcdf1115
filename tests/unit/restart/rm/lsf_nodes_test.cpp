// What follows from LSF's list of hosts and the notes on them.

#include "restart/rm/lsf_nodes.hpp"

#include <catch2/catch.hpp>

using restart::LsfHostRow;
using restart::LsfNodes;

TEST_CASE("a host is in use as long as LSF counts slots of it") {
    LsfNodes nodes;
    nodes.take(
        {{"n1", "ok", 8, 0}, {"n2", "closed_Full", 8, 8}, {"n3", "ok", 8, 1}, {"n4", "closed_Adm", 8, 0}});
    CHECK_FALSE(nodes.in_use("n1"));
    CHECK(nodes.in_use("n2"));
    CHECK(nodes.in_use("n3"));
    CHECK_FALSE(nodes.in_use("n4"));
    CHECK(nodes.in_use("n9")); // LSF does not name it
}

TEST_CASE("a note is read again at its age, whatever the clock is set to") {
    const base::Time now(base::Duration(1'790'000'000'000));
    constexpr base::Duration age(30'000), hour(3'600'000);
    for (const auto by : {hour, -hour}) {
        LsfNodes nodes;
        const std::vector<LsfHostRow> rows{{"n1", "closed_Adm", 8, 0}};
        CHECK(nodes.unread(rows, now, age).size() == 1);
        nodes.take_notes({{"n1", "fan"}}, now);
        nodes.take(rows);
        CHECK(nodes.unread(rows, now + age, age).empty());
        nodes.clock_set(by);
        CHECK(nodes.unread(rows, now + by + age, age).empty());
        CHECK(nodes.unread(rows, now + by + age + base::Duration(1), age).size() == 1);
    }
}
