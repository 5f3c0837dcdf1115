// The processes of one MPI program, of which the first has the others run collective operations in parts of
// the gang. Between hosts only processes of one rail speak with each other, also when they are told what to
// do, so that rails need not reach each other.
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
    // Begins MPI: all processes must. `calls` outlives it. Errors: Code::unavailable when it does not begin,
    // Code::usage (seat_of).
    static base::Expected<Gang> begin(const Calls& calls, const Local& local, const std::string& own_name,
                                      MakeCollective make);

    const Seat& seat() const { return seat_; }
    bool leads() const { return seat_.host == 0 && seat_.rail == 0; }
    const std::vector<std::string>& names() const { return names_; } // of hosts; where it leads
    const std::string& version() const { return version_; }

    // All that do not lead: does what it is told until the end.
    base::Expected<void> serve();

    // Where it leads. What the slowest rail of the run reaches, by rate_of.
    base::Expected<double> run(const Work& work, const GangRun& members);
    // Of each pair of a round of the tournament, and each rail, what it reaches: [rail][pair], those that
    // rest left out.
    base::Expected<std::vector<std::vector<double>>> run_pairs(const Work& work, std::uint32_t round);
    base::Expected<void> end(); // sends all home

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
