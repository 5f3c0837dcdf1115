#include "sched/slurm/submission.hpp"

#include "sched/slurm/admin_comment.hpp"

#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

namespace {

sched::Capacity capacity_of(std::string_view spec) {
    return sched::Capacity::of(*topo::synthesise(*topo::parse_synth(spec)));
}

std::string error_of(const sched::Submission& submission,
                     const std::optional<sched::Capacity>& capacity = {}) {
    const auto accepted = sched::judge(submission, capacity);
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

TEST_CASE("submission: what no NVLink domain and no pod ever holds is refused") {
    // Two units of 8 hosts, in domains of 4; a pod of 16.
    sched::Capacity capacity{{{8, 8}}, 0};
    sched::Submission submission;
    submission.nodes = 6;
    submission.variables = {"RAIL_SPAN=domain"};
    CHECK(error_of(submission, capacity) == "--rail-span=domain: this fabric has no NVLink domains (the "
                                            "member domain of its hosts in fabric.json): "
                                            "leave it out, or say --rail-span=unit");
    capacity.domains = {{{4, 4}, {4, 4}}};
    capacity.largest_domain = 4;
    CHECK(error_of(submission, capacity) ==
          "--rail-span=domain: 6 nodes never fit, the largest NVLink domain of this "
          "fabric has 4: ask for --rail-span=unit or at most 4 nodes");
    submission.nodes = 4;
    CHECK(error_of(submission, capacity).empty());
    submission.variables = {"RAIL_SEGMENT=3"};
    submission.nodes = 15; // one group of 3 in each domain of 4
    CHECK(error_of(submission, capacity) ==
          "--rail-segment=3: 15 nodes never fit, the whole fabric has 12: ask for at most 12 nodes");
    submission.variables = {"RAIL_SEGMENT=2:8"};
    submission.nodes = 12;
    CHECK(error_of(submission, capacity) ==
          "--rail-segment=2:8: 8 does not divide 12 nodes: ask for 8 or 16 nodes");
    submission.variables = {"RAIL_SEGMENT=4:32"};
    submission.nodes = 32;
    CHECK(error_of(submission, capacity) ==
          "--rail-segment=4:32: no pod of this fabric has 32 hosts: the largest has 16");
    submission.variables = {"RAIL_SEGMENT=2:8"};
    submission.nodes = 16;
    const auto accepted = sched::judge(submission, capacity);
    REQUIRE(accepted);
    CHECK(accepted->admin_comment == "railyard: segment=2:8");
    submission.segment = 2; // --segment beside it
    CHECK(error_of(submission, capacity) == "--segment=2 and --rail-segment=2:8 contradict each other: both "
                                            "say how many nodes are kept in one unit; "
                                            "give one");
}

TEST_CASE("submission: that a job survives the loss of a host is noted beside its flags") {
    sched::Submission submission;
    submission.no_kill = true;
    const auto plain = sched::judge(submission, {});
    REQUIRE(plain);
    CHECK(plain->admin_comment.empty());
    submission.variables = {"RAIL_SPARES=1"};
    submission.nodes = 2;
    const auto accepted = sched::judge(submission, {});
    REQUIRE(accepted);
    CHECK(accepted->admin_comment == "railyard: spares=1 no-kill=yes");
    CHECK(sched::parse_comment(accepted->admin_comment).value_or({}) == accepted->hints);
    CHECK_FALSE(sched::parse_comment("railyard: spares=1 no-kill=no")->no_kill);
}

TEST_CASE("submission: without flags nothing changes") {
    sched::Submission submission;
    submission.admin_comment = " as ; it was ";
    const auto accepted = sched::judge(submission, {});
    REQUIRE(accepted);
    CHECK(accepted->admin_comment == " as ; it was ");
}

TEST_CASE("submission: a bad value is refused with flag, value and what is allowed") {
    CHECK(error_of({{"RAIL_SPAN=rack"}, "", 1, 0, true, {}}) ==
          "--rail-span=rack: must be domain, unit, pod or fabric, or one of these with @WAIT");
    CHECK(error_of({{"RAIL_RESTART="}, "", 1, 0, true, {}}) == "--restart=: must be auto or never");
    CHECK(error_of({{"RAIL_CKPT_DIR=x"}, "", 1, 0, true, {}}) == "--ckpt-dir=x: must be an absolute path");
}

TEST_CASE("submission: automatic restarts need a job that may be requeued") {
    const auto batch = sched::judge({{"RAIL_RESTART=auto"}, "", 1, 0, true, {}}, {});
    REQUIRE(batch);
    CHECK(batch->set_requeue);
    CHECK(error_of({{"RAIL_RESTART=auto"}, "", 1, 0, true, false}).find("--no-requeue") != std::string::npos);
    CHECK(error_of({{"RAIL_RESTART=never"}, "", 1, 0, true, false}).empty());
    const auto interactive = sched::judge({{"RAIL_RESTART=auto"}, "", 1, 0, false, {}}, {});
    REQUIRE(interactive);
    CHECK_FALSE(interactive->set_requeue);
    CHECK(interactive->admin_comment.empty());
    CHECK(interactive->note.find("only batch jobs") != std::string::npos);
}

TEST_CASE("submission: a span that can never hold the job names the way out") {
    const auto capacity = capacity_of("pods=2 units=2 hosts=8 rails=2");
    CHECK(capacity.most(sched::Span::unit, 0, 0) == 8);
    CHECK(capacity.most(sched::Span::pod, 0, 0) == 16);
    CHECK(capacity.most(sched::Span::fabric, 0, 0) == 32);
    CHECK(error_of({{"RAIL_SPAN=unit"}, "", 8, 0, true, {}}, capacity).empty());
    CHECK(error_of({{"RAIL_SPAN=unit"}, "", 12, 0, true, {}}, capacity) ==
          "--rail-span=unit: 12 nodes never fit, the largest unit of this fabric has 8: ask for "
          "--rail-span=pod or at "
          "most 8 nodes");
    CHECK(error_of({{"RAIL_SPAN=unit"}, "", 20, 0, true, {}}, capacity)
              .find("--rail-span=fabric or at most 8") != std::string::npos);
    CHECK(error_of({{"RAIL_SPAN=pod"}, "", 17, 0, true, {}}, capacity)
              .find("--rail-span=fabric or at most 16") != std::string::npos);
    CHECK(error_of({{"RAIL_SPAN=fabric"}, "", 33, 0, true, {}}, capacity).find("ask for at most 32 nodes") !=
          std::string::npos);
    CHECK(error_of({{"RAIL_SPAN=unit"}, "", 12, 0, true, {}}).empty()); // no fabric: no opinion
    CHECK(error_of({{}, "", 12, 0, true, {}}, capacity).empty());
}

TEST_CASE("submission: segments and spares that do not fit are refused with a sentence") {
    const auto capacity = capacity_of("pods=2 units=2 hosts=8 rails=2");
    const auto refused = [&](std::vector<std::string_view> flags, std::uint32_t nodes,
                             std::uint32_t most = 0) {
        return error_of({std::move(flags), "", nodes, most, true, {}}, capacity);
    };
    CHECK(refused({"RAIL_SEGMENT=4"}, 16).empty());
    CHECK(refused({"RAIL_SEGMENT=4", "RAIL_SPARES=1"}, 17).empty());
    CHECK(refused({"RAIL_SEGMENT=4"}, 18) ==
          "--rail-segment=4: does not divide 18 nodes: ask for 16 or 20 nodes");
    CHECK(refused({"RAIL_SEGMENT=4", "RAIL_SPARES=1"}, 16) ==
          "--rail-segment=4: does not divide 15 nodes (16 less 1 spares): ask for 13 or 17 nodes");
    CHECK(refused({"RAIL_SEGMENT=8"}, 4) == "--rail-segment=8: does not divide 4 nodes: ask for 8 nodes");
    CHECK(refused({"RAIL_SEGMENT=4"}, 14, 18).empty()); // 16 are in the range
    CHECK_FALSE(refused({"RAIL_SEGMENT=4"}, 13, 15).empty());
    CHECK(refused({"RAIL_SPARES=2"}, 2) ==
          "--rail-spares=2: of 2 nodes no node is left to run on: ask for more with --nodes, the spares are "
          "among them");
    // Six of a unit's eight hosts hold a segment, two of each are left over: four segments and eight spares.
    CHECK(capacity.most(sched::Span::any, 6, 0) == 24);
    CHECK(capacity.most(sched::Span::any, 6, 9) == 27);
    CHECK(refused({"RAIL_SEGMENT=6"}, 30) ==
          "--rail-segment=6: 30 nodes never fit, the whole fabric has 24: ask for at most 24 nodes");
    CHECK(refused({"RAIL_SEGMENT=16"}, 16) ==
          "--rail-segment=16: 16 nodes never fit, the whole fabric has 0: ask for at most 0 nodes");
    // A wish ends: only what the whole fabric cannot hold is refused.
    CHECK(refused({"RAIL_SPAN=unit@2h"}, 12).empty());
    CHECK_FALSE(refused({"RAIL_SPAN=unit@2h"}, 33).empty());
}

TEST_CASE("submission: how often and when to start again means something with --restart=auto only") {
    const auto both = sched::judge(
        {{"RAIL_RESTART=auto", "RAIL_RESTART_MAX=5", "RAIL_RESTART_ON=1,3"}, "", 1, 0, true, {}}, {});
    REQUIRE(both);
    CHECK(both->admin_comment == "railyard: restart=auto restart-max=5 restart-on=1,3");
    CHECK(both->note.empty());
    const auto read = sched::parse_comment(both->admin_comment);
    REQUIRE(read);
    CHECK(*read == both->hints);
    for (const bool batch : {true, false}) {
        const auto alone = sched::judge({{"RAIL_RESTART_ON=any"}, "", 1, 0, batch, {}}, {});
        REQUIRE(alone);
        CHECK(alone->admin_comment.empty());
        CHECK(alone->note == "--restart-on: has no effect without --restart=auto");
    }
    const auto never = sched::judge({{"RAIL_RESTART=never", "RAIL_RESTART_MAX=2"}, "", 1, 0, true, {}}, {});
    REQUIRE(never);
    CHECK(never->admin_comment == "railyard: restart=never");
    CHECK(never->note == "--restart-max: has no effect without --restart=auto");
}

TEST_CASE("submission: segments in the resource manager's order of ranks are said to be none") {
    const auto note = [](std::vector<std::string_view> variables) {
        const auto accepted = sched::judge({std::move(variables), "", 8, 0, true, {}}, {});
        return accepted ? accepted->note : accepted.error().text;
    };
    CHECK(note({"RAIL_ORDER=none", "RAIL_SEGMENT=2"}).starts_with("--rail-order=none: ranks come in the"));
    CHECK(note({"RAIL_ORDER=none"}).empty());
    CHECK(note({"RAIL_ORDER=none", "RAIL_SEGMENT=1"}).empty());
    CHECK(note({"RAIL_SEGMENT=2"}).empty());
}

TEST_CASE("submission: Slurm's own --segment counts as ours, and what cannot be kept is refused") {
    const auto capacity = capacity_of("pods=2 units=2 hosts=8 rails=2");
    sched::Submission submission;
    submission.nodes = 16;
    submission.segment = 4;
    auto accepted = sched::judge(submission, capacity);
    REQUIRE(accepted);
    CHECK(accepted->admin_comment == "railyard: segment=4");
    submission.variables = {"RAIL_SEGMENT=4", "RAIL_SPAN=fabric"};
    CHECK(sched::judge(submission, capacity)->admin_comment == "railyard: span=fabric segment=4");
    submission.variables = {"RAIL_SEGMENT=8"};
    CHECK(error_of(submission, capacity) ==
          "--segment=4 and --rail-segment=8 contradict each other: both say how many nodes are kept in one "
          "unit; give one");
    submission.variables.clear();
    submission.nodes = 18;
    CHECK(error_of(submission, capacity) ==
          "--segment=4 counts as --rail-segment=4: --rail-segment=4: does not "
          "divide 18 nodes: ask for 16 or 20 nodes");
    submission.segment = 1; // says nothing
    CHECK(sched::judge(submission, capacity)->admin_comment.empty());
    submission.spread_segments = true;
    CHECK(error_of(submission, capacity).empty()); // there are no segments
    submission.nodes = 16;
    submission.variables = {"RAIL_SEGMENT=4"};
    CHECK(
        error_of(submission, capacity).starts_with("--spread-segments: Railyard places segments in as few "));
    submission.variables.clear();
    submission.segment = 4;
    CHECK(error_of(submission, capacity).starts_with("--spread-segments: "));
    submission.spread_segments = false;
    submission.exclusive_topo_of_nothing = true;
    CHECK(error_of(submission, capacity).starts_with("--exclusive=topo: Slurm has no topology.conf here"));
}
