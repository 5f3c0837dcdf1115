// What librailucx.so keeps and tells: its lines are read by the agent's own reader.
#include "restart/wire/job_lines.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "restart/ucx/ucx_ranks.h"
#include "restart/ucx/ucx_view.h"
}

using restart::JobUcx;

namespace {

// The words of UCX 1.13.1's ucp_ep_print_info.
std::string lanes(const std::vector<std::string>& ways) {
    std::string text = "#\n# UCP endpoint \n#\n#               peer: <no debug data>\n";
    for (std::size_t i = 0; i < ways.size(); ++i)
        text += "#                 lane[" + std::to_string(i) + "]:  2:" + ways[i] +
                " md[2]           -> md[2]/tcp/sysdev[255] rma_bw#0 am am_bw#0 wireup\n";
    return text + "#\n#                tag_send: 0..<egr/short>..8184..<egr/bcopy>..(inf)\n";
}

// A job's process that has seen nothing yet.
struct Process {
    Process() {
        ry_ucx_view_prepare();
        ry_ucx_view_child();
        ::setenv("SLURM_JOB_ID", "12", 1);
        ::setenv("SLURM_RESTART_COUNT", "2", 1);
        ::setenv("SLURM_PROCID", "7", 1);
    }
    ~Process() {
        for (const auto* name :
             {"SLURM_JOB_ID", "SLURM_RESTART_COUNT", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "UCX_TLS"})
            ::unsetenv(name);
    }
    void make(const std::vector<std::string>& ways, const char* peer = "") {
        ry_ucx_made(&worker, endpoint(made++), lanes(ways).c_str(), peer);
    }
    const void* endpoint(std::size_t i) const { return base + 64 * i; }
    JobUcx said() {
        std::array<char, 8192> line{};
        unsigned long changes = 0;
        ry_ucx_remember();
        const auto length = ry_ucx_line(line.data(), line.size(), &changes);
        REQUIRE(length == std::string_view(line.data()).size());
        const auto request = restart::read_job_request(line.data());
        INFO(line.data());
        REQUIRE(request);
        REQUIRE(std::holds_alternative<JobUcx>(*request));
        return std::get<JobUcx>(*request);
    }
    std::vector<std::string> paths() {
        std::vector<std::string> all;
        for (const auto& path : said().paths)
            all.push_back(std::to_string(path.endpoints) + " " + path.over);
        std::sort(all.begin(), all.end());
        return all;
    }
    int worker = 0;
    std::size_t made = 0;
    const char* base = reinterpret_cast<const char*>(0x1000); // of addresses that nobody reads
};

using Paths = std::vector<std::string>;

} // namespace

TEST_CASE("endpoints are counted by their ways, each lane once and without the number of its path") {
    Process process;
    process.make({"tcp/eth0.0", "tcp/eth0.1"});
    process.make({"tcp/eth0.0"});
    process.make({"posix/memory.0", "cma/memory.0", "tcp/lo.0"});
    process.make({"rc_mlx5/mlx5_0:1.0", "rc_mlx5/mlx5_1:1.0"});
    process.make({"tcp/eth0.100.0"}); // a VLAN
    process.make({});
    CHECK(process.paths() == Paths{"1 cma/memory+posix/memory+tcp/lo", "1 rc_mlx5/mlx5_0:1+rc_mlx5/mlx5_1:1",
                                   "1 tcp/eth0.100", "1 unknown", "2 tcp/eth0"});
    CHECK(ry_ucx_uses_tcp() == 1);
    const auto said = process.said();
    CHECK(said.job == base::JobId(12));
    CHECK(said.epoch == 2);
    CHECK(said.rank == 7);
}

TEST_CASE("an endpoint that is closed counts no more, nor those of a worker that is gone") {
    Process process;
    for (int i = 0; i < 3000; ++i)
        process.make({i % 2 == 0 ? "tcp/eth0.0" : "rc_mlx5/mlx5_0:1.0"});
    for (std::size_t i = 0; i < 1000; ++i)
        ry_ucx_closed(process.endpoint(i));
    ry_ucx_closed(process.endpoint(0));       // twice
    ry_ucx_closed(process.endpoint(100'000)); // never made
    CHECK(process.paths() == Paths{"1000 rc_mlx5/mlx5_0:1", "1000 tcp/eth0"});
    const int other = 0;
    ry_ucx_worker_gone(&other);
    CHECK(process.paths().size() == 2);
    ry_ucx_made(&other, process.endpoint(0), lanes({"self/memory.0"}).c_str(), "");
    ry_ucx_worker_gone(&process.worker);
    CHECK(process.paths() == Paths{"1 self/memory"});
    CHECK(ry_ucx_uses_tcp() == 0);
}

TEST_CASE("an endpoint at the address of one that ended by itself takes its place") {
    Process process;
    process.make({"tcp/eth0.0"});
    ry_ucx_made(&process.worker, process.endpoint(0), lanes({"rc_mlx5/mlx5_0:1.0"}).c_str(), "");
    CHECK(process.paths() == Paths{"1 rc_mlx5/mlx5_0:1"});
}

TEST_CASE("a failure names its peer and the ways there") {
    Process process;
    process.make({"rc_mlx5/mlx5_0:1.0"}, "10.0.0.7");
    ry_ucx_failed(process.endpoint(0), 1, "Endpoint timeout");
    CHECK(process.said().last == "peer 10.0.0.7 over rc_mlx5/mlx5_0:1: Endpoint timeout");
    ry_ucx_failed(process.endpoint(5), 0, "Connection reset by remote peer");
    CHECK(process.said().last == "peer (not known) over unknown: Connection reset by remote peer");
    ry_ucx_refused("10.0.0.8", "Destination is unreachable");
    const auto said = process.said();
    CHECK(said.last == "no endpoint to peer 10.0.0.8: Destination is unreachable");
    CHECK(std::array{said.failed, said.timeouts, said.refused} == std::array<std::uint64_t, 3>{2, 1, 1});
}

TEST_CASE("what comes from outside never breaks the line") {
    Process process;
    ::setenv("UCX_TLS", "tcp\",\"x\":\"\n\\\xff", 1);
    process.make({std::string(300, 'x') + "/y.0", "tcp/\"\x01.0", "noslash.0", "/.0", "tcp/eth0"},
                 "10.0.0.7\"");
    process.make({"lane[lane[:::::", "9:"});
    ry_ucx_failed(process.endpoint(0), 0, std::string(1000, '"').c_str());
    ry_ucx_unseen("\"\"\"");
    ry_ucx_resent(5, "\"");
    const auto said = process.said();
    CHECK(said.tls == "tcp?,?x?:????");
    CHECK(said.unseen == "???");
    CHECK(said.resent_to == "?");
    CHECK(said.last.size() == 199);
}

TEST_CASE("more ways than an agent takes are counted together") {
    Process process;
    for (int i = 0; i < 40; ++i)
        process.make({"tcp/eth" + std::to_string(i) + ".0"});
    const auto said = process.said();
    CHECK(said.paths.size() == 16);
    std::uint64_t sum = 0;
    for (const auto& path : said.paths)
        sum += path.endpoints;
    CHECK(sum == 40);
}

TEST_CASE("the launcher's rank comes before Slurm's, and without a job there is no line") {
    Process process;
    ::setenv("OMPI_COMM_WORLD_RANK", "31", 1);
    CHECK(process.said().rank == 31);
    ::setenv("OMPI_COMM_WORLD_RANK", "31x", 1);
    CHECK(process.said().rank == 7);
    std::array<char, 8192> line{};
    unsigned long changes = 0;
    std::array<char, 64> small{};
    CHECK(ry_ucx_line(small.data(), small.size(), &changes) == 0);
    ::setenv("SLURM_JOB_ID", "", 1);
    ry_ucx_remember();
    CHECK(ry_ucx_line(line.data(), line.size(), &changes) == 0);
}

TEST_CASE("ucx: the rank behind an address is the one that published it to this thread, or not known") {
    const std::array<char, 40> five{"\x20"
                                    "five5555 and devices"},
        six{"\x20"
            "six66666 and devices"};
    const auto publish = [&](const char* world, std::uint32_t rank, const char* key, const auto& address) {
        ry_ucx_published(world, rank, key, address.data(), address.size());
    };
    constexpr const char* key = "pml.ucx.4.1";
    ::setenv("PMIX_NAMESPACE", "world1", 1);
    CHECK(ry_ucx_rank_of(five.data()) == -1);
    publish("world1", 5, key, five);
    CHECK(ry_ucx_rank_of(five.data()) == 5);
    CHECK(ry_ucx_rank_of(six.data()) == -1);
    CHECK(ry_ucx_rank_of(nullptr) == -1);
    // Other keys are asked for in between.
    publish("world1", 6, "pmix.hname", six);
    publish("world1", 6, nullptr, six);
    CHECK(ry_ucx_rank_of(five.data()) == 5);
    publish("world1", 6, key, six);
    CHECK(ry_ucx_rank_of(six.data()) == 6);
    CHECK(ry_ucx_rank_of(five.data()) == -1); // what was asked last counts
    // Another thread has asked for nothing.
    long long elsewhere = 0;
    std::thread([&] { elsewhere = ry_ucx_rank_of(six.data()); }).join();
    CHECK(elsewhere == -1);
    // Of another world, of no rank, too short, or of no bytes: nothing is known, of the one before either.
    const auto forgets = [&] {
        const bool none = ry_ucx_rank_of(six.data()) == -1;
        publish("world1", 6, key, six);
        return none;
    };
    publish("world2", 6, key, six);
    CHECK(forgets());
    publish(nullptr, 6, key, six);
    CHECK(forgets());
    publish("world1", 0xfffffffe, key, six);
    CHECK(forgets());
    ry_ucx_published("world1", 6, key, six.data(), 8);
    CHECK(forgets());
    ry_ucx_published("world1", 6, key, nullptr, 0);
    CHECK(forgets());
    ::unsetenv("PMIX_NAMESPACE");
    publish("world1", 6, key, six);
    CHECK(ry_ucx_rank_of(six.data()) == -1);
}

TEST_CASE("ucx: a way names the peer of one of its endpoints, as long as it is there") {
    Process process;
    process.make({"tcp/eth0.0"});
    CHECK(process.said().paths[0].to.empty());
    process.make({"tcp/eth0.0"}, "rank 5");
    process.make({"tcp/eth0.0"}, "rank 6");
    process.make({"rc_mlx5/mlx5_0:1.0"}, "10.0.0.7");
    auto paths = process.said().paths;
    REQUIRE(paths.size() == 2);
    CHECK(paths[0] == JobUcx::Path{"tcp/eth0", 3, "rank 5"});
    CHECK(paths[1] == JobUcx::Path{"rc_mlx5/mlx5_0:1", 1, "10.0.0.7"});
    ry_ucx_closed(process.endpoint(1));
    CHECK(process.said().paths[0].to.empty()); // rather none than one that is gone
    process.make({"tcp/eth0.0"}, "rank 7");
    CHECK(process.said().paths[0] == JobUcx::Path{"tcp/eth0", 3, "rank 7"});
}
