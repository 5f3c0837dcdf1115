// What the server answers with: the API while this restartd is the primary, otherwise who is. An agent or a
// command that gets "standby" asks the next address of [restartd] url.
#pragma once

#include "restart/daemon/api.hpp"
#include "restart/daemon/lease_keeper.hpp"
#include "restart/wire/http.hpp"

#include <atomic>
#include <string_view>

namespace restart {

class Front {
public:
    explicit Front(const LeaseKeeper& keeper) : keeper_(keeper) {}

    // From now on the API answers. It must outlive the server.
    void open(Api& api) { api_ = &api; }

    // Thread-safe.
    HttpResponse handle(const HttpRequest& request);
    bool admits(HttpRequest& request);
    void refused(std::string_view reason);

private:
    Api* acting() const;

    const LeaseKeeper& keeper_;
    std::atomic<Api*> api_ = nullptr;
};

} // namespace restart
