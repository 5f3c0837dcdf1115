#include "restart/rm/slurm_checks.hpp"
#include "restart/rm/slurm_reading.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <unistd.h>

namespace {

// A job that waits for hosts of partition gpu, which has n001 to n004; n001 is being tried.
struct Scene {
    std::string partition = "cpu,gpu", excluded, required, comment;
    std::string gpu = "gpu", gpu_nodes = "n[001-004]", cpu = "cpu", cpu_nodes = "n[005-008]";
    job_info_t job{};

    Scene() {
        job.job_id = 12;
        job.user_id = 1000;
        job.job_state = JOB_PENDING;
        job.state_reason = WAIT_RESOURCES;
        job.priority = 5;
    }
    bool wants(std::string_view host) {
        job.partition = partition.data();
        job.exc_nodes = excluded.data();
        job.req_nodes = required.data();
        job.comment = comment.data();
        partition_info_t partitions[2]{};
        partitions[0].name = cpu.data();
        partitions[0].nodes = cpu_nodes.data();
        partitions[1].name = gpu.data();
        partitions[1].nodes = gpu_nodes.data();
        return restart::is_wanted(host, {&job, 1}, partitions);
    }
};

} // namespace

TEST_CASE("an idle host is wanted by a job that waits for hosts and could use it") {
    Scene scene;
    CHECK(scene.wants("n001"));
    CHECK(scene.wants("n005"));
    CHECK_FALSE(scene.wants("n009"));
    scene.job.state_reason = GENERATE(WAIT_NO_REASON, WAIT_PRIORITY);
    CHECK(scene.wants("n001"));
    scene.job.state_reason = WAIT_NODE_NOT_AVAIL;
    CHECK_FALSE(scene.wants("n001"));
    scene.required = "n001";
    CHECK(scene.wants("n001"));
}

TEST_CASE("a job that could not use an idle host now does not want it") {
    Scene scene;
    std::string reservation = "weekly";
    const auto* what =
        GENERATE("runs", "held", "later", "licence", "reserved", "elsewhere", "excludes it", "another check");
    INFO(what);
    const std::string_view is = what;
    if (is == "runs") scene.job.job_state = JOB_RUNNING;
    if (is == "held") scene.job.priority = 0;
    if (is == "later") scene.job.eligible_time = std::time(nullptr) + 3600;
    if (is == "licence") scene.job.state_reason = WAIT_LICENSES;
    if (is == "reserved") scene.job.resv_name = reservation.data();
    if (is == "elsewhere") scene.partition = "cpu";
    if (is == "excludes it") scene.excluded = "n[001-002]";
    if (is == "another check") {
        scene.job.user_id = ::geteuid();
        scene.comment = "railyard-check n002";
    }
    CHECK_FALSE(scene.wants("n001"));
}

TEST_CASE("a job tries the host in its comment only if it is ours") {
    std::string comment = "railyard-check n001", other = "my railyard-check n001";
    job_info_t job{};
    job.user_id = ::geteuid();
    CHECK(restart::checked_host(job).empty());
    job.comment = other.data();
    CHECK(restart::checked_host(job).empty());
    job.comment = comment.data();
    CHECK(restart::checked_host(job) == "n001");
    CHECK(restart::read_job(job).checks == "n001");
    job.user_id = ::geteuid() + 1;
    CHECK(restart::checked_host(job).empty());
}
