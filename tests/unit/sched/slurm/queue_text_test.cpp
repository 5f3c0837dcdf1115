#include "sched/slurm/queue_text.hpp"

#include "sched/explain_show.hpp"
#include "unit/sched/grid.hpp"

#include <catch2/catch.hpp>

using namespace sched;
using sched_test::grid;

TEST_CASE("squeue's jobs are read with their ends and hosts") {
    const auto holders = parse_holders("# what runs\n812 2026-03-01T14:20:00 n[1-2,99]\n\n813 UNLIMITED n3\n",
                                       "jobs", grid(1, 1, 4));
    REQUIRE(holders);
    REQUIRE(holders->size() == 2);
    CHECK(holders->at(0).job == 812);
    CHECK(holders->at(0).hosts == std::vector<std::uint32_t>{0, 1});
    CHECK(holders->at(0).ends == *parse_moment("2026-03-01T14:20"));
    CHECK_FALSE(holders->at(1).ends);
}

TEST_CASE("a line of jobs that is none is named") {
    const auto error = [](std::string_view text) {
        const auto holders = parse_holders(text, "jobs", grid(1, 1, 4));
        REQUIRE_FALSE(holders);
        return holders.error().text;
    };
    CHECK(error("812 NONE\n").find("jobs:1: a line is JOB END HOSTLIST") == 0);
    CHECK(error("\n0 NONE n1\n").find("jobs:2: 0: a job's number is wanted") == 0);
    CHECK(error("812 2026-13-01T14:20:00 n1\n").find("jobs:1: 2026-13-01T14:20:00: a moment") == 0);
    CHECK(error("812 NONE n[1-\n").find("jobs:1: ") == 0);
    CHECK(error("812 NONE n1 n2\n").find("jobs:1: a line is") == 0);
}

TEST_CASE("sinfo's reasons are read by host") {
    const auto why =
        parse_reasons("n1 none\nn[2-3] railyard[i-1]: link errors\nlogin1 mine\n", "reasons", grid(1, 1, 4));
    REQUIRE(why);
    CHECK(*why == std::vector<std::string>{"", "link errors", "link errors", ""});
}

TEST_CASE("an explanation that lacks a member is refused by name") {
    const auto shown = [](std::string_view text) {
        const auto document = base::parse_json(text);
        REQUIRE(document);
        const auto out = show_explanation(base::Reader(*document));
        REQUIRE_FALSE(out);
        return out.error().text;
    };
    CHECK(shown(R"({"kind":"placed"})").find("sentence") != std::string::npos);
    CHECK(shown(R"({"kind":"placed","sentence":"x"})").find("terms") != std::string::npos);
    CHECK(shown(R"({"kind":"pending","sentence":"x","now":1,"part":"unit"})").find("parts") !=
          std::string::npos);
}
