#include "restart/run/slurm_job.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace restart::run;

namespace {
Lookup in(std::map<std::string, std::string> environment) {
    return [environment = std::move(environment)](const std::string& name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
    };
}
} // namespace

TEST_CASE("a job is known by a name that means no other task of its array") {
    CHECK(*job_name(in({{"SLURM_JOB_ID", "12"}})) == "12");
    CHECK(
        *job_name(in({{"SLURM_JOB_ID", "15"}, {"SLURM_ARRAY_JOB_ID", "12"}, {"SLURM_ARRAY_TASK_ID", "3"}})) ==
        "12_3");
    CHECK(*job_name(in({{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "4294967291"}})) == "12");
    CHECK_THAT(job_name(in({})).error().text, Catch::Contains("batch script"));
    CHECK_FALSE(job_name(in({{"SLURM_JOB_ID", "12 --me"}})));
    CHECK_THAT(job_name(in({{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "0"}})).error().text,
               Catch::Contains("step"));
    CHECK_THAT(job_name(in({{"SLURM_JOB_ID", "12"}, {"SLURM_HET_SIZE", "2"}})).error().text,
               Catch::Contains("heterogeneous"));
}

TEST_CASE("the allocation is squeue's word of a running job") {
    CHECK(*read_allocation("RUNNING n[001-003,007]\n") == Hosts{"n001", "n002", "n003", "n007"});
    for (const char* line : {"", "\n", "RUNNING", "COMPLETING n[001-003]\n", "PENDING \n", "RUNNING n[1-\n"})
        CHECK_FALSE(read_allocation(line));
}
