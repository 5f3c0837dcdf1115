#include "check/mpi/seat.hpp"

#include "base/units.hpp"

#include <fmt/format.h>
#include <string>
#include <string_view>

namespace check::mpi {
namespace {

base::Error how(const std::string& why) {
    return {base::Code::usage,
            fmt::format("{}: start it as srun --mpi=pmix -N16 --ntasks-per-node=8, or as mpirun --map-by "
                        "ppr:8:node, a process a rail on each host",
                        why)};
}

base::Expected<int> number(std::string_view name, std::string_view text) {
    const auto value = base::parse_count(text);
    if (!value || *value > 4096) return how(fmt::format("{} is \"{}\"", name, text));
    return static_cast<int>(*value);
}

// "8(x16)", or "8" on one host; empty if hosts differ.
std::string_view tasks_of_each(std::string_view text) {
    const auto end = text.find("(x");
    if (end == text.npos) return text;
    return text.find(')') == text.size() - 1 ? text.substr(0, end) : std::string_view();
}

} // namespace

base::Expected<Local> local_of(const std::function<const char*(const char*)>& get) {
    const auto variable = [&](const char* name) {
        const char* value = get(name);
        return std::string_view(value == nullptr ? "" : value);
    };
    // In a Slurm job, processes of mpirun have both sets of variables; srun's describe mpirun itself.
    std::string_view rank = variable("OMPI_COMM_WORLD_LOCAL_RANK"),
                     size = variable("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (rank.empty()) {
        rank = variable("SLURM_LOCALID");
        const auto each = variable("SLURM_STEP_TASKS_PER_NODE");
        if (rank.empty() || each.empty()) return how("neither Open MPI's mpirun nor srun has started this");
        size = tasks_of_each(each);
        if (size.empty())
            return how(fmt::format("hosts have different numbers of processes (SLURM_STEP_TASKS_PER_NODE={})",
                                   each));
    }
    const auto local = number("the process's number on its host", rank),
               of = number("the number of processes", size);
    if (!local) return local.error();
    if (!of) return of.error();
    if (*of == 0 || *local >= *of) return how(fmt::format("process {} of {} on its host", *local, *of));
    return Local{*local, *of};
}

base::Expected<Seat> seat_of(int rank, int size, const Local& local) {
    if (size % local.size != 0 || rank % local.size != local.rank)
        return how(
            fmt::format("rank {} of {} is process {} of {} on its host: ranks are not in blocks of hosts, or "
                        "hosts have different numbers of them",
                        rank, size, local.rank, local.size));
    return Seat{rank / local.size, local.rank, size / local.size, local.size};
}

} // namespace check::mpi
