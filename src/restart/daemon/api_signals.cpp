// The signals of a host: readers request them here, and its agent sends them after one of its next reports.
#include "restart/daemon/api.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

namespace restart {

Api::Answer Api::tell(const HttpRequest& request, const Asker&) {
    auto signals = HostSignals::from_json(request.body);
    if (!signals) return refusal_of(signals.error());
    const auto taken = signal_book_.take(*std::move(signals), std::chrono::steady_clock::now(), base::now());
    if (!taken) return refusal_of(taken.error());
    return HttpResponse{200, "{\"v\":1}"};
}

// It never waits for the agent: the reader asks again.
Api::Answer Api::signals(const HttpRequest& request, const Asker& asker) {
    const auto named = request.query.find("host");
    if (named == request.query.end() || named->second.empty())
        return Refusal{400, "input", "host: a host's name is wanted"};
    // They reveal recent events, as events do.
    if (!asker.view.sees_events())
        return Refusal{403, "forbidden",
                       fmt::format("the signals of hosts tell what is not shown to {}: {}", asker.name,
                                   words().private_events)};
    const auto& host = named->second;
    SignalsAnswer answer;
    answer.host = host;
    bool known = false, heard = false;
    driver_.look([&](const State& state, const DriverStatus& status) {
        answer.time = status.now;
        known = state.knows_host(host);
        if (!known) return;
        answer.last_report = state.hosts.at(host).last_report;
        heard = answer.last_report && status.now - *answer.last_report <= status.policy.silent;
    });
    if (!known)
        return Refusal{404, "not_found",
                       fmt::format("host {} is neither in the resource manager nor in the fabric file",
                                   base::printable(host, 64))};
    const auto now = std::chrono::steady_clock::now();
    const auto found = heard ? signal_book_.ask(host, now) : signal_book_.look(host, now);
    answer.state = heard ? found.state : SignalsState::silent;
    answer.came = found.came;
    if (found.signals) answer.signals = *found.signals;
    return HttpResponse{200, answer.to_json()};
}

} // namespace restart
