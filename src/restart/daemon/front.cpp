#include "restart/daemon/front.hpp"

#include "restart/wire/operator.hpp"

#include <fmt/format.h>

namespace restart {
namespace {

Refused refusal_of(const LeaseStanding& standing) {
    const auto& other = standing.other;
    if (!standing.trouble.empty())
        return {"standby", fmt::format("this restartd cannot hold its lease: {}", standing.trouble), ""};
    if (standing.role == Lease::Role::ended)
        return {"standby", "this restartd has lost its lease and ends", other ? other->url : ""};
    if (!other || other->released) return {"standby", "this restartd is about to become the primary", ""};
    return {"standby",
            fmt::format("this restartd stands by: the primary is the one on {}, {}", other->host, other->url),
            other->url};
}

} // namespace

// One whose lease has run out reports this before it ends: agents go to the next.
Api* Front::acting() const {
    return keeper_.acts() ? api_.load() : nullptr;
}

HttpResponse Front::handle(const HttpRequest& request) {
    if (auto* api = acting()) return api->handle(request);
    return {503, refusal_of(keeper_.standing()).to_json(), "application/json"};
}

bool Front::admits(HttpRequest& request) {
    auto* api = acting();
    return api != nullptr && api->admits(request);
}

void Front::refused(std::string_view reason) {
    if (auto* api = acting()) api->refused(reason);
}

} // namespace restart
