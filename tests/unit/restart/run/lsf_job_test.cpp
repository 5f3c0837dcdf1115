#include "restart/run/lsf_job.hpp"
#include "restart/run/own_job.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <map>
#include <sys/signalfd.h>
#include <unistd.h>

using namespace restart::run;

namespace {

using Environment = std::map<std::string, std::string>;

Lookup in(Environment environment) {
    return [environment = std::move(environment)](const std::string& name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
    };
}

// A script's on four hosts, the last a spare, after rail-lsf-run.
Environment script() {
    return {{"LSB_JOBID", "12"},
            {"LSB_MCPU_HOSTS", "n4 4 n2 4 n6 2 n1 3 "},
            {"LSB_HOSTS", "n4 n4 n4 n4 n2 n2 n2 n2 n6 n6 n1 n1 n1"},
            {"RAIL_NODELIST", "n[4,2,6]"},
            {"RAIL_SPARE_NODELIST", "n1"},
            {"RAIL_RESTART_COUNT", "2"},
            {"OMPI_MCA_plm_rsh_agent", "/old/rsh"},
            {"OMPI_MCA_orte_default_hostfile", "/old/hosts"},
            {"RAIL_LAUNCHERS", "OMPI_MCA_plm_rsh_agent=/old/rsh OMPI_MCA_orte_default_hostfile=/old/hosts"}};
}
std::string value(const Started& started, const std::string& name) {
    const auto found = started.environment.find(name);
    if (found == started.environment.end()) return "(as it was)";
    return found->second.value_or("(unset)");
}

const Seats first{{"n4", "n2", "n6"}, {"n1"}};

} // namespace

TEST_CASE("a launch under LSF finds a job of its hosts alone, in the order of ranks") {
    const auto started = *lsf_command_on({{"mpirun", "train"}, in(script()), true}, first, "/f", "/rsh");
    CHECK(started.words == Words{"mpirun", "train"});
    CHECK(value(started, "LSB_MCPU_HOSTS") == "n4 4 n2 4 n6 2 ");
    CHECK(value(started, "LSB_HOSTS") == "n4 n4 n4 n4 n2 n2 n2 n2 n6 n6");
    CHECK(value(started, "LSB_DJOB_HOSTFILE") == "(as it was)");
    CHECK(value(started, "RAIL_NODELIST") == "n[4,2,6]");
    CHECK(value(started, "RAIL_NUM_NODES") == "3");
    CHECK(value(started, "RAIL_SPARE_NODELIST") == "(unset)");
    CHECK(value(started, "RAIL_HOSTFILE") == "/f");
    CHECK(value(started, "OMPI_MCA_orte_default_hostfile") == "/f");
    CHECK(value(started, "OMPI_MCA_plm_rsh_agent") == "/rsh");
    CHECK(started.hostfile.ends_with("\nn4\nn4\nn4\nn4\nn2\nn2\nn2\nn2\nn6\nn6\n"));
}

TEST_CASE("a spare brings its own slots to the place of the host that was left") {
    const auto again =
        *lsf_command_on({{"mpirun", "train"}, in(script()), true}, {{"n4", "n1", "n6"}, {}}, "/f", "/rsh");
    CHECK(value(again, "LSB_MCPU_HOSTS") == "n4 4 n1 3 n6 2 ");
    CHECK(value(again, "RAIL_NODELIST") == "n[4,1,6]");
    CHECK(again.hostfile.ends_with("\nn4\nn4\nn4\nn4\nn1\nn1\nn1\nn6\nn6\n"));
}

TEST_CASE("where LSF names a host file, it is that of the launch") {
    auto environment = script();
    environment["LSB_DJOB_HOSTFILE"] = "/lsf/hosts"; // LSB_MCPU_HOSTS comes before it
    environment["LSB_DJOB_NUMPROC"] = "13";
    const auto started = *lsf_command_on({{"mpirun", "x"}, in(environment), true}, first, "/f", "/rsh");
    CHECK(value(started, "LSB_DJOB_HOSTFILE") == "/f");
    CHECK(value(started, "LSB_DJOB_NUMPROC") == "10");
    environment.erase("LSB_MCPU_HOSTS");
    environment["LSB_DJOB_HOSTFILE"] = "/nonexistent/hosts";
    CHECK_FALSE(lsf_command_on({{"mpirun", "x"}, in(environment), true}, first, "/f", "/rsh"));
}

TEST_CASE("an agent and hosts that the user chose stay") {
    auto environment = script();
    environment["OMPI_MCA_plm_rsh_agent"] = "ssh";
    environment["OMPI_MCA_orte_default_hostfile"] = "/mine";
    const auto started = *lsf_command_on({{"mpirun", "x"}, in(environment), true}, first, "/f", "/rsh");
    CHECK(value(started, "OMPI_MCA_plm_rsh_agent") == "(as it was)");
    CHECK(value(started, "OMPI_MCA_orte_default_hostfile") == "(as it was)");
}

TEST_CASE("what cannot start a launch under LSF is refused") {
    const auto refused = [](Words words) {
        return check_lsf_command({std::move(words), in(script()), true}, first).error().text;
    };
    CHECK(refused({"srun", "train"}) ==
          "srun is Slurm's and starts nothing under LSF: railrun mpirun PROGRAM");
    CHECK_THAT(refused({"/usr/bin/srun", "train"}), Catch::Contains("Slurm's"));
    CHECK_THAT(refused({"mpirun", "--hostfile", "f"}), Catch::Contains("railrun chooses the hosts"));
    CHECK(check_lsf_command({{"./mysrun"}, in(script()), true}, first));
    CHECK(check_lsf_command({{"mpirun", "-np", "3", "train"}, in(script()), true}, first));
}

TEST_CASE("a check runs on each host by itself, and is told who takes part") {
    const auto all = lsf_on_each({"/opt/rail check", "preflight"}, {"n2", "n4"}, "/rsh");
    REQUIRE(all.size() == 2);
    CHECK(all[1].hosts == Hosts{"n4"});
    CHECK(all[1].started.words ==
          Words{"/rsh", "n4", "'/opt/rail check'", "'preflight'", "'--hosts=n[2,4]'", "--rank=1"});
    CHECK(value(all[1].started, "RAIL_BIND") == "off");
    CHECK(lsf_on_each({"a'b"}, {"n2"}, "/rsh")[0].started.words[2] == "'a'\\''b'");
}

TEST_CASE("railrun finds out whose job it is part of") {
    CHECK_THAT(own_job(in({})).error().text,
               Catch::Contains("SLURM_JOB_ID is not set") && Catch::Contains("LSB_JOBID"));
    const auto job = own_job(in(script()));
    REQUIRE(job);
    CHECK(to_string(*(*job)->id()) == "12");
    CHECK((*job)->starts_before() == 2U);
    CHECK(*(*job)->hosts() == Hosts{"n4", "n2", "n6", "n1"});
    CHECK_FALSE((*job)->may_requeue());
    CHECK_FALSE((*job)->can_warm());
    auto rank = script();
    rank["OMPI_COMM_WORLD_RANK"] = "0";
    CHECK_THAT(own_job(in(rank)).error().text, Catch::Contains("a rank of a launch already"));
    auto torn = script();
    torn["LSB_MCPU_HOSTS"] = "n4 4 n2";
    CHECK_FALSE((*own_job(in(torn)))->hosts());
    auto wrong = script();
    wrong["RAIL_RESTART_COUNT"] = "many";
    CHECK_FALSE((*own_job(in(wrong)))->starts_before());
}

TEST_CASE("what LSF sends to all processes of a job is not passed on once more") {
    const auto job = *own_job(in(script()));
    signalfd_siginfo what{};
    what.ssi_code = SI_USER;
    what.ssi_uid = ::getuid();
    what.ssi_pid = 0; // from outside of this container
    CHECK(job->reached_launcher(what));
    what.ssi_pid = static_cast<std::uint32_t>(::getpid()); // one of the job's own group
    CHECK_FALSE(job->reached_launcher(what));
    what.ssi_uid = ::getuid() + 1; // a daemon's
    CHECK(job->reached_launcher(what));
    what.ssi_code = SI_KERNEL; // a terminal's: course.cpp knows of it
    CHECK_FALSE(job->reached_launcher(what));
}
