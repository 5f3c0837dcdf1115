#include "restart/rm/slurm_queue.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

using namespace restart;
using namespace std::chrono_literals;
using Use = base::HostState;

namespace {

const base::Time now = base::time_from_seconds(1'772'367'600);

} // namespace

TEST_CASE("Slurm's records of a queue are read") {
    node_info_t raw_node;
    std::memset(&raw_node, 0, sizeof raw_node);
    std::string name = "n001", reason = "bad disk";
    raw_node.name = name.data();
    raw_node.cpus = 16;
    const auto state = [&](std::uint32_t bits) {
        raw_node.node_state = bits;
        return read_queue_node(raw_node, 4).state;
    };
    CHECK(state(NODE_STATE_IDLE) == Use::free);
    CHECK(state(NODE_STATE_IDLE | NODE_STATE_POWERED_DOWN | NODE_STATE_CLOUD) == Use::free);
    CHECK(state(NODE_STATE_IDLE | NODE_STATE_PLANNED) == Use::free);
    CHECK(state(NODE_STATE_IDLE | NODE_STATE_COMPLETING) == Use::busy);
    CHECK(state(NODE_STATE_MIXED) == Use::mixed);
    CHECK(state(NODE_STATE_ALLOCATED) == Use::busy);
    CHECK(state(NODE_STATE_ALLOCATED | NODE_STATE_DRAIN) == Use::drained);
    CHECK(state(NODE_STATE_IDLE | NODE_STATE_NO_RESPOND) == Use::free); // if it is heard all the same
    CHECK(read_queue_node(raw_node, 4).not_responding);
    CHECK(state(NODE_STATE_DOWN | NODE_STATE_DRAIN) == Use::down);
    raw_node.reason = reason.data();
    raw_node.node_state = NODE_STATE_IDLE | NODE_STATE_RES;
    const auto node = read_queue_node(raw_node, 4);
    CHECK(node.reserved);
    CHECK(node.cpus_idle == 12);
    CHECK(node.reason == "bad disk");

    job_info_t raw;
    std::memset(&raw, 0, sizeof raw);
    std::string partition = "batch,debug", excluded = "n[001-002]", held = "n003",
                comment = "ticket 7; railyard: span=unit@2h spares=1; railyard-why: needs 4 nodes";
    raw.job_id = 12;
    raw.job_state = JOB_PENDING;
    raw.partition = partition.data();
    raw.exc_nodes = excluded.data();
    raw.admin_comment = comment.data();
    raw.num_nodes = 4;
    raw.max_nodes = 8;
    raw.num_cpus = 32;
    raw.eligible_time = 1000;
    raw.state_reason = WAIT_RESOURCES;
    auto job = read_queue_job(raw, now);
    REQUIRE(job);
    CHECK(job->phase == QueuePhase::waiting);
    CHECK(job->partitions == std::vector<std::string>{"batch", "debug"});
    CHECK(job->excluded == std::vector<std::string>{"n001", "n002"});
    CHECK(job->least == 4);
    CHECK(job->most == 8);
    CHECK(job->cpus_per_node == 8);
    CHECK(job->exclusive);
    CHECK(job->why == "Resources");
    CHECK(job->waits_for == WaitsFor::hosts);
    CHECK(job->shown == "needs 4 nodes");
    CHECK(job->hints.span_wait == base::Duration(2h));
    CHECK(job->hints.spares == 1U);
    CHECK_FALSE(job->ends);
    const auto waits_for = [&](std::uint32_t because, const char* text = nullptr) {
        std::string words = text == nullptr ? "" : text;
        raw.state_reason = static_cast<decltype(raw.state_reason)>(because);
        raw.state_desc = words.data();
        const auto read = read_queue_job(raw, now);
        raw.state_desc = nullptr;
        return read->waits_for;
    };
    CHECK(waits_for(WAIT_NO_REASON) == WaitsFor::unknown); // "None"
    CHECK(waits_for(WAIT_PRIORITY) == WaitsFor::hosts);
    CHECK(waits_for(WAIT_RESOURCES, "ReqNodeNotAvail, UnavailableNodes:n003") == WaitsFor::hosts);
    CHECK(waits_for(WAIT_RESOURCES, "No suitable topology unit found") == WaitsFor::hosts); // 26.05
    CHECK(waits_for(WAIT_RESOURCES, "Nodes required for job are DOWN, DRAINED") == WaitsFor::hosts);
    CHECK(waits_for(WAIT_DEPENDENCY) == WaitsFor::other);
    raw.job_state = JOB_RUNNING;
    raw.nodes = held.data();
    raw.end_time = 5000;
    raw.max_nodes = 0;
    raw.time_limit = 60;
    job = read_queue_job(raw, now);
    CHECK(job->phase == QueuePhase::placed);
    CHECK(job->ends == base::Time(5000s));
    CHECK(job->nodes == std::vector<std::string>{"n003"});
    CHECK(job->most == 0);
    raw.time_limit = INFINITE;
    CHECK_FALSE(read_queue_job(raw, now)->ends);
    raw.time_limit = NO_VAL;
    raw.end_time = raw.start_time + 365 * 24 * 60 * 60;
    CHECK_FALSE(read_queue_job(raw, now)->ends);
    raw.job_state = JOB_COMPLETE | JOB_COMPLETING;
    job = read_queue_job(raw, now);
    CHECK(job->phase == QueuePhase::leaving);
    CHECK(job->ends == now);
    raw.job_state = JOB_COMPLETE;
    CHECK_FALSE(read_queue_job(raw, now));
}

TEST_CASE("how a job ended is read in squeue's words, with its script's exit status or signal") {
    job_info_t raw;
    std::memset(&raw, 0, sizeof raw);
    std::string nodes = "n[001-002]";
    raw.job_id = 12;
    raw.user_id = 1000;
    raw.start_time = 1000;
    raw.end_time = 4600;
    raw.nodes = nodes.data();
    const auto how = [&](std::uint32_t state, std::uint32_t code) {
        raw.job_state = state;
        raw.exit_code = code;
        const auto ended = read_ended_job(raw);
        return ended ? ended->status.how : std::string("not ended");
    };
    CHECK(how(JOB_COMPLETE, 0) == "COMPLETED");
    CHECK(how(JOB_FAILED, 3 << 8) == "FAILED, exit status 3");
    CHECK(how(JOB_CANCELLED, 15) == "CANCELLED, signal 15");
    CHECK(how(JOB_FAILED, 53) ==
          "FAILED, signal 53: its host lacks the job's working directory or cannot write its output");
    CHECK(how(JOB_TIMEOUT, 0) == "TIMEOUT");
    for (const std::uint64_t state : {JOB_PENDING + 0UL, JOB_RUNNING + 0UL, JOB_COMPLETE | JOB_COMPLETING})
        CHECK(how(static_cast<std::uint32_t>(state), 0) == "not ended");
    raw.job_state = JOB_COMPLETE;
    const auto ended = read_ended_job(raw);
    REQUIRE(ended);
    CHECK(ended->owner.uid == 1000);
    CHECK(ended->status.name == "12");
    CHECK(ended->status.end - ended->status.start == 1h);
    CHECK(ended->status.nodes == std::vector<std::string>{"n001", "n002"});
    raw.nodes = nullptr; // cancelled while it waited
    CHECK(read_ended_job(raw)->status.start == base::Time{});
}
