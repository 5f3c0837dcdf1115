#include "restart/watch/served.hpp"

#include <algorithm>
#include <climits>

namespace restart {

void poll_and_serve(std::vector<pollfd>& own, std::span<Served* const> all, Served::Clock::time_point until) {
    const auto owned = own.size();
    std::vector<std::size_t> ends;
    for (auto* const served : all) {
        if (served) until = std::min(until, served->watch(own));
        ends.push_back(own.size());
    }
    int wait = -1;
    if (until != Served::Clock::time_point::max()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Served::Clock::now()).count();
        wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
    }
    if (::poll(own.data(), own.size(), wait) < 0)
        for (auto& one : own)
            one.revents = 0;
    auto begin = owned;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i]) all[i]->serve(std::span(own).subspan(begin, ends[i] - begin));
        begin = ends[i];
    }
    own.resize(owned);
}

} // namespace restart
