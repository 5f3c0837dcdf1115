#include "sched/slurm/submission.hpp"

#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

namespace {

sched::Limits limits_of(std::string_view spec) {
    return sched::Limits::of(*topo::synthesise(*topo::parse_synth(spec)));
}

std::string error_of(const sched::Submission& submission, const std::optional<sched::Limits>& limits = {}) {
    const auto accepted = sched::judge(submission, limits);
    return accepted ? "" : accepted.error().text;
}

} // namespace

TEST_CASE("submission: flags become a comment behind what stood there") {
    sched::Submission submission;
    submission.variables = {"HOME=/root", "RAIL_SPAN=unit", "RAIL_SPANNER=x", "RAIL_CKPT_DIR=/s/a b"};
    submission.admin_comment = "ticket 7";
    const auto accepted = sched::judge(submission, {});
    REQUIRE(accepted);
    CHECK(accepted->admin_comment == "ticket 7; railyard: span=unit ckpt-dir=/s/a%20b");
    CHECK_FALSE(accepted->set_requeue);
    CHECK(accepted->note.empty());
}

TEST_CASE("submission: without flags nothing changes") {
    sched::Submission submission;
    submission.admin_comment = " as ; it was ";
    const auto accepted = sched::judge(submission, {});
    REQUIRE(accepted);
    CHECK(accepted->admin_comment == " as ; it was ");
}

TEST_CASE("submission: a bad value is refused with flag, value and what is allowed") {
    CHECK(error_of({{"RAIL_SPAN=rack"}, "", 1, true, {}}) == "--rail-span=rack: must be unit, pod or fabric");
    CHECK(error_of({{"RAIL_RESTART="}, "", 1, true, {}}) == "--restart=: must be auto or never");
    CHECK(error_of({{"RAIL_CKPT_DIR=x"}, "", 1, true, {}}) == "--ckpt-dir=x: must be an absolute path");
}

TEST_CASE("submission: automatic restarts need a job that may be requeued") {
    const auto batch = sched::judge({{"RAIL_RESTART=auto"}, "", 1, true, {}}, {});
    REQUIRE(batch);
    CHECK(batch->set_requeue);
    CHECK(error_of({{"RAIL_RESTART=auto"}, "", 1, true, false}).find("--no-requeue") != std::string::npos);
    CHECK(error_of({{"RAIL_RESTART=never"}, "", 1, true, false}).empty());
    const auto interactive = sched::judge({{"RAIL_RESTART=auto"}, "", 1, false, {}}, {});
    REQUIRE(interactive);
    CHECK_FALSE(interactive->set_requeue);
    CHECK(interactive->admin_comment.empty());
    CHECK(interactive->note.find("only batch jobs") != std::string::npos);
}

TEST_CASE("submission: a span that can never hold the job names the way out") {
    const auto limits = limits_of("pods=2 units=2 hosts=8 rails=2");
    CHECK(limits.unit == 8);
    CHECK(limits.pod == 16);
    CHECK(limits.fabric == 32);
    CHECK(error_of({{"RAIL_SPAN=unit"}, "", 8, true, {}}, limits).empty());
    CHECK(error_of({{"RAIL_SPAN=unit"}, "", 12, true, {}}, limits) ==
          "--rail-span=unit: 12 nodes never fit, the largest unit of this fabric has 8: ask for "
          "--rail-span=pod or at "
          "most 8 nodes");
    CHECK(error_of({{"RAIL_SPAN=unit"}, "", 20, true, {}}, limits).find("--rail-span=fabric or at most 8") !=
          std::string::npos);
    CHECK(error_of({{"RAIL_SPAN=pod"}, "", 17, true, {}}, limits).find("--rail-span=fabric or at most 16") !=
          std::string::npos);
    CHECK(error_of({{"RAIL_SPAN=fabric"}, "", 33, true, {}}, limits).find("ask for at most 32 nodes") !=
          std::string::npos);
    CHECK(error_of({{"RAIL_SPAN=unit"}, "", 12, true, {}}).empty()); // no fabric: no opinion
    CHECK(error_of({{}, "", 12, true, {}}, limits).empty());
}
