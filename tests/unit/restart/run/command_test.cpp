#include "restart/run/command.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace restart::run;

namespace {

using Environment = std::map<std::string, std::string>;

// A batch script's on five hosts of eight tasks, the last a spare.
Environment batch() {
    return {{"SLURM_JOB_NODELIST", "n[1-5]"},
            {"SLURM_NODELIST", "n[1-5]"},
            {"SLURM_JOB_NUM_NODES", "5"},
            {"SLURM_NNODES", "5"},
            {"SLURM_TASKS_PER_NODE", "8(x5)"},
            {"SLURM_JOB_CPUS_PER_NODE", "64(x5)"},
            {"SLURM_NTASKS", "40"},
            {"SLURM_NTASKS_PER_NODE", "8"},
            {"RAIL_NODELIST", "n[1-4]"},
            {"RAIL_SPARE_NODELIST", "n5"},
            {"RAIL_NUM_NODES", "4"}};
}
Given given(Words words, Environment environment = batch(), bool ordered = true) {
    return {std::move(words),
            [environment = std::move(environment)](const std::string& name) {
                const auto found = environment.find(name);
                return found == environment.end() ? std::nullopt : std::optional(found->second);
            },
            ordered};
}
std::string value(const Started& started, const std::string& name) {
    const auto found = started.environment.find(name);
    if (found == started.environment.end()) return "(as it was)";
    return found->second.value_or("(unset)");
}

const Seats first{{"n1", "n2", "n3", "n4"}, {"n5"}};
const Hosts whole{"n1", "n2", "n3", "n4", "n5"};

} // namespace

TEST_CASE("a launch finds an allocation of its hosts alone") {
    const auto started = command_on(given({"srun", "-l", "train"}), first, whole, "/f");
    CHECK(started.words == Words{"srun", "-l", "train"}); // spank_rail hands it the hosts
    CHECK(value(started, "SLURM_JOB_NODELIST") == "n[1-4]");
    CHECK(value(started, "SLURM_JOB_NUM_NODES") == "4");
    CHECK(value(started, "SLURM_TASKS_PER_NODE") == "8(x4)");
    CHECK(value(started, "SLURM_JOB_CPUS_PER_NODE") == "64(x4)");
    CHECK(value(started, "SLURM_NTASKS") == "32");
    CHECK(value(started, "RAIL_NODELIST") == "n[1-4]");
    CHECK(value(started, "RAIL_SPARE_NODELIST") == "(unset)");
    // After a loss, and where a host was left that stays in the allocation.
    const Seats next{{"n1", "n2", "n5", "n4"}, {}};
    for (const auto& allocation : {Hosts{"n1", "n2", "n4", "n5"}, whole}) {
        const auto again = command_on(given({"srun", "train"}), next, allocation, "/f");
        CHECK(again.words == Words{"srun", "train"});
        CHECK(value(again, "SLURM_JOB_NODELIST") == "n[1-2,4-5]"); // in another order PMIx may hang
        CHECK(value(again, "RAIL_NODELIST") == "n[1-2,5,4]");
        CHECK(value(again, "SLURM_NNODES") == "4");
        CHECK(value(again, "SLURM_NTASKS") == "32");
    }
}

TEST_CASE("where spank_rail would leave the hosts to Slurm, srun is told them") {
    const Seats next{{"n1", "n2", "n5", "n4"}, {}};
    for (const auto& words :
         {Words{"srun", "--no-such-option", "train"}, Words{"srun", "-n20", "--exact", "train"}}) {
        const auto told = command_on(given(words), next, whole, "/f");
        REQUIRE(told.words.size() == words.size() + 2);
        CHECK(told.words[1] == "--nodelist=n[1-2,4-5]");
        CHECK(told.words[2] == "--nodes=4");
        CHECK(told.words.back() == "train");
        CHECK(value(told, "SLURM_JOB_NODELIST") == "n[1-2,4-5]"); // the step's own order
        CHECK(value(told, "SLURM_NTASKS") == "32");
        // All that is left of the allocation need not be named.
        CHECK(command_on(given(words), next, {"n1", "n2", "n4", "n5"}, "/f").words == words);
    }
    const auto alone = command_on(given({"/usr/bin/srun", "train"}, batch(), false), next, whole, "/f");
    CHECK(alone.words[1] == "--nodelist=n[1-2,4-5]");
}

TEST_CASE("unequal hosts keep their own counts") {
    auto environment = batch();
    environment["SLURM_TASKS_PER_NODE"] = "8(x2),4,2(x2)";
    environment["SLURM_NTASKS"] = "24";
    const auto started = command_on(given({"launch.sh"}, environment), {{"n1", "n5", "n4", "n3"}, {}},
                                    {"n1", "n3", "n4", "n5"}, "/f");
    CHECK(value(started, "SLURM_TASKS_PER_NODE") == "8,2(x2),4");
    CHECK(value(started, "SLURM_NTASKS") == "16");
    CHECK(started.words == Words{"launch.sh"});
    CHECK(started.hostfile.find("n4\nn4\nn3\nn3\nn3\nn3\n") != std::string::npos);
}

TEST_CASE("mpirun finds no host in its environment but those with ranks, in their order") {
    auto environment = batch();
    environment["OMPI_MCA_orte_default_hostfile"] = "/old";
    environment["OMPI_MCA_rmaps_base_mapping_policy"] = "seq";
    environment["RAIL_LAUNCHERS"] =
        "OMPI_MCA_orte_default_hostfile=/old OMPI_MCA_rmaps_base_mapping_policy=seq";
    const Seats next{{"n1", "n2", "n5", "n4"}, {}};
    const auto started =
        command_on(given({"mpirun", "-np", "32", "train"}, environment), next, whole, "/new");
    CHECK(started.words == Words{"mpirun", "-np", "32", "train"});
    CHECK(value(started, "SLURM_JOB_NODELIST") == "n[1-2,5,4]");
    CHECK(value(started, "SLURM_TASKS_PER_NODE") == "8(x4)");
    CHECK(value(started, "OMPI_MCA_orte_default_hostfile") == "/new");
    CHECK(value(started, "OMPI_MCA_rmaps_base_mapping_policy") == "seq");
    CHECK(started.hostfile.find("n2\nn5\n") != std::string::npos);
    CHECK(started.hostfile.find("n3") == std::string::npos);
    // In Slurm's own order nothing need be said.
    const auto plain =
        command_on(given({"mpirun", "train"}, environment), {{"n1", "n2"}, {}}, {"n1", "n2"}, "/new");
    CHECK(value(plain, "OMPI_MCA_orte_default_hostfile") == "(unset)");
}

TEST_CASE("a command that chooses its hosts itself is refused") {
    const auto refused = [](Words words, Environment environment = batch()) {
        const auto checked = check_command(given(std::move(words), std::move(environment)), first);
        if (checked) return std::string();
        CHECK(checked.error().code == base::Code::usage);
        return checked.error().text;
    };
    CHECK(refused({"srun", "train", "-w", "x"}).empty()); // the program's
    CHECK(refused({"srun", "-N4", "-n32", "train"}).empty());
    CHECK(refused({"srun", "--no-such-option", "train"}).empty());
    CHECK_THAT(refused({"srun", "-w", "n1", "train"}), Catch::StartsWith("srun -w:"));
    CHECK_THAT(refused({"srun", "--exclude=n1", "train"}), Catch::StartsWith("srun --exclude:"));
    CHECK_THAT(refused({"srun", "-N", "2", "train"}),
               Catch::Contains("4 hosts that have ranks (1 are spares)"));
    CHECK_THAT(refused({"srun", "-n2"}), Catch::Contains("no program"));
    auto listed = batch();
    listed["SLURM_HOSTFILE"] = "/hosts";
    CHECK_THAT(refused({"srun", "train"}, listed), Catch::StartsWith("SLURM_HOSTFILE"));
    CHECK_THAT(refused({"mpirun", "--hostfile", "h", "train"}), Catch::StartsWith("mpirun --hostfile"));
    CHECK(refused({"./launch.sh", "-w", "n1"}).empty());
}
