// What the processes that measure together send to each other, as JSON. Names, devices and numbers come from
// authenticated hosts (entry.hpp); malformed messages are still rejected.
#pragma once

#include "base/expected.hpp"
#include "check/net/pair.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace check::net {

// From a host that joins:
// {"rank":1,"host":"n2","challenge":"…","rails":[{"device":"mlx5_0:1","address":"…"}]}
struct Hello {
    struct Rail {
        std::string device;
        std::string address; // for UCX; empty: it cannot be used
        std::string trouble; // why not
    };
    std::uint32_t rank = 0;
    std::string host;
    std::string challenge; // for the reply
    std::vector<Rail> rails;
};
std::string to_text(const Hello& hello);
base::Expected<Hello> read_hello(std::string_view text);

// To a host: measure with this partner, rail by rail; without partner and addresses: the end.
struct Go {
    std::uint32_t round = 0;
    std::string partner;
    bool first = false;
    Effort effort;
    std::vector<std::string> addresses; // the partner's, by rail; empty: skip this rail
};
std::string to_text(const Go& go);
base::Expected<Go> read_go(std::string_view text);

// The reply: the results by rail.
struct Done {
    struct Rail {
        std::optional<Measured> measured;
        std::string trouble; // the reason, if nothing was measured
    };
    std::uint32_t round = 0;
    std::vector<Rail> rails;
};
std::string to_text(const Done& done);
base::Expected<Done> read_done(std::string_view text);

} // namespace check::net
