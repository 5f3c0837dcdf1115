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

TEST_CASE("a host whose sbatchd answers before its lim is neither lost nor drained, and gets no gang yet") {
    LsfNodes nodes;
    nodes.take({{"n1", "closed_LIM", 8, 0}});
    const auto node = nodes.node_of(nodes.rows().front());
    CHECK_FALSE(nodes.is_lost("n1"));
    CHECK_FALSE(node.drain);
    CHECK_FALSE(node.down);
    CHECK_FALSE(node.not_responding);
    CHECK(node.use == base::HostState::drained);
}

TEST_CASE("the note of a host's opening is no drain when the host is lost") {
    const base::Time now(base::Duration(1'790'000'000'000));
    constexpr base::Duration age(30'000);
    LsfNodes nodes;
    const auto list = [&](const std::string& status, const std::string& note) {
        const std::vector<LsfHostRow> rows{{"n1", status, 8, 0}};
        const auto unread = nodes.unread(rows, now, age);
        if (!unread.empty()) nodes.take_notes({{"n1", note}}, now);
        nodes.take(rows);
        return nodes.node_of(rows.front());
    };
    SECTION("of a person's opening") {
        CHECK_FALSE(list("ok", "fan is new").drain);
        CHECK_FALSE(list("unreach", "fan is new").drain);
        CHECK(list("unreach", "fan is new").reason.empty());
    }
    SECTION("of ours, also where this life has not seen the host open") {
        CHECK_FALSE(list("unavail", std::string(LsfNodes::resumed)).drain);
    }
    SECTION("one of a closing is") {
        CHECK_FALSE(list("ok", "fan is new").drain);
        CHECK(list("closed_Adm", "fan again").drain);
        CHECK(list("unreach", "fan again").drain);
        CHECK(list("unreach", "fan again").reason == "fan again");
        CHECK_FALSE(list("ok", "").drain);     // opened without a note
        CHECK(list("unreach", "smoke").drain); // closed when it was lost already
    }
    SECTION("each opening has its own") {
        list("ok", "one");
        CHECK(list("closed_Adm", "fan").drain);
        list("ok", "two");
        CHECK_FALSE(list("unreach", "two").drain);
    }
}

TEST_CASE("the notes of hosts that are open are read once, few with each list") {
    const base::Time now(base::Duration(1'790'000'000'000));
    LsfNodes nodes;
    std::vector<LsfHostRow> rows;
    for (int i = 0; i < 1000; ++i)
        rows.push_back({"n" + std::to_string(i), "ok", 8, 0});
    const auto read_all = [&] {
        std::size_t all = 0;
        for (int list = 0; list < 10; ++list) {
            const auto unread = nodes.unread(rows, now, base::Duration(30'000));
            CHECK(unread.size() <= 256);
            all += unread.size();
            std::map<std::string, std::string> notes;
            for (const auto& host : unread)
                notes[host] = "";
            nodes.take_notes(notes, now);
            nodes.take(rows);
        }
        return all;
    };
    CHECK(read_all() == 1000);
    CHECK(read_all() == 0);
    // Half of them come back at once.
    auto lost = rows;
    for (int i = 0; i < 500; ++i)
        lost[static_cast<std::size_t>(i)].status = "unavail";
    nodes.take(lost);
    CHECK(read_all() == 500);
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
