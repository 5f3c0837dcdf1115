#include "restart/rm/slurm_ends.hpp"

#include <catch2/catch.hpp>

TEST_CASE("what Slurm's accounting says of a job's end decides whether it may be started again") {
    const auto ends = restart::parse_ends("12|COMPLETED|0:0|0:0|1732723200\n"
                                          "13|COMPLETED|0:0|0:9|1732723201\n"
                                          "14|FAILED|3:0|0:0|1732723202\n"
                                          "15|FAILED|0:15|0:0|1732723203\n"
                                          "16|CANCELLED by 1000|0:0|0:0|1732723204\n"
                                          "17|TIMEOUT|0:0|0:0|1732723205\n"
                                          "18|NODE_FAIL|0:0|0:0|1732723206\n"
                                          "19|RUNNING|0:0|0:0|Unknown\n"
                                          "20|REQUEUED|0:0|0:0|1732723207\n"
                                          "sacct: error: of something\n");
    CHECK(ends.size() == 7);
    const auto code = [&](std::uint32_t job) { return ends.at(job).value().code; };
    CHECK(code(12) == 0);
    CHECK_FALSE(ends.at(12)->step_failed);
    CHECK(ends.at(12)->ended == base::Time(std::chrono::seconds(1732723200)));
    CHECK(code(13) == 0);
    CHECK(ends.at(13)->step_failed);
    CHECK(code(14) == 3);
    CHECK(code(15) == 143);
    CHECK_FALSE(ends.at(16)); // its user
    CHECK_FALSE(ends.at(17)); // its time limit
    CHECK(code(18) == 1);
    CHECK_FALSE(ends.contains(19));
    CHECK_FALSE(ends.contains(20));
}

TEST_CASE("text that sacct does not print says nothing") {
    CHECK(restart::parse_ends("").empty());
    CHECK(restart::parse_ends("12").empty());
    CHECK(restart::parse_ends("12|FAILED|1:0|0:0|").empty());
    CHECK(restart::parse_ends("99999999999|FAILED|1:0|0:0|1732723200\n").empty());
}
