#include "restart/run/seats.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::run {

using base::Code;
using base::Error;
using base::Expected;

std::set<std::string> missing(const Hosts& hosts, const Hosts& allocation) {
    const std::set<std::string> there(allocation.begin(), allocation.end());
    std::set<std::string> lacks;
    for (const auto& host : hosts)
        if (!there.contains(host)) lacks.insert(host);
    return lacks;
}

Expected<Seats> without(const Seats& seats, const std::set<std::string>& left) {
    Seats next;
    for (const auto& spare : seats.spares)
        if (!left.contains(spare)) next.spares.push_back(spare);
    for (const auto& host : seats.ranks) {
        if (!left.contains(host)) {
            next.ranks.push_back(host);
            continue;
        }
        if (next.spares.empty())
            return Error{Code::unfit, fmt::format("no spare is left in the allocation for {}", host)};
        next.ranks.push_back(next.spares.front());
        next.spares.erase(next.spares.begin());
    }
    return next;
}

Expected<Seats> with_ranks(Hosts ranks, const Hosts& allocation, const std::set<std::string>& left) {
    const auto lacks = missing(ranks, allocation);
    if (!lacks.empty()) return Error{Code::input, fmt::format("the job does not have {}", *lacks.begin())};
    const std::set<std::string> taken(ranks.begin(), ranks.end());
    if (taken.size() != ranks.size()) return Error{Code::input, "a host is named twice"};
    Seats seats{std::move(ranks), {}};
    for (const auto& host : allocation)
        if (!taken.contains(host) && !left.contains(host)) seats.spares.push_back(host);
    return seats;
}

Expected<Seats> first_seats(const Hosts& allocation, const Seats& given, std::size_t spares) {
    if (allocation.empty()) return Error{Code::input, "the job has no hosts"};
    Hosts all = given.ranks;
    all.insert(all.end(), given.spares.begin(), given.spares.end());
    if (!given.ranks.empty() && missing(allocation, all).empty())
        return without(given, missing(all, allocation));
    const auto ranks = allocation.size() - std::min(spares, allocation.size() - 1);
    const auto end = allocation.begin() + static_cast<std::ptrdiff_t>(ranks);
    return Seats{{allocation.begin(), end}, {end, allocation.end()}};
}

} // namespace restart::run
