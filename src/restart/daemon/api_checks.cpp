// What checks have reported about hosts.
#include "restart/daemon/api.hpp"
#include "restart/daemon/check_views.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

namespace restart {

Api::Answer Api::checks(const HttpRequest& request, const Asker& asker) {
    // As with signals, they reveal recent events.
    if (!asker.view.sees_events())
        return Refusal{403, "forbidden",
                       fmt::format("the checks of hosts tell what is not shown to {}: {}", asker.name,
                                   words().private_events)};
    const auto named = request.query.find("host");
    const auto host = named == request.query.end() ? std::string() : named->second;
    Checks checks;
    bool known = false;
    driver_.look([&](const State& state, const DriverStatus& status) {
        known = host.empty() || state.knows_host(host);
        if (known) checks = checks_of(state, status.now, host);
    });
    if (!known)
        return Refusal{404, "not_found",
                       fmt::format("host {} is neither in the resource manager nor in the fabric file",
                                   base::printable(host, 64))};
    return HttpResponse{200, checks.to_json()};
}

} // namespace restart
