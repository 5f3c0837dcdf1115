// What any resource manager asks; sched/slurm/advisor_test.cpp asks the same in slurmctld's C.
#include "sched/advise/advisor.hpp"

#include "sched/ask/hints.hpp"
#include "unit/patience.hpp"
#include "unit/sched/advise/placement_site.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <vector>

namespace {

using sched::Advisor;
using sched::PlacementFiles;

struct Lines {
    Advisor::Log keep() {
        return [this](PlacementFiles::Level, const std::string& text) {
            const std::lock_guard lock(mutex);
            lines.push_back(text);
        };
    }
    std::size_t with(std::string_view text) {
        const std::lock_guard lock(mutex);
        std::size_t count = 0;
        for (const auto& line : lines)
            count += line.find(text) != std::string::npos;
        return count;
    }
    std::mutex mutex;
    std::vector<std::string> lines;
};

} // namespace

TEST_CASE("advice speaks of the resource manager by its name, and no other's") {
    const PlacementSite site;
    Lines log;
    Advisor advisor("LSF", log.keep());
    const char* names[] = {"n001", "n002"};
    advisor.set_nodes(names);
    const std::vector<std::int64_t> free_at(2, 0);
    CHECK(advisor.plan({.free_at = free_at}) == nullptr);
    CHECK(log.with("nodes are chosen by LSF alone until there is one") == 1);
    REQUIRE(base::write_file(site.folder / "railyard.conf", "[placement]\nfabrik = 1\n"));
    Advisor blind("LSF", log.keep());
    CHECK(log.with("nodes are chosen by LSF alone until this is mended") == 1);
    CHECK(log.with("Slurm") == 0);
}

TEST_CASE("advice: a request of the flags, nodes of the table, hosts of the fabric") {
    const PlacementSite site;
    site.store("pods=1 units=2 hosts=3 rails=1");
    Lines log;
    Advisor advisor("LSF", log.keep());
    const char* names[] = {"n006", nullptr, "n002", "n001", "n003", "n005", "n004"};
    advisor.set_nodes(names);
    const std::vector<std::int64_t> free_at(7, 0);
    std::vector<std::uint8_t> required(7, 0);
    required[2] = 1;
    sched::Question question{.now = 100, .free_at = free_at, .required = required};
    question.request.nodes = 2;
    const auto wish = sched::apply_hints({.span = sched::Span::unit, .span_wait = std::chrono::seconds(60)},
                                         {}, question.request);
    REQUIRE(wish);
    question.span_until = 160;
    const auto plan = advisor.plan(question);
    REQUIRE(plan);
    CHECK(plan->waits());
    const auto first = plan->next();
    REQUIRE(first);
    CHECK(first->hosts == std::vector<std::uint32_t>{2, 3});
    CHECK(first->earliest == 0);
    CHECK(plan->unfit().empty());

    question.now = 160; // the wish has ended
    question.request.nodes = 5;
    const auto wide = advisor.plan(question);
    REQUIRE(wide);
    CHECK_FALSE(wide->waits());
    CHECK(wide->next()->hosts.size() == 5);
    CHECK_FALSE(wide->next());

    question.free_at = std::span(free_at).first(3);
    CHECK(advisor.plan(question) == nullptr); // another table
}

TEST_CASE("advice costs what [placement] budget lets it cost") {
    const PlacementSite site;
    site.store("pods=2 units=2 hosts=16 rails=1");
    std::vector<std::string> names;
    for (int h = 1; h <= 64; ++h)
        names.push_back("n0" + std::string(h < 10 ? "0" : "") + std::to_string(h));
    std::vector<const char*> table;
    for (const auto& name : names)
        table.push_back(name.c_str());
    // 16, 15, 13 and 9 hosts of the units, of which no three are 39: bounds alone do not show that.
    std::vector<std::int64_t> free_at(64, 0);
    for (const auto& [first, busy] : {std::pair(16, 1), std::pair(32, 3), std::pair(48, 7)})
        std::fill_n(free_at.begin() + first, busy, sched::Ask::never);
    sched::Question question{.now = 100, .free_at = free_at};
    question.request.nodes = 39;
    question.request.segment = 2;
    question.request.spares = 21;
    const auto exact_within = [&](const char* budget) {
        REQUIRE(base::write_file(site.folder / "railyard.conf", "[placement]\nfabric = \"" +
                                                                    (site.folder / "fabric.json").string() +
                                                                    "\"\nbudget = \"" + budget + "\"\n"));
        Lines log;
        Advisor advisor("LSF", log.keep());
        advisor.set_nodes(table);
        const auto plan = advisor.plan(question);
        REQUIRE(plan);
        const auto attempt = plan->next();
        REQUIRE(attempt);
        CHECK(attempt->hosts.size() == 39);
        return attempt->exact;
    };
    CHECK_FALSE(exact_within("1ms"));
    CHECK(test::eventually([&] { return exact_within("100ms"); })); // a busy machine may exceed it in one try
}

TEST_CASE("advisor: a gang takes the place of the jobs that were saved last") {
    const PlacementSite site;
    site.store("pods=1 units=2 hosts=4 rails=2");
    const auto health = [&](base::SavedMap saved) {
        REQUIRE(base::write_file(site.folder / "health.json",
                                 base::print_health({base::now(), {}, {}, std::move(saved)})));
    };
    REQUIRE(base::write_file(site.folder / "railyard.conf",
                             "[placement]\nfabric = \"" + site.fabric.string() + "\"\nhealth = \"" +
                                 (site.folder / "health.json").string() + "\"\n"));
    health({});
    sched::Advisor advisor("Slurm", [](auto, const std::string&) {});
    const std::vector<const char*> names{"n001", "n002", "n003", "n004", "n005", "n006", "n007", "n008"};
    advisor.set_nodes(names);
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(base::now().time_since_epoch()).count();
    const std::vector<std::int64_t> free_at(8, sched::Ask::never); // not even one is free
    sched::Question question;
    question.request.nodes = 4;
    question.now = now;
    question.free_at = free_at;
    const std::vector<std::uint32_t> left{0, 1, 2, 3}, right{4, 5, 6, 7};
    const std::vector<sched::Preemptible> jobs{{left, 12, 4, 0, now - 7200}, {right, 15, 5, 0, now - 3600}};
    auto takeover = advisor.preempt(question, jobs);
    REQUIRE(takeover);
    CHECK(takeover->nodes == right);
    CHECK(takeover->jobs == std::vector<std::uint32_t>{1});
    CHECK(takeover->why ==
          "takes the place of 1 of 2 jobs that may be preempted, 15 (5 nodes, 1 h 0 min since "
          "its start): 5.0 node-hours of work at risk, no others that may go make room for less");
    // Within a second or two of the file.
    health({{12, base::now() - std::chrono::minutes(5)}});
    CHECK(test::eventually([&] {
        takeover = advisor.preempt(question, jobs);
        return takeover && takeover->nodes == left;
    }));
    CHECK(takeover->why.find("12 (4 nodes, 5 min") != std::string::npos);
    question.request.nodes = 9;
    CHECK_FALSE(advisor.preempt(question, jobs));
}

TEST_CASE("another cluster's fabric is refused by name, whichever of file and node table comes first") {
    const PlacementSite site;
    Lines log;
    const char* names[] = {"n001", "n002"};
    const std::vector<std::int64_t> free_at(2, 0);
    SECTION("few of the nodes are in it") {
        site.store("pods=1 units=2 hosts=3 rails=1 prefix=other");
        Advisor advisor("LSF", log.keep());
        advisor.set_nodes(names);
        CHECK(log.with("of its 6 hosts 0 are among LSF's 2 nodes") == 1);
        CHECK(advisor.plan({.free_at = free_at}) == nullptr);
        site.store("pods=1 units=2 hosts=3 rails=1");
        advisor.reload();
        CHECK(test::eventually([&] { return advisor.plan({.free_at = free_at}) != nullptr; }));
        site.store("pods=4 units=4 hosts=32 rails=1");
        CHECK(test::eventually([&] { return log.with("of its 512 hosts 2 are among") == 1; }));
        CHECK(advisor.plan({.free_at = free_at}) != nullptr); // the former one stays
    }
    SECTION("few of its hosts are nodes") {
        site.store("pods=4 units=4 hosts=32 rails=1");
        Advisor advisor("LSF", log.keep());
        advisor.set_nodes(names);
        CHECK(log.with("of its 512 hosts 2 are among LSF's 2 nodes") == 1);
        CHECK(advisor.plan({.free_at = free_at}) == nullptr);
        advisor.set_nodes(names);
        CHECK(log.with("another cluster's") == 1);
    }
}
