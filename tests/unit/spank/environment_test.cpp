#include "spank/environment.hpp"

#include "machines.hpp"
#include "topo/export/nccl.hpp"

#include <catch2/catch.hpp>

#include <map>

namespace {

using spank::BindMode;
using Values = std::map<std::string, std::string>;

constexpr BindMode near_gpu{BindMode::What::near, false}, own_gpu{BindMode::What::gpu, false};

spank::Lookup lookup(const Values& values) {
    return [values](const std::string& name) -> std::optional<std::string> {
        const auto found = values.find(name);
        if (found == values.end()) return {};
        return found->second;
    };
}

// What a rank of 8 (or another number) on a DGX H100 finds in its environment besides `before`.
Values exported(const Values& before, std::uint32_t local, std::uint32_t tasks = 8, BindMode mode = near_gpu,
                const topo::Fabric& fabric = fabric_of(dgx_h100()), const std::string& topo = "/run/t.xml") {
    const auto& host = fabric.hosts.front();
    const auto visible = spank::visible_gpus(host.gpus.size(), lookup(before));
    spank::Seat seat;
    seat.local = local;
    seat.tasks = tasks;
    seat.gpus = visible.gpus;
    const auto binding =
        spank::binding_of(host, topo::exports::working_hcas(fabric, host), numa_of(dgx_h100()), seat);
    const auto list = spank::environment(fabric, host, binding, visible, mode, topo, lookup(before));
    if (!list) return {{"error", list.error().text}};
    Values values;
    for (const auto& [name, value] : *list)
        values[name] = value;
    return values;
}

const std::string all_ports = "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1";

} // namespace

TEST_CASE("environment: a rank gets its HCA, and NCCL all rails") {
    const auto values = exported({}, 5);
    CHECK(values.at("UCX_NET_DEVICES") == "mlx5_5:1");
    CHECK(values.at("NCCL_IB_HCA") == "=" + all_ports);
    CHECK(values.at("NCCL_CROSS_NIC") == "0");
    CHECK(values.at("NCCL_TOPO_FILE") == "/run/t.xml");
    CHECK(values.at("RAIL_EXPORTS") == "UCX_NET_DEVICES=mlx5_5:1 NCCL_IB_HCA==" + all_ports +
                                           " NCCL_CROSS_NIC=0 NCCL_TOPO_FILE=/run/t.xml");
    CHECK(values.count("CUDA_VISIBLE_DEVICES") == 0);
}

TEST_CASE("environment: torchrun's single rank names all rails in their order") {
    CHECK(exported({}, 0, 1).at("UCX_NET_DEVICES") == all_ports);
}

TEST_CASE("environment: what the user has set stands") {
    const Values mine = {{"UCX_NET_DEVICES", "mlx5_9:1"}, {"NCCL_IB_HCA", ""}, {"NCCL_CROSS_NIC", "1"}};
    const auto values = exported(mine, 5);
    for (const auto& [name, value] : mine)
        CHECK(values.count(name) == 0);
    CHECK(values.at("NCCL_TOPO_FILE") == "/run/t.xml");
    CHECK(values.at("RAIL_EXPORTS") == "NCCL_TOPO_FILE=/run/t.xml");
}

TEST_CASE("environment: what a script was given gives way, and what it changed does not") {
    const auto script = exported({}, 0, 1);
    const auto names = spank::claimed("RAIL_EXPORTS", lookup(script));
    CHECK(names == std::vector<std::string>{"UCX_NET_DEVICES", "NCCL_IB_HCA", "NCCL_CROSS_NIC",
                                            "NCCL_TOPO_FILE", "RAIL_EXPORTS"});
    auto changed = script;
    changed["NCCL_CROSS_NIC"] = "2";
    changed.erase("NCCL_TOPO_FILE");
    CHECK(spank::claimed("RAIL_EXPORTS", lookup(changed)) ==
          std::vector<std::string>{"UCX_NET_DEVICES", "NCCL_IB_HCA", "RAIL_EXPORTS"});
    CHECK(spank::claimed("RAIL_EXPORTS", lookup({})).empty());
    CHECK(spank::claimed("RAIL_EXPORTS", lookup({{"RAIL_EXPORTS", "  x =y"}, {"", "y"}})) ==
          std::vector<std::string>{"RAIL_EXPORTS"});
}

TEST_CASE("environment: UCX is kept from HCAs by UCX_TLS only where that leaves InfiniBand out") {
    for (const char* without : {"tcp", "tcp,self,sm", "cuda,sm", "racy"})
        CHECK(exported({{"UCX_TLS", without}}, 5).count("UCX_NET_DEVICES") == 0);
    for (const char* with : {"all", "rc", "rc_x,self", "self,sm,dc_mlx5", "ib", "^tcp", "\\ud,self"})
        CHECK(exported({{"UCX_TLS", with}}, 5).count("UCX_NET_DEVICES") == 1);
}

TEST_CASE("environment: a rank sees its own GPU only when asked, by the names its program has") {
    CHECK(exported({}, 5, 8, own_gpu).at("CUDA_VISIBLE_DEVICES") == "5");
    CHECK(exported({}, 5, 8, own_gpu).at("CUDA_DEVICE_ORDER") == "PCI_BUS_ID");
    CHECK(exported({}, 1, 4, own_gpu).at("CUDA_VISIBLE_DEVICES") == "2,3");
    CHECK(exported({}, 0, 1, own_gpu).count("CUDA_VISIBLE_DEVICES") == 0);
    const Values hidden = {{"CUDA_VISIBLE_DEVICES", "0,1"}, {"SLURM_STEP_GPUS", "4,6"}};
    CHECK(exported(hidden, 1, 2, own_gpu).at("CUDA_VISIBLE_DEVICES") == "1");
    CHECK(exported(hidden, 1, 2, own_gpu).at("UCX_NET_DEVICES") == "mlx5_6:1");
    const Values amd = {{"ROCR_VISIBLE_DEVICES", "0,1,2,3,4,5,6,7"}, {"SLURM_STEP_GPUS", "0,1,2,3,4,5,6,7"}};
    CHECK(exported(amd, 2, 8, own_gpu).at("ROCR_VISIBLE_DEVICES") == "2");
    CHECK(exported(amd, 2, 8, own_gpu).count("CUDA_DEVICE_ORDER") == 0);
}

TEST_CASE("environment: GPUs that the user chose stay, and count") {
    const auto values = exported({{"CUDA_VISIBLE_DEVICES", "6,7"}}, 1, 2, own_gpu);
    CHECK(values.count("CUDA_VISIBLE_DEVICES") == 0);
    CHECK(values.at("UCX_NET_DEVICES") == "mlx5_7:1");
    CHECK(values.at("NCCL_IB_HCA") == "=mlx5_6:1,mlx5_7:1");
}

TEST_CASE("environment: without facts nothing is said") {
    auto fabric = fabric_of(dgx_h100());
    for (auto& link : fabric.links)
        link.state = topo::LinkState::down;
    CHECK(exported({}, 0, 8, near_gpu, fabric, "").empty());
}

TEST_CASE("environment: a device that no list can name is an error") {
    auto fabric = fabric_of(dgx_h100());
    fabric.hosts.front().hcas[3].device = "two words";
    CHECK(exported({}, 0, 8, near_gpu, fabric).at("error").find("\"two words\"") != std::string::npos);
}

TEST_CASE("environment: a rank in words") {
    const auto fabric = fabric_of(dgx_h100());
    const auto& host = fabric.hosts.front();
    spank::Binding binding;
    binding.gpus = {3};
    binding.hcas = {3};
    binding.numa = 0;
    CHECK(spank::describe(fabric, host, binding, 11, {0, 1, 2, 5}).value() ==
          "rail-bind: rank 11 host n001 gpu 3 hca mlx5_3:1 numa 0 cpus 0-2,5");
    binding = {};
    binding.why_not = "none of its CPUs is in NUMA node 1";
    CHECK(spank::describe(fabric, host, binding, 0, {}).value() ==
          "rail-bind: rank 0 host n001 gpu - hca - numa - cpus - (none of its CPUs is in NUMA node 1)");
}

TEST_CASE("environment: names that nccl.conf sets") {
    CHECK(spank::names_in_nccl_conf("# a comment\nNCCL_IB_HCA=mlx5_0\n  NCCL_DEBUG = WARN\nnonsense\n=x\n") ==
          std::vector<std::string>{"NCCL_IB_HCA", "NCCL_DEBUG"});
    CHECK(spank::names_in_nccl_conf("").empty());
}
