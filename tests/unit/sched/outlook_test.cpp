#include "base/json.hpp"
#include "grid.hpp"
#include "oracle.hpp"
#include "sched/explain_json.hpp"
#include "sched/outlook.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>
#include <random>

using namespace sched;
using namespace sched_test;
using namespace std::chrono_literals;
using Hosts = std::vector<std::uint32_t>;
using Kind = Outlook::Kind;

namespace {

const base::Time now = base::time_from_seconds(1'772'367'600); // 2026-03-01 12:20 UTC

base::Time at(std::chrono::minutes later) {
    return now + later;
}

// Moments are printed in local time.
struct InUtc {
    InUtc() {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
    }
};

Request ask(std::uint32_t nodes, Span span = Span::any) {
    Request request;
    request.nodes = nodes;
    request.span = span;
    return request;
}

Snapshot with(const topo::Fabric& fabric, const Hosts& hosts, HostState state) {
    auto snapshot = Snapshot::all_free(fabric);
    for (const auto h : hosts)
        snapshot.states[h] = state;
    return snapshot;
}

Hosts range(std::uint32_t first, std::uint32_t count) {
    Hosts hosts(count);
    for (auto& h : hosts)
        h = first++;
    return hosts;
}

// What the hosts are when the first so many of these holders have ended.
Snapshot after(const Snapshot& from, const std::vector<Holder>& holders, std::size_t count) {
    auto snapshot = from;
    for (std::uint32_t h = 0; h < snapshot.states.size(); ++h) {
        if (snapshot.states[h] != HostState::busy) continue;
        bool held = false, known = false;
        for (std::size_t i = 0; i < holders.size(); ++i) {
            const auto& mine = holders[i].hosts;
            if (std::count(mine.begin(), mine.end(), h) == 0) continue;
            known = true;
            held = held || i >= count;
        }
        if (known && !held) snapshot.states[h] = HostState::free;
    }
    return snapshot;
}

} // namespace

TEST_CASE("the job whose end makes a pending one fit is named with its time") {
    const InUtc utc;
    const auto fabric = grid(1, 3, 32);
    const Placer placer(fabric);
    auto snapshot = Snapshot::all_free(fabric);
    Circumstances circumstances;
    circumstances.now = now;
    circumstances.remarks.why.assign(96, "");
    const auto hold = [&](base::JobId job, std::optional<base::Time> ends, const Hosts& hosts) {
        circumstances.holders.push_back({job, ends, hosts});
        for (const auto h : hosts)
            snapshot.states[h] = HostState::busy;
    };
    hold(811, at(60min), range(0, 32));
    hold(813, at(150min), range(32, 20));
    hold(812, at(120min), range(64, 9));
    for (const auto h : range(73, 4)) {
        snapshot.states[h] = HostState::drained;
        circumstances.remarks.why[h] = "link errors";
    }
    SECTION("in the fullest unit") {
        circumstances.holders.front().ends = at(600min);
        const auto forecast = outlook(fabric, placer, snapshot, ask(24, Span::unit), circumstances);
        REQUIRE(forecast);
        CHECK(forecast->kind == Kind::later);
        CHECK(forecast->sentence ==
              "needs 24 nodes in one unit; the fullest, su3, has 19 free, 9 busy, 4 drained "
              "for link errors; job 812 ends at 14:20 and makes it fit");
        CHECK(forecast->at == at(120min));
        CHECK(forecast->job == base::JobId(812));
        CHECK(forecast->hosts.size() == 24);
        REQUIRE(forecast->parts.size() == 3);
        CHECK(forecast->parts[0].first.name == "su3");
        CHECK(forecast->parts[0].second.drained_why ==
              std::map<std::string, std::uint32_t>{{"link errors", 4}});
    }
    SECTION("why hosts are out of use, each reason once") {
        snapshot.states[77] = HostState::down;
        circumstances.remarks.why[77] = "link errors";
        const auto forecast = outlook(fabric, placer, snapshot, ask(24, Span::unit), circumstances);
        REQUIRE(forecast);
        const auto text = base::to_text(to_json(fabric, *forecast, now));
        CHECK(text.find("\"why\":[{\"reason\":\"link errors\",\"hosts\":5}]") != std::string::npos);
    }
    SECTION("elsewhere") {
        const auto forecast = outlook(fabric, placer, snapshot, ask(24, Span::unit), circumstances);
        REQUIRE(forecast);
        CHECK(forecast->sentence ==
              "needs 24 nodes in one unit; the fullest, su3, has 19 free, 9 busy, 4 drained "
              "for link errors; job 811 ends at 13:20 and makes it fit in unit su1");
    }
    SECTION("on another day") {
        circumstances.holders[0].ends = circumstances.holders[1].ends = circumstances.holders[2].ends =
            at(24h);
        const auto forecast = outlook(fabric, placer, snapshot, ask(24, Span::unit), circumstances);
        CHECK(forecast->sentence.find("job 811 ends at 2026-03-02 12:20 and makes it fit") !=
              std::string::npos);
    }
    SECTION("late") {
        circumstances.holders[0].ends = at(-5min);
        const auto forecast = outlook(fabric, placer, snapshot, ask(24, Span::unit), circumstances);
        CHECK(forecast->at == now);
        CHECK(forecast->sentence.find("job 811 is due to end now and makes it fit in unit su1") !=
              std::string::npos);
    }
    SECTION("without a limit") {
        for (auto& holder : circumstances.holders)
            holder.ends.reset();
        auto forecast = outlook(fabric, placer, snapshot, ask(24, Span::unit), circumstances);
        CHECK(forecast->kind == Kind::open);
        CHECK(forecast->unlimited == std::vector<base::JobId>{811});
        CHECK(forecast->sentence.find("; it fits when job 811 ends, which has no time limit") !=
              std::string::npos);
        forecast = outlook(fabric, placer, snapshot, ask(80), circumstances);
        CHECK(forecast->sentence ==
              "needs 80 nodes; the fabric has 31 free, 61 busy, 4 drained for link errors; "
              "it fits when jobs 811, 812 and 813 have ended, which have no time limit");
        forecast = outlook(fabric, placer, snapshot, ask(96), circumstances);
        CHECK(forecast->kind == Kind::open);
        CHECK(forecast->unlimited.empty());
        CHECK(forecast->sentence.ends_with("; it needs hosts that are drained or down now"));
        circumstances.holders.clear();
        forecast = outlook(fabric, placer, snapshot, ask(80), circumstances);
        CHECK(forecast->kind == Kind::open);
        CHECK(forecast->sentence.ends_with("; when the busy hosts become free is not known"));
    }
    SECTION("never") {
        const auto forecast = outlook(fabric, placer, snapshot, ask(33, Span::unit), circumstances);
        CHECK(forecast->kind == Kind::never);
        CHECK(forecast->sentence ==
              "no unit of this fabric has 33 hosts (the largest, su1, has 32): this job can "
              "never run with --rail-span=unit");
    }
    SECTION("now") {
        circumstances.turn = "Priority";
        const auto forecast = outlook(fabric, placer, snapshot, ask(19, Span::unit), circumstances);
        CHECK(forecast->kind == Kind::fits);
        CHECK(forecast->sentence == "would fit now, in unit su3: waits for its turn (Priority)");
        CHECK(forecast->hosts.size() == 19);
        circumstances.expected_start = at(120min);
        CHECK(outlook(fabric, placer, snapshot, ask(19, Span::unit), circumstances)->sentence ==
              "would fit now, in unit su3: waits for its turn (Priority), which is expected at 14:20");
    }
}

TEST_CASE("a wish for a span ends, and that may be what makes a job fit") {
    const InUtc utc;
    const auto fabric = grid(1, 2, 4);
    const Placer placer(fabric);
    const auto snapshot = with(fabric, {0, 4}, HostState::busy);
    Circumstances circumstances;
    circumstances.now = now;
    circumstances.holders = {{7, at(60min), {0}}, {8, at(90min), {4}}};
    circumstances.wish_ends = at(40min);
    auto forecast = outlook(fabric, placer, snapshot, ask(4, Span::unit), circumstances);
    CHECK(forecast->kind == Kind::later);
    CHECK(forecast->at == at(40min));
    CHECK_FALSE(forecast->job);
    CHECK(forecast->wish_ends == at(40min));
    CHECK(forecast->sentence ==
          "needs 4 nodes in one unit; the fullest, su1, has 3 free, 1 busy; the wish for one "
          "unit ends at 13:00, then any place will do");
    circumstances.wish_ends = at(70min);
    forecast = outlook(fabric, placer, snapshot, ask(4, Span::unit), circumstances);
    CHECK(forecast->at == at(60min));
    CHECK(forecast->job == base::JobId(7));
    CHECK(forecast->sentence ==
          "needs 4 nodes in one unit; the fullest, su1, has 3 free, 1 busy; job 7 ends at "
          "13:20 and makes it fit; the wish for one unit ends at 13:30");

    SECTION("a wish that can never be met is no verdict") {
        forecast = outlook(fabric, placer, snapshot, ask(5, Span::unit), circumstances);
        CHECK(forecast->kind == Kind::later);
        CHECK(forecast->at == at(70min));
        CHECK(forecast->sentence ==
              "no unit of this fabric has 5 hosts (the largest, su1, has 4): the wish for one "
              "unit can never be met; the wish for one unit ends at 13:30, then any place "
              "will do");
    }
    SECTION("nor is what comes after it free of waiting") {
        forecast = outlook(fabric, placer, snapshot, ask(8, Span::unit), circumstances);
        CHECK(forecast->at == at(90min));
        CHECK(forecast->job == base::JobId(8));
        CHECK(
            forecast->sentence.find("ends at 13:30, then any place will do; job 8 ends at 13:50 and makes it "
                                    "fit in 2 units of pod1") != std::string::npos);
    }
    SECTION("a job may end before the wish does and still have to wait for that") {
        circumstances.wish_ends = at(100min);
        forecast = outlook(fabric, placer, snapshot, ask(8, Span::unit), circumstances);
        CHECK(forecast->at == at(100min));
        CHECK(forecast->job == base::JobId(8));
    }
    SECTION("what can never run at all says so") {
        forecast = outlook(fabric, placer, snapshot, ask(9, Span::unit), circumstances);
        CHECK(forecast->kind == Kind::never);
        CHECK(forecast->sentence == "needs 9 nodes; this fabric has 8 hosts: this job can never run");
    }
}

TEST_CASE("hosts outside the partition are reported as such") {
    const auto fabric = grid(1, 2, 4);
    const Placer placer(fabric);
    Circumstances circumstances;
    circumstances.remarks.excluded = "not in partition gpu";
    auto request = ask(4, Span::unit);
    request.excluded = {0, 4, 5};
    const auto forecast = outlook(fabric, placer, Snapshot::all_free(fabric), request, circumstances);
    CHECK(forecast->sentence ==
          "no unit of this fabric has 4 hosts (the largest, su1, has 4, 1 of them not in "
          "partition gpu): this job can never run with --rail-span=unit");
}

TEST_CASE("a job that waits for one NVLink domain is told of domains") {
    const InUtc utc;
    auto fabric = grid(1, 2, 8);
    add_domains(fabric, 4);
    const Placer placer(fabric);
    Circumstances circumstances;
    circumstances.now = now;
    circumstances.holders = {{7, at(10min), {4, 5}}, {8, at(20min), {8}}};
    auto snapshot = with(fabric, {4, 5, 8, 13}, HostState::busy);
    snapshot.states[0] = HostState::drained;
    SECTION("as what it needs") {
        const auto forecast = outlook(fabric, placer, snapshot, ask(4, Span::domain), circumstances);
        REQUIRE(forecast);
        CHECK(forecast->sentence ==
              "needs 4 nodes in one NVLink domain; the fullest, nvl1, has 3 free, 1 drained; "
              "job 7 ends at 12:30 and makes it fit in NVLink domain nvl2");
        CHECK(forecast->hosts == Hosts{4, 5, 6, 7});
        CHECK(forecast->part == "NVLink domain");
        std::vector<std::pair<std::string, std::uint32_t>> free;
        for (const auto& [part, tally] : forecast->parts)
            free.emplace_back(part.name, tally.free);
        CHECK(free == decltype(free){{"nvl1", 3}, {"nvl3", 3}, {"nvl4", 3}, {"nvl2", 2}});
    }
    SECTION("as what it wishes for") {
        circumstances.wish_ends = at(5min);
        const auto forecast = outlook(fabric, placer, snapshot, ask(4, Span::domain), circumstances);
        REQUIRE(forecast);
        CHECK(
            forecast->sentence.find("the wish for one NVLink domain ends at 12:25, then any place will do") !=
            std::string::npos);
        CHECK(forecast->part == "NVLink domain");
    }
    SECTION("as where it would go now") {
        snapshot.states[0] = HostState::free;
        const auto forecast = outlook(fabric, placer, snapshot, ask(4, Span::domain), circumstances);
        REQUIRE(forecast);
        CHECK(forecast->sentence == "would fit now, in NVLink domain nvl1: waits for its turn");
    }
    SECTION("but not where the fabric has none") {
        const auto plain = grid(1, 2, 8);
        const auto forecast =
            outlook(plain, Placer(plain), with(plain, {0, 8}, HostState::busy), ask(8, Span::domain), {});
        REQUIRE(forecast);
        CHECK(forecast->part == "unit");
    }
}

TEST_CASE("the named job is the first in the order of ends after which the request fits") {
    std::mt19937 random(11);
    int later = 0, open = 0;
    for (int round = 0; round < 600; ++round) {
        const auto fabric = grid(2, 2, 3);
        const Placer placer(fabric);
        const auto hosts = static_cast<std::uint32_t>(fabric.hosts.size());
        Snapshot snapshot = Snapshot::all_free(fabric);
        std::vector<Holder> holders;
        for (std::uint32_t job = 1; job <= 5; ++job) {
            Holder holder{base::JobId(job), {}, {}};
            if (random() % 5 != 0) holder.ends = at(std::chrono::minutes(random() % 4)); // ties, too
            for (std::uint32_t h = 0; h < hosts; ++h)
                if (random() % 4 == 0) {
                    holder.hosts.push_back(h); // hosts may be shared
                    snapshot.states[h] = HostState::busy;
                }
            holders.push_back(holder);
        }
        for (std::uint32_t h = 0; h < hosts; ++h)
            if (random() % 10 == 0) snapshot.states[h] = HostState::drained;
        Circumstances circumstances;
        circumstances.now = now;
        circumstances.holders = holders;
        const auto span = random() % 2 == 0 ? Span::unit : random() % 2 == 0 ? Span::pod : Span::any;
        const auto request = ask(1 + static_cast<std::uint32_t>(random() % 9), span);

        // Those with an end, in order, then the others.
        std::stable_sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
            return std::pair(a.ends.value_or(base::Time::max()), a.job) <
                   std::pair(b.ends.value_or(base::Time::max()), b.job);
        });
        std::size_t needed = 0;
        while (needed <= holders.size() && !Oracle(fabric, after(snapshot, holders, needed)).best(request))
            ++needed;
        const auto forecast = outlook(fabric, placer, snapshot, request, circumstances);
        REQUIRE(forecast);
        INFO("round " << round << ": " << forecast->sentence);
        if (!Oracle(fabric, Snapshot::all_free(fabric)).best(request)) {
            CHECK(forecast->kind == Kind::never);
        } else if (needed == 0) {
            CHECK(forecast->kind == Kind::fits);
        } else if (needed <= holders.size() && holders[needed - 1].ends) {
            ++later;
            CHECK(forecast->kind == Kind::later);
            CHECK(forecast->job == holders[needed - 1].job);
            CHECK(forecast->at == *holders[needed - 1].ends);
            CHECK(forecast->hosts.size() == request.nodes);
        } else {
            ++open;
            CHECK(forecast->kind == Kind::open);
            CHECK(forecast->unlimited.empty() == (needed > holders.size()));
            if (!forecast->unlimited.empty()) CHECK(forecast->unlimited.back() == holders[needed - 1].job);
        }
    }
    CHECK(later > 50);
    CHECK(open > 50);
}

TEST_CASE("a reason is shown without our tag and on one short line") {
    CHECK(remark_of("railyard[i-7]: link errors") == "link errors");
    CHECK(remark_of(" railyard[user:alice]: swap cable 4; then test\n") == "swap cable 4, then test ");
    CHECK(remark_of("railyard[i-1]: host lost: agent silent for 3.0 s") == "host lost");
    CHECK(remark_of("host lost: agent silent") == "host lost: agent silent");
    CHECK(remark_of("railyard[broken") == "railyard[broken");
    CHECK(remark_of("none").empty());
    CHECK(remark_of(std::string(80, 'x')) == std::string(60, 'x') + "...");
    CHECK(remark_of(std::string(59, 'x') + "\u00fc") == std::string(59, 'x') + "...");
}
