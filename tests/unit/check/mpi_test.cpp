// Seats of MPI's processes, and what a search says of its gang. The search itself over MPI runs in
// tests/system/test_railcheck_mpi.py.
#include "check/gang_report.hpp"
#include "check/mpi/collective.hpp"
#include "check/mpi/mpi_library.hpp"
#include "check/mpi/seat.hpp"

#include "base/json.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

using namespace check;
using namespace check::mpi;
using Verdict = restart::CheckVerdict;

namespace {

base::Expected<Local> local_in(const std::map<std::string, std::string>& environment) {
    return local_of([&](const char* name) -> const char* {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
}

} // namespace

TEST_CASE("a process is told its rail by mpirun or srun, mpirun first") {
    const auto srun = local_in({{"SLURM_LOCALID", "3"}, {"SLURM_STEP_TASKS_PER_NODE", "8(x16)"}});
    REQUIRE(srun);
    CHECK((srun->rank == 3 && srun->size == 8));
    const auto mpirun = local_in({{"SLURM_LOCALID", "0"},
                                  {"SLURM_STEP_TASKS_PER_NODE", "1(x16)"},
                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "7"},
                                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}});
    REQUIRE(mpirun);
    CHECK((mpirun->rank == 7 && mpirun->size == 8));
    CHECK(local_in({{"SLURM_LOCALID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "4"}})->size == 4);
    for (const char* each : {"8(x15),4", "2,1", "", "0(x3)", "x"}) {
        INFO(each);
        const auto wrong = local_in({{"SLURM_LOCALID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", each}});
        REQUIRE_FALSE(wrong);
        CHECK(wrong.error().code == base::Code::usage);
        CHECK(wrong.error().text.find("--ntasks-per-node=8") != std::string::npos);
    }
    CHECK_FALSE(local_in({}));
    CHECK_FALSE(local_in({{"OMPI_COMM_WORLD_LOCAL_RANK", "8"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}}));
}

TEST_CASE("ranks in blocks of hosts have a host and a rail, others a sentence") {
    const auto seat = seat_of(13, 32, {5, 8});
    REQUIRE(seat);
    CHECK((seat->host == 1 && seat->rail == 5 && seat->hosts == 4 && seat->rails == 8));
    CHECK(seat->rank_of(1, 5) == 13);
    CHECK_FALSE(seat_of(13, 32, {4, 8})); // --distribution=cyclic
    CHECK_FALSE(seat_of(13, 30, {5, 8}));
}

TEST_CASE("neither number depends on the size of a gang that is as fast as its links") {
    // A ring of n passes 2 (n - 1) / n of the bytes over each link, and a barrier has ceil(log2 n) steps.
    for (const std::size_t n : {2U, 3U, 16U, 1000U}) {
        const Work work;
        const auto share = 2.0 * static_cast<double>(n - 1) / static_cast<double>(n);
        const double seconds = share * static_cast<double>(work.bytes) * 8 / 400e9;
        CHECK(rate_of(work, n, seconds) == Approx(400));
    }
    const Work gather{Operation::nccl_all_gather, 1 << 20, 1};
    CHECK(rate_of(gather, 4, 0.75 * (1 << 20) * 8 / 400e9) == Approx(400));
    const Work barrier{Operation::barrier, 0, 1};
    CHECK(rate_of(barrier, 2, 2e-6) == Approx(rate_of(barrier, 1024, 20e-6)));
    CHECK(rate_of(barrier, 3, 4e-6) == Approx(rate_of(barrier, 4, 4e-6)));
}

TEST_CASE("without Open MPI a sentence says so") {
    const std::vector<std::string> none{"/nonexistent/libmpi.so.40"};
    const auto missing = open_mpi(none);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().text.find(none.front()) != std::string::npos);
    // A library by that name that is another's.
    const auto folder =
        std::filesystem::temp_directory_path() / ("railyard-mpi-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const std::vector<std::string> paths{folder / "libmpi.so.12"};
    Dl_info libc{};
    REQUIRE(::dladdr(reinterpret_cast<const void*>(&std::abort), &libc) != 0);
    std::filesystem::create_symlink(libc.dli_fname, paths.front());
    const auto other = open_mpi(paths);
    std::filesystem::remove_all(folder);
    REQUIRE_FALSE(other);
    CHECK(other.error().text.find("it is not Open MPI's") != std::string::npos);
}

TEST_CASE("a search tells hosts and rails, with what they reach") {
    GangReport report{"mpi.all_reduce", "Gb/s", {"n1", "n2", "n3", "n4"}, 2, 400, 320, {}, {}, 1};
    report.runs = {{{{0, 1, 2, 3}, {}}, 49.5, {}}, {{{0, 2}, {}}, 50, {}}, {{{0, 2}, 1}, 49.8, {}}};
    SECTION("a rail of a host") {
        report.verdict.slow = {2};
        report.verdict.rails_of[2] = {1};
        CHECK_FALSE(report.is_sound());
        CHECK(
            print(report) ==
            "mpi.all_reduce: n3 rail 1 slows the gang: with n1 it reaches 49.8 Gb/s\n"
            "mpi.all_reduce: 4 hosts, 2 rails, 3 runs in 1.0 s: the gang reaches 49.5 Gb/s of 400 Gb/s: see "
            "above\n");
        const auto words = words_of(report);
        REQUIRE(words.size() == 1);
        CHECK((words[0].host == "n3" && words[0].component == "rail 1" && words[0].verdict == Verdict::bad));
        CHECK(words[0].says == "slows the gang: with n1 it reaches 49.8 Gb/s");
        const auto json = to_json(report);
        CHECK(base::to_text(json.at("slow")) == R"([{"host":"n3","rails":[1]}])");
        CHECK(base::to_text(json.at("runs").as_array().at(2)) ==
              R"({"hosts":"n[1,3]","rail":1,"reached":4.98E1})");
    }
    SECTION("a host") {
        report.verdict.slow = {2};
        CHECK(report.findings() == std::vector<std::string>{"n3 slows the gang: with n1 it reaches 50 Gb/s"});
    }
    SECTION("a rail of all") {
        report.verdict.all = true;
        report.verdict.rails = {1};
        CHECK(report.findings() == std::vector<std::string>{"rail 1 slows the gang on all its hosts"});
        CHECK((words_of(report)[0].host.empty() && words_of(report)[0].verdict == Verdict::warning));
    }
    SECTION("all") {
        report.verdict.all = true;
        CHECK(report.findings().size() == 1);
        CHECK_FALSE(report.is_sound());
    }
    SECTION("none") {
        CHECK(report.is_sound());
        CHECK(print(report).find("nothing is slow") != std::string::npos);
        const auto words = words_of(report);
        REQUIRE(words.size() == 1);
        CHECK((words[0].verdict == Verdict::sound && words[0].value == 49.5 && words[0].expected == 400));
    }
    SECTION("a run that failed, and nobody to blame") {
        report.verdict.error = "no answer";
        CHECK((words_of(report)[0].verdict == Verdict::not_run && words_of(report)[0].says == "no answer"));
    }
}
