#include "spank/binding.hpp"

#include "machines.hpp"
#include "topo/export/nccl.hpp"

#include <catch2/catch.hpp>

#include <map>

namespace {

using spank::Binding;
using spank::BindMode;
using spank::Seat;
using Numbers = std::vector<int>;

struct Case {
    explicit Case(const Machine& of)
        : fabric(fabric_of(of)), numa(numa_of(of)),
          hcas(topo::exports::working_hcas(fabric, fabric.hosts.front())) {
        for (const auto& node : numa)
            for (const int cpu : node.cpus)
                cpus.push_back(cpu);
        for (std::size_t g = 0; g < of.gpu_numa.size(); ++g)
            gpus.push_back(static_cast<int>(g));
    }
    Seat seat(std::uint32_t local, std::uint32_t tasks) const {
        Seat one;
        one.local = local;
        one.tasks = tasks;
        one.gpus = gpus;
        one.cpus = cpus;
        return one;
    }
    Binding of(const Seat& seat) const { return binding_of(fabric.hosts.front(), hcas, numa, seat); }
    Binding of(std::uint32_t local, std::uint32_t tasks) const { return of(seat(local, tasks)); }

    topo::Fabric fabric;
    std::vector<topo::NumaNode> numa;
    Numbers hcas, cpus, gpus;
};

std::string cpus(const Binding& binding) {
    return spank::number_list(binding.cpus);
}

spank::Lookup variables(std::map<std::string, std::string> values) {
    return [values](const std::string& name) -> std::optional<std::string> {
        const auto found = values.find(name);
        if (found == values.end()) return {};
        return found->second;
    };
}

Numbers seen(std::map<std::string, std::string> values, std::size_t gpus = 8) {
    const auto visible = spank::visible_gpus(gpus, variables(std::move(values)));
    if (!visible.gpus) return {-1};
    return *visible.gpus;
}

} // namespace

TEST_CASE("binding: a rank for each GPU gets its HCA and its socket's CPUs") {
    const Case dgx(dgx_h100());
    for (std::uint32_t local = 0; local < 8; ++local) {
        const auto binding = dgx.of(local, 8);
        const int index = static_cast<int>(local);
        INFO(local);
        CHECK(binding.gpus == Numbers{index});
        CHECK(binding.hcas == Numbers{index});
        CHECK(binding.numa == index / 4);
        CHECK(cpus(binding) == (index < 4 ? "0-55" : "56-111"));
        CHECK(binding.step_hcas == Numbers{0, 1, 2, 3, 4, 5, 6, 7}); // no storage
        CHECK(binding.why_not.empty());
    }
}

TEST_CASE("binding: NUMA nodes need not follow the GPUs' order") {
    const Case dgx(dgx_a100());
    CHECK(cpus(dgx.of(0, 8)) == "48-63");
    CHECK(cpus(dgx.of(2, 8)) == "16-31");
    CHECK(cpus(dgx.of(7, 8)) == "80-95");
    const Case gh(gh200_x4());
    CHECK(cpus(gh.of(2, 4)) == "144-215");
    CHECK(gh.of(2, 4).hcas == Numbers{2});
}

TEST_CASE("binding: one rank for all GPUs names all rails and keeps its CPUs") {
    const Case dgx(dgx_h100());
    const auto binding = dgx.of(0, 1);
    CHECK(binding.gpus == Numbers{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(binding.hcas == Numbers{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(binding.numa == topo::none);
    CHECK(binding.cpus.empty());
    auto half = dgx.seat(0, 1); // all in one socket: its processes are more than one all the same
    half.gpus = Numbers{0, 1, 2, 3};
    CHECK(dgx.of(half).cpus.empty());
    CHECK(dgx.of(half).hcas == Numbers{0, 1, 2, 3});
}

TEST_CASE("binding: several ranks a GPU take turns") {
    const Case dgx(dgx_h100());
    CHECK(dgx.of(9, 16).gpus == Numbers{1});
    CHECK(dgx.of(15, 16).hcas == Numbers{7});
    CHECK(cpus(dgx.of(12, 16)) == "56-111");
    CHECK(dgx.of(10, 11).gpus == Numbers{2}); // and where they do not divide
}

TEST_CASE("binding: fewer ranks than GPUs share them out") {
    const Case dgx(dgx_h100());
    CHECK(dgx.of(1, 2).gpus == Numbers{4, 5, 6, 7});
    CHECK(dgx.of(1, 2).hcas == Numbers{4, 5, 6, 7});
    CHECK(cpus(dgx.of(1, 2)) == "56-111");
    CHECK(dgx.of(3, 4).gpus == Numbers{6, 7});
    Numbers all;
    for (std::uint32_t local = 0; local < 3; ++local)
        for (const int gpu : dgx.of(local, 3).gpus)
            all.push_back(gpu);
    CHECK(all == Numbers{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(dgx.of(1, 3).numa == topo::none); // GPUs 2, 3, 4 lie in two sockets
    CHECK(dgx.of(1, 3).cpus.empty());
}

TEST_CASE("binding: GPUs without an HCA of their own use the nearest") {
    const Case machine(four_by_two());
    CHECK(machine.of(1, 4).hcas == Numbers{0});
    CHECK(machine.of(3, 4).hcas == Numbers{1});
    CHECK(machine.of(3, 4).step_hcas == Numbers{0, 1});
}

TEST_CASE("binding: where a rail is missing the nearest remaining HCA stands in") {
    Case dgx(dgx_h100());
    std::erase(dgx.hcas, 5);
    CHECK(dgx.of(5, 8).hcas == Numbers{4}); // its neighbour in the same socket, not rail 3
    CHECK(dgx.of(5, 8).gpus == Numbers{5});
    CHECK(dgx.of(5, 8).step_hcas == Numbers{0, 1, 2, 3, 4, 6, 7});
    dgx.hcas = {0};
    CHECK(dgx.of(7, 8).hcas == Numbers{0}); // in the other socket
    dgx.hcas = {};
    CHECK(dgx.of(7, 8).hcas.empty());
    CHECK(cpus(dgx.of(7, 8)) == "56-111"); // its GPU is known still
}

TEST_CASE("binding: a link that is down takes its HCA away") {
    auto fabric = fabric_of(dgx_h100());
    fabric.links[2].state = topo::LinkState::down;
    CHECK(topo::exports::working_hcas(fabric, fabric.hosts.front()) == Numbers{0, 1, 3, 4, 5, 6, 7});
}

TEST_CASE("binding: jobs that share a host keep to their own GPUs") {
    const Case dgx(dgx_h100());
    auto seat = dgx.seat(1, 2);
    seat.gpus = Numbers{2, 6};
    CHECK(dgx.of(seat).gpus == Numbers{6});
    CHECK(dgx.of(seat).hcas == Numbers{6});
    CHECK(dgx.of(seat).step_hcas == Numbers{2, 6});
    seat.cpus = {0, 1, 2, 3};
    CHECK(dgx.of(seat).cpus.empty());
    CHECK(dgx.of(seat).why_not == "none of its CPUs is in NUMA node 1");
    seat.local = 0;
    CHECK(cpus(dgx.of(seat)) == "0-3");
}

TEST_CASE("binding: GPUs that Slurm bound to the task are all its own") {
    const Case dgx(dgx_h100());
    auto seat = dgx.seat(1, 2);
    seat.gpus = Numbers{2, 3};
    seat.gpus_own = true;
    CHECK(dgx.of(seat).gpus == Numbers{2, 3});
    CHECK(dgx.of(seat).hcas == Numbers{2, 3});
    CHECK(dgx.of(seat).step_hcas.size() == 8); // the other tasks' are not known
    CHECK(cpus(dgx.of(seat)) == "0-55");
    CHECK(spank::visible_gpus(
              8, variables({{"CUDA_VISIBLE_DEVICES", "2"}, {"SLURMD_TRES_BIND", "gres:gpu:single:1"}}))
              .own);
    CHECK_FALSE(spank::visible_gpus(8, variables({{"CUDA_VISIBLE_DEVICES", "2"}})).own);
}

TEST_CASE("binding: CPUs that Slurm or the user holds stay") {
    const Case dgx(dgx_h100());
    auto seat = dgx.seat(0, 8);
    seat.cpus_held = "srun's --cpu-bind is cores";
    CHECK(dgx.of(seat).cpus.empty());
    CHECK(dgx.of(seat).why_not == seat.cpus_held);
    CHECK(dgx.of(seat).hcas == Numbers{0});
    seat.cpus_held.clear();
    seat.cpus_wanted = 64;
    CHECK(dgx.of(seat).cpus.empty());
    CHECK(dgx.of(seat).why_not == "only 56 of its 64 CPUs are in NUMA node 0");
}

TEST_CASE("binding: what is not known is left alone") {
    const Case plain(without_gpus());
    auto binding = plain.of(0, 2);
    CHECK(binding.gpus.empty());
    CHECK(binding.cpus.empty());
    CHECK(binding.hcas == Numbers{0, 1}); // these are known, and storage is not among them
    const Case dgx(dgx_h100());
    auto seat = dgx.seat(3, 8);
    seat.gpus.reset();
    CHECK(dgx.of(seat).gpus.empty());
    CHECK(dgx.of(seat).hcas.size() == 8);
    seat.gpus = Numbers{}; // a step without GPUs
    CHECK(dgx.of(seat).cpus.empty());
    seat.gpus = Numbers{9}; // more than the facts know
    CHECK(dgx.of(seat).gpus.empty());
    auto bare = dgx_h100(); // GPUs, but nobody said where anything sits
    for (auto& numa : bare.gpu_numa)
        numa = topo::none;
    for (auto& hca : bare.hcas)
        hca = {topo::none, topo::none};
    const Case unplaced(bare);
    CHECK(unplaced.of(3, 8).gpus == Numbers{3});
    CHECK(unplaced.of(3, 8).hcas.size() == 8);
    CHECK(unplaced.of(3, 8).cpus.empty());
}

TEST_CASE("binding: without hwloc's NUMA nodes CPUs stay") {
    Case dgx(dgx_h100());
    dgx.numa.clear();
    CHECK(dgx.of(0, 8).cpus.empty());
    CHECK(dgx.of(0, 8).why_not == "this machine has no NUMA node 0");
}

TEST_CASE("binding: the GPUs a task sees") {
    CHECK(seen({}, 2) == Numbers{0, 1});
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "3,1"}}) == Numbers{3, 1});
    CHECK(seen({{"ROCR_VISIBLE_DEVICES", "2"}, {"GPU_DEVICE_ORDINAL", "0"}}) == Numbers{2});
    for (const char* without : {"", "-1", "NoDevFiles", "void"})
        CHECK(seen({{"CUDA_VISIBLE_DEVICES", without}}).empty());
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "GPU-12ab"}}) == Numbers{-1}); // a name alone gives no index
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "9"}}) == Numbers{-1});
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "1,x"}}) == Numbers{-1});
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "1,"}}) == Numbers{1});
}

TEST_CASE("binding: Slurm's numbers say which GPUs of the host those are") {
    // Where cgroups hide the others, programs count from 0.
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "0,1"}, {"SLURM_STEP_GPUS", "4,5"}}) == Numbers{4, 5});
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b"}, {"SLURM_STEP_GPUS", "4,5"}}) == Numbers{4, 5});
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "0,1"}, {"SLURM_JOB_GPUS", "2,3"}}) == Numbers{2, 3});
    // --gpu-bind gives each task a part.
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "5"}, {"SLURM_STEP_GPUS", "4,5"}}) == Numbers{5});
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "1"}, {"SLURM_STEP_GPUS", "4,5"}}) == Numbers{5});
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "1"}, {"SLURM_STEP_GPUS", "0,1"}}) == Numbers{1});
    CHECK(seen({{"CUDA_VISIBLE_DEVICES", "1"}, {"SLURM_STEP_GPUS", "1,2"}}) == Numbers{-1}); // 1 or 2
    const auto by_slurm = [](std::map<std::string, std::string> values) {
        return spank::visible_gpus(8, variables(std::move(values))).by_slurm;
    };
    CHECK(by_slurm({{"CUDA_VISIBLE_DEVICES", "0,1"}, {"SLURM_STEP_GPUS", "4,5"}}));
    CHECK_FALSE(by_slurm({{"CUDA_VISIBLE_DEVICES", "5"}, {"SLURM_STEP_GPUS", "4,5"}}));
    CHECK_FALSE(by_slurm({{"CUDA_VISIBLE_DEVICES", "5"}}));
}

TEST_CASE("binding: --rail-bind takes what is to be bound, and whether to print") {
    using What = BindMode::What;
    CHECK(spank::parse_bind("off").value() == BindMode{What::off, false});
    CHECK(spank::parse_bind("near").value() == BindMode{What::near, false});
    CHECK(spank::parse_bind("gpu").value() == BindMode{What::gpu, false});
    CHECK(spank::parse_bind("print").value() == BindMode{What::near, true});
    CHECK(spank::parse_bind("gpu,print").value() == BindMode{What::gpu, true});
    CHECK(spank::parse_bind("print,gpu").value() == BindMode{What::gpu, true});
    for (const char* bad : {"", "gpus", "off,print", "gpu,near", "print,print", "gpu,", ",gpu", "GPU"}) {
        INFO(bad);
        const auto mode = spank::parse_bind(bad);
        REQUIRE_FALSE(mode);
        CHECK(mode.error().text == fmt::format("--rail-bind={}: must be off, near, gpu, print, near,print or "
                                               "gpu,print",
                                               bad));
    }
}

TEST_CASE("binding: lists of numbers are folded") {
    CHECK(spank::number_list({}).empty());
    CHECK(spank::number_list({3}) == "3");
    CHECK(spank::number_list({0, 1, 2, 8, 10, 11}) == "0-2,8,10-11");
}
