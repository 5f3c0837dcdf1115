// The processes of one MPI program, whose first process has the others run collective operations in parts of
// the gang. Between hosts only processes of one rail communicate, also for commands, so that rails need not
// be connected to each other.
#pragma once

#include "base/expected.hpp"
#include "check/gang_search.hpp"
#include "check/mpi/collective.hpp"
#include "check/mpi/mpi_library.hpp"
#include "check/mpi/seat.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace check::mpi {

class Gang {
public:
    // Begins MPI: all processes must call it. `calls` outlives it. Errors: Code::unavailable if MPI does not
    // start, Code::usage (seat_of).
    static base::Expected<Gang> begin(const Calls& calls, const Local& local, const std::string& own_name,
                                      MakeCollective make);

    const Seat& seat() const { return seat_; }
    bool leads() const { return seat_.host == 0 && seat_.rail == 0; }
    const std::vector<std::string>& names() const { return names_; } // of hosts; on the leader
    const std::string& version() const { return version_; }

    // For all processes but the leader: executes commands until the end.
    base::Expected<void> serve();

    // For the leader. What the slowest rail of the run reaches, by rate_of.
    base::Expected<double> run(const Work& work, const GangRun& members);
    // What each pair of a round of the tournament reaches, on each rail: [rail][pair]; resting hosts are left
    // out.
    base::Expected<std::vector<std::vector<double>>> run_pairs(const Work& work, std::uint32_t round);
    base::Expected<void> end(); // ends serve() in all

private:
    struct Order;
    Gang(const Calls& calls, MakeCollective make) : calls_(&calls), make_(std::move(make)) {}
    base::Expected<Handle> group_of(Handle of, const std::vector<int>& ranks, int tag) const;
    base::Expected<std::vector<double>> perform(Order& order, std::vector<unsigned char>& members);
    base::Expected<double> take_part(const Order& order, const std::vector<unsigned char>& members) const;
    base::Expected<double> measure(const Work& work, const Circle& circle) const;
    base::Expected<void> tell(Order& order, std::vector<unsigned char>& members) const;
    base::Expected<void> gather_names(const std::string& own);

    const Calls* calls_;
    MakeCollective make_;
    Seat seat_{};
    Handle rail_ = nullptr, host_ = nullptr; // communicators: of this rail's processes, of this host's
    std::vector<std::string> names_;
    std::string version_;
};

} // namespace check::mpi
