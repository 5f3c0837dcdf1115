#include "check/mpi/gang.hpp"

#include "check/mpi/mpi_collective.hpp"
#include "check/net/tournament.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace check::mpi {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_name = 64;
constexpr std::chrono::seconds all_begun{1};
constexpr int most_times = 10'000;
constexpr double wrong_result = -1;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// What a host contributes to a sum: sums of 16,384 hosts are exact in a float.
float share_of(std::size_t host) {
    return static_cast<float>(host % 512 + 1);
}

} // namespace

// The wire format: all hosts have one architecture, as MPI requires.
struct Gang::Order {
    enum class Kind : std::int32_t { stop, run, pairs } kind = Kind::stop;
    std::int32_t rail = -1; // -1: all
    std::uint32_t round = 0;
    Work work{};
};

base::Expected<Handle> Gang::group_of(Handle of, const std::vector<int>& ranks, int tag) const {
    Handle all = nullptr, some = nullptr, made = nullptr;
    if (auto ok = done(*calls_, calls_->MPI_Comm_group(of, &all), "MPI_Comm_group"); !ok) return ok.error();
    if (auto ok =
            done(*calls_, calls_->MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some),
                 "MPI_Group_incl");
        !ok)
        return ok.error();
    // Unlike MPI_Comm_split, which all processes, of all rails, would have to call.
    if (auto ok = done(*calls_, calls_->MPI_Comm_create_group(of, some, tag, &made), "MPI_Comm_create_group");
        !ok)
        return ok.error();
    calls_->MPI_Group_free(&some);
    calls_->MPI_Group_free(&all);
    return made;
}

base::Expected<Gang> Gang::begin(const Calls& calls, const Local& local, const std::string& own_name,
                                 MakeCollective make) {
    Gang gang(calls, std::move(make));
    int given = 0, rank = 0, size = 0, length = 0;
    if (auto ok =
            done(calls, calls.MPI_Init_thread(nullptr, nullptr, thread_funneled, &given), "MPI_Init_thread");
        !ok)
        return ok.error();
    // Open MPI crashes when a message reaches a process that is still in MPI_Init after others have left it:
    // under srun its fence does not end everywhere at once (open-mpi/ompi#12495, #13559).
    std::this_thread::sleep_for(all_begun);
    calls.MPI_Comm_rank(calls.ompi_mpi_comm_world, &rank);
    calls.MPI_Comm_size(calls.ompi_mpi_comm_world, &size);
    std::array<char, longest_version> version{};
    calls.MPI_Get_library_version(version.data(), &length);
    gang.version_ = std::string_view(version.data()).substr(0, std::string_view(version.data()).find(','));
    const auto seat = seat_of(rank, size, local);
    if (!seat) return seat.error();
    gang.seat_ = *seat;
    std::vector<int> of_rail, of_host;
    for (int host = 0; host < seat->hosts; ++host)
        of_rail.push_back(seat->rank_of(host, seat->rail));
    for (int rail = 0; rail < seat->rails; ++rail)
        of_host.push_back(seat->rank_of(seat->host, rail));
    auto rails = gang.group_of(calls.ompi_mpi_comm_world, of_rail, seat->rail);
    if (!rails) return rails.error();
    gang.rail_ = *rails;
    auto hosts = gang.group_of(calls.ompi_mpi_comm_world, of_host, seat->rails + seat->host);
    if (!hosts) return hosts.error();
    gang.host_ = *hosts;
    if (auto gathered = gang.gather_names(own_name); !gathered) return gathered.error();
    return gang;
}

base::Expected<void> Gang::gather_names(const std::string& own) {
    if (seat_.rail != 0) return {};
    std::array<char, longest_name> name{};
    own.copy(name.data(), name.size() - 1);
    std::vector<char> all(leads() ? longest_name * static_cast<std::size_t>(seat_.hosts) : 0);
    if (auto ok = done(*calls_,
                       calls_->MPI_Gather(name.data(), longest_name, calls_->ompi_mpi_byte, all.data(),
                                          longest_name, calls_->ompi_mpi_byte, 0, rail_),
                       "MPI_Gather");
        !ok)
        return ok;
    for (std::size_t at = 0; at < all.size(); at += longest_name)
        names_.emplace_back(all.data() + at);
    return {};
}

// From the first process to the first of each host, and from these to the others of their hosts.
base::Expected<void> Gang::tell(Order& order, std::vector<unsigned char>& members) const {
    members.resize(static_cast<std::size_t>(seat_.hosts));
    for (const auto through : {rail_, host_}) {
        if (through == rail_ && seat_.rail != 0) continue;
        if (auto ok =
                done(*calls_, calls_->MPI_Bcast(&order, sizeof order, calls_->ompi_mpi_byte, 0, through),
                     "MPI_Bcast");
            !ok)
            return ok;
        if (auto ok = done(*calls_,
                           calls_->MPI_Bcast(members.data(), seat_.hosts, calls_->ompi_mpi_byte, 0, through),
                           "MPI_Bcast");
            !ok)
            return ok;
    }
    return {};
}

// Seconds of one operation, the slowest process's; wrong_result if a result was wrong.
base::Expected<double> Gang::measure(const Work& work, const Circle& circle) const {
    auto collective = make_(work, circle);
    if (!collective) return std::move(collective).error();
    const auto most_of = [&](double own) -> base::Expected<double> {
        double most = 0;
        if (auto ok = done(*calls_,
                           calls_->MPI_Allreduce(&own, &most, 1, calls_->ompi_mpi_double,
                                                 calls_->ompi_mpi_op_max, circle.with),
                           "MPI_Allreduce");
            !ok)
            return ok.error();
        return most;
    };
    // The first makes the connections, the second shows how many fit into the time.
    double took = 0;
    for (int i = 0; i < 2; ++i) {
        const auto start = Clock::now();
        if (auto ok = (*collective)->once(); !ok) return ok.error();
        took = seconds_since(start);
    }
    const auto most = most_of(took);
    if (!most) return most;
    const int times = std::clamp(static_cast<int>(work.seconds / std::max(*most, 1e-7)), 1, most_times);
    if (auto ok = done(*calls_, calls_->MPI_Barrier(circle.with), "MPI_Barrier"); !ok) return ok.error();
    const auto start = Clock::now();
    for (int i = 0; i < times; ++i)
        if (auto ok = (*collective)->once(); !ok) return ok.error();
    const auto each = most_of(seconds_since(start) / times);
    if (!each) return each;
    const auto right = (*collective)->right();
    if (!right) return right.error();
    const auto wrong = most_of(*right ? 0 : 1);
    if (!wrong) return wrong;
    return *wrong > 0 ? wrong_result : *each;
}

base::Expected<double> Gang::take_part(const Order& order, const std::vector<unsigned char>& members) const {
    std::vector<int> hosts;
    if (order.kind == Order::Kind::pairs) {
        const auto own = static_cast<std::uint32_t>(seat_.host);
        if (const auto other =
                net::Tournament(static_cast<std::uint32_t>(seat_.hosts)).opponent(order.round, own))
            hosts = {static_cast<int>(std::min(own, *other)), static_cast<int>(std::max(own, *other))};
    } else if (members[static_cast<std::size_t>(seat_.host)] != 0 &&
               (order.rail < 0 || order.rail == seat_.rail)) {
        for (int host = 0; host < seat_.hosts; ++host)
            if (members[static_cast<std::size_t>(host)] != 0) hosts.push_back(host);
    }
    if (hosts.empty()) return 0;
    auto with = group_of(rail_, hosts, 1);
    if (!with) return with.error();
    Circle circle;
    circle.with = *with;
    for (const int host : hosts) {
        if (host == seat_.host) circle.own = static_cast<int>(circle.shares.size());
        circle.shares.push_back(share_of(static_cast<std::size_t>(host)));
    }
    auto measured = measure(order.work, circle);
    calls_->MPI_Comm_free(&*with);
    return measured;
}

// The time of each process, by rail, then by host, on the leader; 0 for those that took no part.
base::Expected<std::vector<double>> Gang::perform(Order& order, std::vector<unsigned char>& members) {
    const auto own = take_part(order, members);
    if (!own) return own.error();
    const auto hosts = static_cast<std::size_t>(seat_.hosts);
    std::vector<double> of_rail(seat_.host == 0 ? hosts : 0),
        all(leads() ? hosts * static_cast<std::size_t>(seat_.rails) : 0);
    if (auto ok = done(*calls_,
                       calls_->MPI_Gather(&*own, 1, calls_->ompi_mpi_double, of_rail.data(), 1,
                                          calls_->ompi_mpi_double, 0, rail_),
                       "MPI_Gather");
        !ok)
        return ok.error();
    if (seat_.host != 0) return all;
    if (auto ok = done(*calls_,
                       calls_->MPI_Gather(of_rail.data(), seat_.hosts, calls_->ompi_mpi_double, all.data(),
                                          seat_.hosts, calls_->ompi_mpi_double, 0, host_),
                       "MPI_Gather");
        !ok)
        return ok.error();
    return all;
}

base::Expected<void> Gang::serve() {
    for (;;) {
        Order order;
        std::vector<unsigned char> members;
        if (auto told = tell(order, members); !told) return told;
        if (order.kind == Order::Kind::stop) return done(*calls_, calls_->MPI_Finalize(), "MPI_Finalize");
        if (auto done = perform(order, members); !done) return done.error();
    }
}

base::Expected<double> Gang::run(const Work& work, const GangRun& run) {
    Order order{Order::Kind::run, run.rail.value_or(-1), 0, work};
    std::vector<unsigned char> members(static_cast<std::size_t>(seat_.hosts));
    for (const auto member : run.members)
        members[member] = 1;
    if (auto told = tell(order, members); !told) return told.error();
    const auto took = perform(order, members);
    if (!took) return took.error();
    double most = 0;
    for (std::size_t at = 0; at < took->size(); ++at) {
        if ((*took)[at] == wrong_result)
            return base::Error{base::Code::input, fmt::format("the result over rail {} is wrong",
                                                              at / static_cast<std::size_t>(seat_.hosts))};
        most = std::max(most, (*took)[at]);
    }
    return rate_of(work, run.members.size(), std::max(most, 1e-9));
}

base::Expected<std::vector<std::vector<double>>> Gang::run_pairs(const Work& work, std::uint32_t round) {
    Order order{Order::Kind::pairs, -1, round, work};
    std::vector<unsigned char> members(static_cast<std::size_t>(seat_.hosts));
    if (auto told = tell(order, members); !told) return told.error();
    const auto took = perform(order, members);
    if (!took) return took.error();
    std::vector<std::vector<double>> rates(static_cast<std::size_t>(seat_.rails));
    for (const auto& [a, b] : net::Tournament(static_cast<std::uint32_t>(seat_.hosts)).pairs(round))
        for (std::size_t rail = 0; rail < rates.size(); ++rail)
            if (const double one = (*took)[rail * static_cast<std::size_t>(seat_.hosts) + a]; one > 0)
                rates[rail].push_back(rate_of(work, 2, one));
    return rates;
}

base::Expected<void> Gang::end() {
    Order order;
    std::vector<unsigned char> members;
    if (auto told = tell(order, members); !told) return told;
    return done(*calls_, calls_->MPI_Finalize(), "MPI_Finalize");
}

} // namespace check::mpi
