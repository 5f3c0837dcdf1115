// An agent's kept-open, signed connection to restartd: posts bodies and logs when the kind of answer changes
// (reached, unreachable, refused), not each time. One thread at a time.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/wire/http_client.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

class Delivery {
public:
    struct Target {
        std::vector<std::string> urls; // "http://host:port", each where restartd may be
        std::string munge_socket;      // empty: munge's own
        std::string user;              // that restartd runs as, by name or number
        bool operator==(const Target&) const = default;
    };

    static constexpr base::Duration timeout{2'000}; // of one post

    // Errors: Code::input for a URL of another form. Nothing is connected yet.
    static base::Expected<Delivery> make(Target target);

    // The body of the answer. Errors, logged on change: Code::unavailable when restartd or munged does not
    // answer in time, Code::denied for any status but 200 and for an answer that is not restartd's.
    // Code::unfit, not logged, for 409: restartd does not know what the body refers to.
    base::Expected<std::string> post(std::string_view path, std::string_view body);

private:
    enum class Trouble { unknown, none, unreachable, refused };
    Delivery(Target target, HttpClient client) : target_(std::move(target)), client_(std::move(client)) {}
    base::Expected<std::string> attempt(std::string_view path, std::string_view body);

    Target target_;
    HttpClient client_;
    Trouble trouble_ = Trouble::unknown; // what was last logged
    std::string reached_;                // where it was reached, as last logged
};

} // namespace restart
