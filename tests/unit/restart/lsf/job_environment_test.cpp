#include "restart/lsf/job_environment.hpp"

#include "topo/fabric_json.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>

using namespace restart::lsf;

namespace {

using Variables = std::map<std::string, std::string>;

Lookup in(const Variables& variables) {
    return [variables](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return {};
        return found->second;
    };
}

Variables after(Variables variables, const Changes& changes) {
    for (const auto& [name, value] : changes)
        if (value)
            variables[name] = *value;
        else
            variables.erase(name);
    return variables;
}

const Allocation four{{"n4", "n2", "n6", "n1"}, {4, 4, 4, 2}};

} // namespace

TEST_CASE("the line's flags are the job's variables") {
    sched::Hints hints;
    REQUIRE(sched::set_hint(hints, "rail-span", "unit@30m"));
    REQUIRE(sched::set_hint(hints, "ckpt-dir", "/a b\"c"));
    REQUIRE(sched::set_hint(hints, "restart", "auto"));
    const auto now =
        after({{"RAIL_SPAN", "pod"}, {"HOME", "/h"}}, job_variables(hints, base::JobId(12U, 3), 2, "/s"));
    CHECK(now == Variables{{"RAIL_SPAN", "unit@30m"},
                           {"RAIL_CKPT_DIR", "/a b\"c"},
                           {"RAIL_RESTART", "auto"},
                           {"RAIL_JOB_ID", "12[3]"},
                           {"RAIL_RESTART_COUNT", "2"},
                           {"RAIL_CKPT_SOCKET", "/s"},
                           {"HOME", "/h"}});
}

TEST_CASE("without a fabric hosts are in LSF's order, the last of them spares") {
    sched::Hints hints;
    std::string why;
    CHECK(lists_of(four, hints, "", why) == spank::RankLists{four.hosts, {}});
    CHECK(why.empty());
    hints.spares = 1;
    const auto lists = lists_of(four, hints, "/nonexistent/fabric.json", why);
    CHECK(lists == spank::RankLists{{"n4", "n2", "n6"}, {"n1"}});
    CHECK_FALSE(why.empty());
    CHECK(hostfile_of(lists, four) == "# Made by Railyard: hosts in the order of ranks, once for each task.\n"
                                      "n4\nn4\nn4\nn4\nn2\nn2\nn2\nn2\nn6\nn6\nn6\nn6\n");
}

TEST_CASE("launchers are told the hosts and the way to them") {
    const spank::RankLists lists{{"n4", "n2"}, {"n6"}};
    const Variables told = {{"OMPI_MCA_orte_default_hostfile", "/tmp/hosts"},
                            {"OMPI_MCA_rmaps_base_mapping_policy", "seq"},
                            {"OMPI_MCA_plm_rsh_agent", "/bin/rsh"},
                            {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"},
                            {"PRTE_MCA_plm_ssh_agent", "/bin/rsh"},
                            {"PRTE_MCA_plm_ssh_no_tree_spawn", "1"},
                            {"PRTE_MCA_prte_default_hostfile", "/tmp/hosts"},
                            {"HYDRA_LAUNCHER", "rsh"},
                            {"HYDRA_LAUNCHER_EXEC", "/bin/rsh"},
                            {"HYDRA_HOST_FILE", "/tmp/hosts"},
                            {"I_MPI_HYDRA_BOOTSTRAP", "rsh"},
                            {"I_MPI_HYDRA_BOOTSTRAP_EXEC", "/bin/rsh"},
                            {"I_MPI_HYDRA_HOST_FILE", "/tmp/hosts"}};
    const auto now = after({}, order_variables(lists, "/tmp/hosts", "/bin/rsh", in({})));
    auto wanted = told;
    wanted.insert({{"RAIL_NODELIST", "n[4,2]"},
                   {"RAIL_SPARE_NODELIST", "n6"},
                   {"RAIL_NUM_NODES", "2"},
                   {"RAIL_HOSTFILE", "/tmp/hosts"},
                   {"RAIL_LAUNCHERS", now.at("RAIL_LAUNCHERS")}});
    CHECK(now == wanted);
    const auto claimed = spank::claimed("RAIL_LAUNCHERS", in(now));
    for (const auto& [name, value] : told)
        CHECK(std::count(claimed.begin(), claimed.end(), name) == 1);
    CHECK(claimed.size() == told.size() + 1); // and itself
    // An outer job's are replaced, its spares forgotten; the user's stay.
    const auto inner = after(now, order_variables({{"n9"}, {}}, "/tmp/9", "/bin/rsh", in(now)));
    CHECK(inner.at("OMPI_MCA_orte_default_hostfile") == "/tmp/9");
    CHECK_FALSE(inner.contains("RAIL_SPARE_NODELIST"));
    const Variables users{{"OMPI_MCA_plm_rsh_agent", "ssh"}, {"OMPI_MCA_rmaps", "ppr"}};
    const auto kept = after(users, order_variables(lists, "/tmp/hosts", "/bin/rsh", in(users)));
    CHECK(kept.at("OMPI_MCA_plm_rsh_agent") == "ssh");
    CHECK_FALSE(kept.contains("OMPI_MCA_orte_default_hostfile"));
    CHECK_FALSE(kept.contains("OMPI_MCA_plm_rsh_no_tree_spawn"));
    CHECK(kept.at("RAIL_LAUNCHERS").find("OMPI_") == std::string::npos);
}

TEST_CASE("a way or hosts that the user chose for a launcher stay, whatever the names") {
    const spank::RankLists lists{{"n4", "n2"}, {}};
    const auto beside = [&](const Variables& users) {
        return after(users, order_variables(lists, "/tmp/hosts", "/bin/rsh", in(users)));
    };
    for (const char* name : {"HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP"}) {
        const auto now = beside({{name, "ssh"}});
        CHECK(now.at(name) == "ssh");
        CHECK(now.contains("HYDRA_LAUNCHER") + now.contains("HYDRA_LAUNCHER_EXEC") <= 1);
        CHECK(now.at("HYDRA_HOST_FILE") == "/tmp/hosts");
    }
    const auto intel = beside({{"I_MPI_HYDRA_BOOTSTRAP", "lsf"}, {"I_MPI_HYDRA_HOSTS_GROUP", "n[1-2]"}});
    CHECK(intel.at("I_MPI_HYDRA_BOOTSTRAP") == "lsf");
    CHECK_FALSE(intel.contains("I_MPI_HYDRA_BOOTSTRAP_EXEC"));
    CHECK_FALSE(intel.contains("I_MPI_HYDRA_HOST_FILE"));
    const auto five = beside({{"PRTE_MCA_prte_default_hostfile", "/mine"}});
    CHECK(five.at("PRTE_MCA_prte_default_hostfile") == "/mine");
    CHECK(five.at("PRTE_MCA_plm_ssh_agent") == "/bin/rsh");
    // Without a host file of ours launchers are told the way alone.
    const auto without = after({}, order_variables(lists, "", "/bin/rsh", in({})));
    CHECK(without.at("HYDRA_LAUNCHER_EXEC") == "/bin/rsh");
    CHECK_FALSE(without.contains("HYDRA_HOST_FILE"));
    CHECK_FALSE(without.contains("PRTE_MCA_prte_default_hostfile"));
}

TEST_CASE("another host's HCAs are not this one's") {
    std::string why;
    const Variables inherited{{"NCCL_IB_HCA", "=mlx5_0:1"},
                              {"NCCL_CROSS_NIC", "2"},
                              {"UCX_TLS", "tcp"},
                              {"RAIL_EXPORTS", "NCCL_IB_HCA==mlx5_0:1 NCCL_CROSS_NIC=0"},
                              {"RAIL_BIND", "off"}};
    const auto now = after(inherited, host_variables("n1", "", false, in(inherited), why));
    CHECK(why.empty());
    CHECK(now == Variables{{"NCCL_CROSS_NIC", "2"}, {"UCX_TLS", "tcp"}, {"RAIL_BIND", "off"}});
    static_cast<void>(host_variables("n1", "", false, in({{"RAIL_BIND", "x"}}), why));
    CHECK(why.find("--rail-bind=x") != std::string::npos);
}

TEST_CASE("librailucx is preloaded where it was asked for and is there") {
    const test::Folder folder;
    const auto library = (folder.path / "librailucx.so").string();
    CHECK(ucx_variables(library, in({{"RAIL_UCX", "watch"}})).empty());
    std::filesystem::copy_file("/proc/self/exe", library);
    CHECK(ucx_variables(library, in({})).empty());
    CHECK(ucx_variables(library, in({{"RAIL_UCX", "off"}})).empty());
    CHECK(ucx_variables(library, in({{"RAIL_UCX", "watch"}, {"LD_PRELOAD", "/x.so"}})) ==
          Changes{{"LD_PRELOAD", library + ":/x.so"}});
}
