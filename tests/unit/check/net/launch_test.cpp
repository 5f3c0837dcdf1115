#include "check/net/launch.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>

using namespace check::net;

namespace {

base::Expected<Launch> launched(const std::map<std::string, std::string>& variables, const Said& said = {}) {
    return launch_of(said, [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

} // namespace

TEST_CASE("srun says which hosts take part and which one this is") {
    const auto launch = launched({{"SLURM_JOB_ID", "12"},
                                  {"SLURM_STEP_ID", "0"},
                                  {"SLURM_STEP_NODELIST", "n[1-4]"},
                                  {"SLURM_PROCID", "2"},
                                  {"SLURM_NTASKS", "4"}});
    REQUIRE(launch);
    CHECK(launch->hosts == std::vector<std::string>{"n1", "n2", "n3", "n4"});
    CHECK(launch->rank == 2);
}

TEST_CASE("two tasks on a host, a host twice and a rank too high are told") {
    CHECK_FALSE(launched({{"SLURM_STEP_NODELIST", "n[1-4]"}, {"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "8"}}));
    CHECK_FALSE(launched({}, {"n1,n2,n1", {}, "n1"}));
    CHECK_FALSE(launched({}, {"n1,n2", 2, "n1"}));
    CHECK_FALSE(launched({}));
    CHECK_FALSE(launched({{"SLURM_STEP_NODELIST", "n[1-4"}, {"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "4"}}));
}

TEST_CASE("in a list a host finds itself by its name, mpirun's rank or what the user says") {
    CHECK(launched({}, {"n1,n2,n3", {}, "n3"})->rank == 2);
    CHECK(launched({}, {"n1,n2,n3", 1, "n3"})->rank == 1);
    CHECK(launched({{"OMPI_COMM_WORLD_RANK", "1"}}, {"a1,a2", {}, "elsewhere"})->rank == 1);
    CHECK_FALSE(launched({}, {"n1,n2", {}, "n3"}));
}

TEST_CASE("processes of a job meet at the same ports, below those of outgoing connections") {
    const auto ports = meeting_ports("12.0");
    CHECK(ports == meeting_ports("12.0"));
    CHECK(ports != meeting_ports("12.1"));
    CHECK(std::set<std::uint16_t>(ports.begin(), ports.end()).size() == 8);
    CHECK(ports.front() >= 22000);
    CHECK(ports.back() < 32768);
}
