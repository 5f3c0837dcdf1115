#include "sched/slurm/advisor.h"
#include "sched/slurm/submit.h"

#include "base/host_health.hpp"
#include "unit/patience.hpp"
#include "unit/sched/advise/placement_site.hpp"

#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace {

// What the plugins logged, of this process.
std::mutex log_mutex;
std::vector<std::string> log_lines;

void keep_line(rail_level, const char* text) {
    const std::lock_guard lock(log_mutex);
    log_lines.emplace_back(text);
}

std::size_t lines_with(std::string_view text) {
    const std::lock_guard lock(log_mutex);
    std::size_t count = 0;
    for (const auto& line : log_lines)
        count += line.find(text) != std::string::npos;
    return count;
}

struct Site : PlacementSite {
    Site() {
        const std::lock_guard lock(log_mutex);
        log_lines.clear();
    }
};

struct Advisor {
    Advisor() : it(rail_advisor_open(keep_line)) { REQUIRE(it != nullptr); }
    ~Advisor() { rail_advisor_close(it); }
    void nodes(const std::vector<const char*>& names) const {
        rail_advisor_set_nodes(it, names.data(), static_cast<std::uint32_t>(names.size()));
    }
    // The nodes of the first attempt; empty: none, or no opinion.
    std::vector<std::uint32_t> first(const std::vector<std::int64_t>& free_at, std::uint32_t wanted,
                                     rail_span span, bool* opinion = nullptr, const char* comment = nullptr,
                                     bool anew = false) const {
        const rail_question question{.least = wanted,
                                     .wanted = wanted,
                                     .hints = {span, RAIL_NEVER, 0, 0, anew, {}, false},
                                     .now = 100,
                                     .eligible = 100,
                                     .spare_floor = 0,
                                     .node_count = static_cast<std::uint32_t>(free_at.size()),
                                     .free_at = free_at.data(),
                                     .required = nullptr,
                                     .mixed = nullptr,
                                     .admin_comment = comment,
                                     .restarts = 3};
        rail_plan* plan = rail_advisor_plan(it, &question);
        if (opinion != nullptr) *opinion = plan != nullptr;
        if (plan == nullptr) return {};
        rail_attempt attempt{};
        std::vector<std::uint32_t> found;
        if (rail_plan_next(plan, &attempt)) found.assign(attempt.nodes, attempt.nodes + attempt.count);
        rail_plan_free(plan);
        return found;
    }
    rail_advisor* it;
};

} // namespace

TEST_CASE("advisor: node numbers are those of Slurm's table, whatever its order and holes") {
    const Site site;
    site.store("pods=1 units=2 hosts=2 rails=1");
    const Advisor advisor;
    advisor.nodes({"login", "n004", nullptr, "n002", "n003", "n001"});
    CHECK(lines_with("1 of 5 nodes are not in the fabric file") == 1);
    CHECK(lines_with(": login") == 1);
    CHECK(advisor.first({0, 0, 0, 0, 0, 0}, 2, RAIL_SPAN_UNIT) == std::vector<std::uint32_t>{3, 5});
    CHECK(advisor.first({0, 0, 0, RAIL_NEVER, 0, 0}, 2, RAIL_SPAN_UNIT) == std::vector<std::uint32_t>{1, 4});
    bool opinion = true;
    CHECK(advisor
              .first({0, RAIL_NEVER, RAIL_NEVER, RAIL_NEVER, RAIL_NEVER, RAIL_NEVER}, 1, RAIL_SPAN_UNIT,
                     &opinion)
              .empty());
    CHECK_FALSE(opinion); // nothing is known about login
    CHECK(advisor.first({0, 0}, 1, RAIL_SPAN_UNIT, &opinion).empty());
    CHECK_FALSE(opinion); // another table
    advisor.nodes({"n001", "n002"});
    CHECK(advisor.first({0, 0}, 2, RAIL_SPAN_UNIT) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("advisor: a required node outside the fabric leaves no opinion") {
    const Site site;
    site.store("pods=1 units=1 hosts=2 rails=1");
    const Advisor advisor;
    advisor.nodes({"n001", "n002", "login"});
    const std::int64_t free_at[] = {0, 0, 0};
    const std::uint8_t required[] = {0, 0, 1};
    const rail_question question{1,       1,       {RAIL_SPAN_UNIT, RAIL_NEVER, 0, 0, false, {}, false},
                                 100,     100,     0,
                                 3,       free_at, required,
                                 nullptr, nullptr, 0};
    CHECK(rail_advisor_plan(advisor.it, &question) == nullptr);
}

TEST_CASE("advisor: a job goes back to the nodes of its last start, unless it wants none of that") {
    const Site site;
    site.store("pods=1 units=2 hosts=4 rails=1");
    const Advisor advisor;
    advisor.nodes({"n001", "n002", "n003", "n004", "n005", "n006", "n007", "n008"});
    const std::vector<std::int64_t> free_at{0, 0, 0, RAIL_NEVER, 0, 0, RAIL_NEVER, 0};
    using Nodes = std::vector<std::uint32_t>;
    const auto first = [&](const char* comment, bool anew = false) {
        return advisor.first(free_at, 2, RAIL_SPAN_ANY, nullptr, comment, anew);
    };
    const char* had = "ticket 7; railyard: restart=auto; railyard-had: start=2 n[006-007]";
    CHECK(first(nullptr) == Nodes{0, 1});
    CHECK(first(had) == Nodes{4, 5}); // n006, and another of its unit for n007
    CHECK(first(had, true) == Nodes{0, 1});
    CHECK(first("railyard-had: start=1 n[006-007]") == Nodes{0, 1}); // of an older start
    CHECK(first("railyard-had: start=2 n[006-") == Nodes{0, 1});
    CHECK(first("railyard-had: start=2 elsewhere,n006") == Nodes{4, 5});
}

TEST_CASE("advisor: ranks go unit by unit, whatever the order of the nodes") {
    const Site site;
    site.store("pods=1 units=3 hosts=2 rails=1"); // n001-002, n003-004, n005-006
    const Advisor advisor;
    std::vector<std::uint32_t> ranks(4, 77);
    const std::vector<std::uint32_t> before = ranks;
    const std::vector<std::uint32_t> asked = {5, 1, 0, 3};
    CHECK_FALSE(rail_advisor_ranks(advisor.it, asked.data(), 4, ranks.data())); // no nodes are known yet
    advisor.nodes({"n006", "n003", nullptr, "n005", "login", "n004", "n001"});
    REQUIRE(rail_advisor_ranks(advisor.it, asked.data(), 4, ranks.data()));
    const auto unit = [](std::uint32_t number) { return number << 16; };
    CHECK(ranks == std::vector<std::uint32_t>{unit(0) | 1, unit(0), unit(1) | 1, unit(1)});

    ranks = before;
    for (const std::uint32_t strange : {2U, 4U, 7U, UINT32_MAX}) { // a hole, no host of the fabric, no node
        const std::vector<std::uint32_t> nodes = {0, 1, 3, strange};
        CHECK_FALSE(rail_advisor_ranks(advisor.it, nodes.data(), 4, ranks.data()));
        CHECK(ranks == before);
    }
    CHECK(rail_advisor_ranks(advisor.it, nullptr, 0, nullptr));
}

TEST_CASE("advisor: the fabric is taken up when it appears, and a broken file changes nothing") {
    const Site site;
    const Advisor advisor;
    advisor.nodes({"n001", "n002", "n003", "n004"});
    bool opinion = true;
    const std::vector<std::int64_t> all_free(4, 0);
    CHECK(advisor.first(all_free, 2, RAIL_SPAN_UNIT, &opinion).empty());
    CHECK_FALSE(opinion);
    CHECK(lines_with("nodes are chosen by Slurm alone") == 1);
    site.store("pods=1 units=1 hosts=4 rails=1");
    CHECK(test::eventually([&] { return advisor.first(all_free, 4, RAIL_SPAN_UNIT).size() == 4; }));
    REQUIRE(base::write_file(site.fabric, "{\"version\": 1"));
    CHECK(test::eventually([&] { return lines_with("the last good fabric stays in use") == 1; }));
    CHECK(advisor.first(all_free, 4, RAIL_SPAN_UNIT).size() == 4);
    std::filesystem::remove(site.fabric);
    CHECK(test::eventually([&] { return lines_with("the last good fabric stays in use") == 2; }));
    CHECK(advisor.first(all_free, 4, RAIL_SPAN_UNIT).size() == 4);
    site.store("pods=1 units=2 hosts=2 rails=1");
    CHECK(test::eventually([&] { return advisor.first(all_free, 4, RAIL_SPAN_UNIT).empty(); }));
    CHECK(lines_with("the last good fabric stays in use") == 2);
}

TEST_CASE("advisor: a changed configuration counts, a broken one never") {
    const Site site;
    site.store("pods=1 units=1 hosts=4 rails=1");
    const Advisor advisor;
    advisor.nodes({"m001", "m002"});
    const std::vector<std::int64_t> all_free(2, 0);
    CHECK(advisor.first(all_free, 2, RAIL_SPAN_UNIT).empty());
    REQUIRE(base::write_file(site.folder / "railyard.conf", "[placement]\nfabrik = 1\n"));
    rail_advisor_reload(advisor.it);
    CHECK(test::eventually([&] { return lines_with("the former configuration stays") == 1; }));
    const auto other = site.folder / "other.json";
    REQUIRE(base::write_file(
        other, topo::print_fabric(*topo::synthesise(*topo::parse_synth("hosts=2 rails=1 prefix=m")))));
    REQUIRE(base::write_file(site.folder / "railyard.conf",
                             "[placement]\nfabric = \"" + other.string() + "\"\n"));
    rail_advisor_reload(advisor.it);
    CHECK(test::eventually([&] { return advisor.first(all_free, 2, RAIL_SPAN_UNIT).size() == 2; }));
}

TEST_CASE("advisor: hosts of poor health are taken last, as long as the health file holds") {
    const Site site;
    site.store("pods=1 units=1 hosts=4 rails=1");
    const auto health = site.folder / "health.json";
    REQUIRE(base::write_file(site.folder / "railyard.conf", "[placement]\nfabric = \"" +
                                                                site.fabric.string() + "\"\nhealth = \"" +
                                                                health.string() + "\"\n"));
    const auto store = [&](base::HealthMap hosts, base::Time written = base::now()) {
        REQUIRE(base::write_file(health, base::print_health({written, std::move(hosts)})));
    };
    const Advisor advisor;
    advisor.nodes({"n001", "n002", "n003", "n004"});
    const std::vector<std::int64_t> all_free(4, 0);
    const auto chosen = [&](std::vector<std::uint32_t> nodes, std::uint32_t wanted) {
        return test::eventually([&] { return advisor.first(all_free, wanted, RAIL_SPAN_ANY) == nodes; });
    };
    CHECK(chosen({0, 1}, 2));
    store({{"n001", {0.6F, "symbol errors"}}, {"n003", {0.9F, "a fault"}}, {"stranger", {0.1F, ""}}});
    CHECK(chosen({1, 3}, 2));
    CHECK(chosen({1, 2, 3}, 3));
    CHECK(chosen({0, 1, 2, 3}, 4)); // avoided, not banned
    CHECK(test::eventually(
        [&] { return lines_with("avoided where there is a choice: n[001,003],stranger") == 1; }));
    REQUIRE(base::write_file(health, "{"));
    CHECK(test::eventually([&] { return lines_with("hosts are avoided as it said before") == 1; }));
    CHECK(chosen({1, 3}, 2));
    store({{"n002", {0.6F, ""}}}, base::now() - 2 * base::health_lapses);
    CHECK(chosen({0, 1}, 2)); // left behind by a daemon that ended long ago
    store({{"n001", {0.6F, ""}}});
    CHECK(chosen({1, 2}, 2));
    std::filesystem::remove(health);
    CHECK(chosen({0, 1}, 2));
}

TEST_CASE("advisor: as many hosts are kept free as was learned, as long as the health file holds") {
    const Site site;
    site.store("pods=1 units=2 hosts=4 rails=1");
    const auto health = site.folder / "health.json";
    REQUIRE(base::write_file(
        site.folder / "railyard.conf",
        "[placement]\nfabric = \"" + site.fabric.string() + "\"\nhealth = \"" + health.string() +
            "\"\nspare_risk = 0.001\nrepair_time = \"3d\"\n[checkpoint]\nmtbf_node = \"1500d\"\n"));
    const auto store = [&](std::optional<std::uint32_t> floor, base::Time written = base::now(),
                           double risk = 0.001) {
        const auto learned = floor ? std::optional(base::SpareFloor{*floor, risk}) : std::nullopt;
        REQUIRE(base::write_file(health, base::print_health({written, {}, learned})));
    };
    const Advisor advisor;
    advisor.nodes({"n001", "n002", "n003", "n004", "n005", "n006", "n007", "n008"});
    const auto kept = [&](std::uint32_t floor) {
        return test::eventually([&] { return rail_advisor_spare_floor(advisor.it, nullptr, 0) == floor; });
    };
    CHECK(kept(1)); // as configured
    store(3);
    CHECK(kept(3));
    store(0);
    CHECK(kept(0));
    store(2, base::now() - 2 * base::health_lapses); // left behind by a daemon that ended long ago
    CHECK(kept(1));
    store(2);
    CHECK(kept(2));
    store({}); // one of before, or one that observes
    CHECK(kept(1));
    store(2);
    CHECK(kept(2));
    store(3, base::now(), 0.5); // by a daemon that has not read the configuration of now
    CHECK(kept(1));
    std::filesystem::remove(health);
    CHECK(kept(1));
}

TEST_CASE("advisor: the comment's flags beat the environment's, and nonsense is none") {
    const char* environment[] = {"PATH=/bin", "RAIL_SPAN=pod@90s", "RAIL_SEGMENT=4", "RAIL_SPARES=x"};
    const auto hints = [&](const char* comment, std::uint32_t count) {
        rail_hints found{};
        rail_hints_of(comment, environment, count, &found);
        return std::tuple(found.span, found.span_wait, found.segment, found.spares);
    };
    CHECK(hints(nullptr, 4) == std::tuple(RAIL_SPAN_POD, 90, 4U, 0U));
    CHECK(hints("x; railyard: span=unit spares=2", 4) == std::tuple(RAIL_SPAN_UNIT, RAIL_NEVER, 4U, 2U));
    CHECK(hints("railyard: restart=auto", 2) == std::tuple(RAIL_SPAN_POD, 90, 0U, 0U));
    CHECK(hints("railyard: span=rack", 1) == std::tuple(RAIL_SPAN_ANY, RAIL_NEVER, 0U, 0U));
    rail_hints none{};
    rail_hints_of(nullptr, nullptr, 0, &none);
    CHECK(none.span == RAIL_SPAN_ANY);
    CHECK_FALSE(none.anew);
    const char* move[] = {"RAIL_KEEP=no"};
    rail_hints_of("railyard: span=unit", move, 1, &none);
    CHECK(none.anew);
    rail_hints_of("railyard: keep=yes", move, 1, &none);
    CHECK_FALSE(none.anew);
}

TEST_CASE("advisor: a wish ends, segments wait, and hosts are kept as the configuration says") {
    const Site site;
    site.store("pods=1 units=2 hosts=4 rails=1");
    const Advisor advisor;
    advisor.nodes({"n001", "n002", "n003", "n004", "n005", "n006", "n007", "n008"});
    const std::vector<std::int64_t> free_at{0, 0, 0, RAIL_NEVER, 0, 0, 0, RAIL_NEVER};
    rail_question question{4,
                           4,
                           {RAIL_SPAN_UNIT, 60, 0, 0, false, {}, false},
                           1000,
                           950,
                           0,
                           8,
                           free_at.data(),
                           nullptr,
                           nullptr,
                           nullptr,
                           0};
    const auto first = [&](bool& waits) {
        rail_plan* plan = rail_advisor_plan(advisor.it, &question);
        REQUIRE(plan != nullptr);
        waits = rail_plan_waits(plan);
        rail_attempt attempt{};
        const std::int64_t at = rail_plan_next(plan, &attempt) ? attempt.earliest : -1;
        rail_plan_free(plan);
        return at;
    };
    bool waits = false;
    CHECK(first(waits) == 1010); // no unit has four: when the wish ends
    CHECK(waits);
    question.now = 1010;
    CHECK(first(waits) == 0);
    CHECK_FALSE(waits);
    question.hints = {RAIL_SPAN_ANY, RAIL_NEVER, 4, 0, false, {}, true};
    CHECK(first(waits) == -1);
    CHECK(waits);
    question.hints.segment = 2;
    CHECK(first(waits) == 0);
    question.wanted = 0; // at best no less than at least
    CHECK(first(waits) == 0);
    question.hints.segment = 0;
    question.spare_floor = 3;
    CHECK(first(waits) == -1);
    CHECK(waits);
    question.spare_floor = 2;
    CHECK(first(waits) == 0);
    CHECK_FALSE(waits);

    CHECK(rail_advisor_spare_floor(advisor.it, nullptr, 0) == 0);
    REQUIRE(base::write_file(site.folder / "railyard.conf",
                             "[placement]\nfabric = \"" + site.fabric.string() +
                                 "\"\nspare_risk = 0.001\nrepair_time = \"30d\"\n"
                                 "[agent]\ninterval = \"1ms\"\n")); // no value for agents, and no matter here
    CHECK(test::eventually(
        [&] { return rail_advisor_spare_floor(advisor.it, nullptr, 0) == 2; })); // no reload was asked for
    advisor.nodes({"login1", "n002", "n003", "n004", "n005", "n006", "n007", "n008"});
    const std::uint32_t free_elsewhere[] = {0, 3};
    CHECK(rail_advisor_spare_floor(advisor.it, free_elsewhere, 2) == 1); // login1 is no host for a restart
}

TEST_CASE("gate: submissions and changes in C") {
    const Site site;
    site.store("pods=1 units=2 hosts=4 rails=1");
    rail_gate* gate = rail_gate_open(keep_line);
    REQUIRE(gate != nullptr);
    const char* variables[] = {"RAIL_SPAN=unit", "RAIL_RESTART=auto"};
    rail_verdict verdict{};
    const auto drop = [&] {
        std::free(verdict.message);
        std::free(verdict.admin_comment);
    };

    rail_submission submission{variables, 2, nullptr, 4, 0, true, false, -1, 0, false, false};
    rail_gate_submit(gate, &submission, &verdict);
    CHECK(verdict.accepted);
    CHECK(verdict.set_requeue);
    CHECK(verdict.message == nullptr);
    CHECK(std::string(verdict.admin_comment) == "railyard: span=unit restart=auto");
    drop();

    submission.nodes = 5;
    rail_gate_submit(gate, &submission, &verdict);
    CHECK_FALSE(verdict.accepted);
    CHECK(std::string(verdict.message).find("5 nodes never fit") != std::string::npos);
    drop();

    rail_change change{"railyard: span=unit", nullptr, 5, 0};
    rail_gate_change(gate, &change, &verdict);
    CHECK_FALSE(verdict.accepted);
    drop();
    change = {"railyard: span=unit", "ops", 4, 0};
    rail_gate_change(gate, &change, &verdict);
    CHECK(verdict.accepted);
    CHECK(std::string(verdict.admin_comment) == "ops; railyard: span=unit");
    drop();
    change = {"railyard: span=unit", "railyard: span=pod", 8, 0};
    rail_gate_change(gate, &change, &verdict);
    CHECK(verdict.accepted);
    CHECK(verdict.admin_comment == nullptr);
    drop();
    change = {nullptr, "railyard: span=rack", 1, 0};
    rail_gate_change(gate, &change, &verdict);
    CHECK_FALSE(verdict.accepted);
    drop();
    rail_gate_close(gate);
}
