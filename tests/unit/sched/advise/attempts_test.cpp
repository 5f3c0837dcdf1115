#include "sched/advise/attempts.hpp"

#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

namespace {

using sched::Ask;
using sched::Attempt;
using sched::Attempts;
using sched::Span;

topo::Fabric make(std::string_view spec) {
    return *topo::synthesise(*topo::parse_synth(spec));
}

Ask ask_for(const topo::Fabric& fabric, std::uint32_t nodes, Span span) {
    Ask ask;
    ask.request.nodes = nodes;
    ask.request.span = span;
    ask.free_at.assign(fabric.hosts.size(), 0);
    return ask;
}

void set_range(Ask& ask, std::uint32_t first, std::uint32_t last, std::int64_t at) {
    std::fill(ask.free_at.begin() + first, ask.free_at.begin() + last, at);
}

std::set<int> units_of(const topo::Fabric& fabric, const Attempt& attempt) {
    std::set<int> units;
    for (const auto host : attempt.hosts)
        units.insert(fabric.hosts[host].unit);
    return units;
}

std::vector<Attempt> all_of(Attempts& attempts) {
    std::vector<Attempt> all;
    while (auto attempt = attempts.next())
        all.push_back(*std::move(attempt));
    return all;
}

} // namespace

TEST_CASE("attempts: the hosts of place() come first, then whole units") {
    const auto fabric = make("pods=1 units=3 hosts=8 rails=2");
    const sched::Placer placer(fabric);
    auto ask = ask_for(fabric, 6, Span::unit);
    set_range(ask, 8, 10, Ask::never); // su2 has six left: the tightest
    Attempts attempts(placer, ask);
    const auto all = all_of(attempts);
    REQUIRE(all.size() == 4);
    CHECK(all[0].hosts == std::vector<std::uint32_t>{10, 11, 12, 13, 14, 15});
    CHECK(all[0].earliest == 0);
    CHECK_FALSE(all[0].why.empty());
    CHECK(units_of(fabric, all[1]) == std::set{1});
    CHECK(units_of(fabric, all[2]) == std::set{0});
    CHECK(units_of(fabric, all[3]) == std::set{2});
    CHECK(all[3].hosts.size() == 8);
    CHECK(attempts.unfit().empty());
}

TEST_CASE("attempts: a hard span waits for the earliest moment that fits") {
    const auto fabric = make("pods=1 units=2 hosts=8 rails=2");
    const sched::Placer placer(fabric);
    auto ask = ask_for(fabric, 6, Span::unit);
    set_range(ask, 0, 3, 1000);
    set_range(ask, 8, 11, 500);
    ask.free_at[11] = 2000;
    Attempts attempts(placer, ask);
    const auto all = all_of(attempts);
    REQUIRE(all.size() == 3);
    CHECK(all[0].earliest == 500); // su2: four free, two of the three at 500
    CHECK(units_of(fabric, all[0]) == std::set{1});
    CHECK(all[1].earliest == 500);
    CHECK(all[2].earliest == 1000);
    CHECK_FALSE(attempts.unfit().empty()); // what blocks it now
}

TEST_CASE("attempts: without a span there is one, for now") {
    const auto fabric = make("pods=1 units=2 hosts=8 rails=2");
    const sched::Placer placer(fabric);
    auto ask = ask_for(fabric, 6, Span::any);
    set_range(ask, 0, 3, 1000);
    set_range(ask, 8, 11, 1000);
    Attempts spread(placer, ask);
    const auto all = all_of(spread);
    REQUIRE(all.size() == 1);
    CHECK(all[0].hosts.size() == 6);
    ask.request.nodes = 11;
    Attempts none(placer, ask);
    CHECK(all_of(none).empty());
    CHECK_FALSE(none.unfit().empty());
}

TEST_CASE("attempts: a range of nodes takes the most that fit") {
    const auto fabric = make("pods=1 units=2 hosts=8 rails=2");
    const sched::Placer placer(fabric);
    auto ask = ask_for(fabric, 2, Span::unit);
    ask.request.most = 12;
    set_range(ask, 0, 3, Ask::never);
    set_range(ask, 8, 10, Ask::never);
    Attempts attempts(placer, ask);
    const auto first = attempts.next();
    REQUIRE(first);
    CHECK(first->hosts == std::vector<std::uint32_t>{10, 11, 12, 13, 14, 15});
}

TEST_CASE("attempts: windows hold the required hosts and enough candidates") {
    const auto fabric = make("pods=2 units=2 hosts=4 rails=2");
    const sched::Placer placer(fabric);
    auto ask = ask_for(fabric, 3, Span::unit);
    ask.request.required = {5};
    Attempts attempts(placer, ask);
    for (const auto& attempt : all_of(attempts)) {
        CHECK(units_of(fabric, attempt) == std::set{1});
        CHECK(std::count(attempt.hosts.begin(), attempt.hosts.end(), 5U) == 1);
    }
    auto large = ask_for(fabric, 5, Span::unit);
    Attempts never(placer, large);
    CHECK(all_of(never).empty());
    auto pod = ask_for(fabric, 5, Span::pod);
    Attempts pods(placer, pod);
    CHECK(all_of(pods).size() == 3);
    auto whole = ask_for(fabric, 16, Span::fabric);
    Attempts one(placer, whole);
    CHECK(all_of(one).size() == 2);
}

TEST_CASE("attempts: what they promise holds for random cases") {
    const auto fabric = make("pods=2 units=3 hosts=4 rails=2");
    const sched::Placer placer(fabric);
    std::mt19937 engine(7);
    const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
    for (int round = 0; round < 2000; ++round) {
        auto ask = ask_for(fabric, 1 + random() % 10, Span::any);
        ask.request.most = ask.request.nodes + random() % 3;
        ask.request.span = static_cast<Span>(random() % 4);
        for (auto& at : ask.free_at) {
            const auto dice = random() % 4;
            at = dice < 2 ? 0 : dice == 2 ? Ask::never : static_cast<std::int64_t>(1 + random() % 5);
        }
        Attempts attempts(placer, ask);
        std::int64_t earliest = 0;
        const auto all = all_of(attempts);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& attempt = all[i];
            INFO("round " << round << " attempt " << i);
            CHECK(std::is_sorted(attempt.hosts.begin(), attempt.hosts.end()));
            CHECK(attempt.hosts.size() >= ask.request.nodes);
            if (i == 0 && ask.request.span == Span::any) CHECK(attempt.hosts.size() <= ask.request.most);
            std::uint32_t ready = 0;
            std::set<int> units, pods;
            for (const auto host : attempt.hosts) {
                CHECK(ask.free_at[host] != Ask::never);
                ready += ask.free_at[host] <= attempt.earliest;
                units.insert(fabric.hosts[host].unit);
                pods.insert(fabric.units[static_cast<std::size_t>(fabric.hosts[host].unit)].pod);
            }
            CHECK(ready >= ask.request.nodes);
            if (ask.request.span == Span::unit) CHECK(units.size() == 1);
            if (ask.request.span == Span::pod) CHECK(pods.size() == 1);
            if (i > 0) CHECK(attempt.earliest >= earliest);
            earliest = attempt.earliest;
        }
        // Slow oracle for the earliest moment: a window is ready when `least` of its candidates are.
        if (ask.request.span != Span::unit) continue;
        auto best = Ask::never;
        for (const auto& unit : fabric.units) {
            std::vector<std::int64_t> moments;
            for (const auto host : unit.hosts)
                moments.push_back(ask.free_at[host]);
            std::sort(moments.begin(), moments.end());
            if (ask.request.nodes <= moments.size()) best = std::min(best, moments[ask.request.nodes - 1]);
        }
        CHECK((best == Ask::never) == all.empty());
        if (!all.empty()) CHECK(all[0].earliest == best);
    }
}

TEST_CASE("attempts: a wish takes what comes first, its span or its end") {
    const auto fabric = make("pods=1 units=2 hosts=8 rails=2");
    const sched::Placer placer(fabric);
    auto ask = ask_for(fabric, 6, Span::unit);
    set_range(ask, 0, 3, 1000); // five of each unit are free, ten in all
    set_range(ask, 8, 11, 2000);
    ask.span_until = 1500;
    auto all = [&] {
        Attempts attempts(placer, ask);
        return all_of(attempts);
    }();
    REQUIRE(all.size() == 3); // place's own, the first unit, everything; the second unit comes after the end
    CHECK(all[0].earliest == 1000);
    CHECK(units_of(fabric, all[0]) == std::set{0});
    CHECK(units_of(fabric, all[1]) == std::set{0});
    CHECK(all[2].earliest == 1500);
    CHECK(all[2].hosts.size() == 16);

    ask.span_until = 700;
    Attempts ending(placer, ask);
    all = all_of(ending);
    REQUIRE(all.size() == 2);
    CHECK(all[0].earliest == 700);
    CHECK(units_of(fabric, all[0]) == std::set{0, 1});
    CHECK(all[1].earliest == 700);
    CHECK_FALSE(ending.unfit().empty());
}

TEST_CASE("attempts: segments are offered whole, then without any host that was offered") {
    const auto fabric = make("pods=1 units=4 hosts=4 rails=2");
    const sched::Placer placer(fabric);
    auto ask = ask_for(fabric, 6, Span::any);
    ask.request.segment = 3;
    Attempts attempts(placer, ask);
    const auto all = all_of(attempts);
    REQUIRE(all.size() == 2);
    std::set<std::uint32_t> seen;
    for (const auto& attempt : all) {
        CHECK(attempt.hosts.size() == 6);
        CHECK(units_of(fabric, attempt).size() == 2);
        for (const auto host : attempt.hosts)
            CHECK(seen.insert(host).second);
    }
    // Three units have two hosts free now: it waits for a second whole segment.
    for (std::uint32_t unit = 1; unit < 4; ++unit)
        set_range(ask, 4 * unit, 4 * unit + 2, 100 * unit);
    Attempts waiting(placer, ask);
    const auto first = waiting.next();
    REQUIRE(first);
    CHECK(first->earliest == 100);
    CHECK(units_of(fabric, *first) == std::set{0, 1});
    ask.request.spares = 1;
    ask.request.nodes = 7; // the spare needs no segment: it stands where two are free
    Attempts spare(placer, ask);
    const auto with_spare = spare.next();
    REQUIRE(with_spare);
    CHECK(with_spare->earliest == 100);
    CHECK(with_spare->hosts.size() == 7);
}

TEST_CASE("attempts: the hosts kept for restarts are not given away, but to spares") {
    const auto fabric = make("pods=1 units=2 hosts=4 rails=2");
    const sched::Placer placer(fabric);
    auto ask = ask_for(fabric, 6, Span::fabric);
    ask.request.spare_floor = 3;
    Attempts refused(placer, ask);
    CHECK_FALSE(refused.next());
    ask.request.spares = 1;
    Attempts taken(placer, ask);
    const auto all = all_of(taken);
    REQUIRE(all.size() == 2);
    CHECK(all[0].earliest == 0);
    ask.request.spares = 0;
    ask.request.spare_floor = 2;
    ask.free_at[7] = 50;
    Attempts later(placer, ask);
    for (const auto& attempt : all_of(later))
        CHECK(attempt.earliest == 50);
}

TEST_CASE("attempts: a small job gets a host in use, any of those, the best idle one, and nothing more") {
    const auto fabric = make("pods=1 units=2 hosts=4 rails=2");
    const sched::Placer placer(fabric);
    auto ask = ask_for(fabric, 1, Span::any);
    set_range(ask, 4, 6, Ask::never); // su2 has two left
    ask.mixed.assign(8, 0);
    ask.mixed[1] = ask.mixed[3] = ask.mixed[4] = 1; // the last of them has no room
    Attempts attempts(placer, ask);
    CHECK_FALSE(attempts.waits());
    const auto all = all_of(attempts);
    REQUIRE(all.size() == 3);
    CHECK(all[0].hosts == std::vector<std::uint32_t>{1});
    CHECK(all[0].why == "a node of unit su1 that is in use, beside 3 with room");
    CHECK(all[1].hosts == std::vector<std::uint32_t>{1, 3});
    CHECK(all[2].hosts == std::vector<std::uint32_t>{0});
    CHECK(all[2].why == "a node of unit su1 that is idle, beside 1 with room");
    ask.mixed.clear();
    Attempts whole(placer, ask);
    const auto one = all_of(whole);
    REQUIRE(one.size() == 1);
    CHECK(one[0].hosts == std::vector<std::uint32_t>{6});
}
