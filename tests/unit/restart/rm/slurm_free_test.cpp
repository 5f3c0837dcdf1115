#include "restart/rm/slurm_free.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace {

// A job that runs on n001 and n002, of 12's kind, and the drained n002.
struct Scene {
    std::string nodes = "n[001-002]", comment = "railyard: spares=1 no-kill=yes";
    job_info_t job{};
    restart::RmNode node;
    restart::FreeHost action{"n002", {base::JobId(12)}};

    Scene() {
        job.job_id = 12;
        job.job_state = JOB_RUNNING;
        job.nodes = nodes.data();
        job.admin_comment = comment.data();
        node.name = "n002";
        node.drain = true;
        node.reason = "railyard[i-7]: gpu3 gone";
    }
    std::string refusal() const {
        const auto safe = restart::can_be_freed(node, action, {&job, 1});
        return safe ? "" : safe.error().text;
    }
};

} // namespace

TEST_CASE("a host is taken out of a job that was named and survives it") {
    Scene scene;
    CHECK(scene.refusal().empty());
    scene.nodes = "n[001,003]";
    scene.job.job_id = 13; // elsewhere
    CHECK(scene.refusal().empty());
}

TEST_CASE("no host is set down from under a job that would end") {
    Scene scene;
    const auto* what = GENERATE("not named", "not of --no-kill", "its only host", "being ended", "suspended");
    INFO(what);
    const std::string_view is = what;
    if (is == "not named") scene.action.jobs = {base::JobId(13)};
    if (is == "not of --no-kill") scene.comment = "railyard: spares=1";
    if (is == "its only host") scene.nodes = "n002";
    if (is == "being ended") scene.job.job_state = JOB_PENDING | JOB_COMPLETING;
    if (is == "suspended") scene.job.job_state = JOB_SUSPENDED;
    scene.job.nodes = scene.nodes.data();
    scene.job.admin_comment = scene.comment.data();
    CHECK(scene.refusal() == "job 12 is on n002 and would end");
}

TEST_CASE("a host that is not ours any more is not set down") {
    Scene scene;
    scene.node.reason = "alice: fan";
    CHECK(scene.refusal() == "n002 is not drained by Railyard any more: alice: fan");
    scene.node.reason = "railyard[i-7]: gpu3 gone";
    scene.node.drain = false;
    CHECK_FALSE(scene.refusal().empty());
}
