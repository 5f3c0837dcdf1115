// What the processes that measure together say to each other, as JSON. Names, devices and numbers are those
// of hosts that have shown who they are (entry.hpp); reading still refuses what is no message.
#pragma once

#include "base/expected.hpp"
#include "check/net/pair.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace check::net {

// Of a host that comes: {"rank":1,"host":"n2","challenge":"…","rails":[{"device":"mlx5_0:1","address":"…"}]}
struct Hello {
    struct Rail {
        std::string device;
        std::string address; // for UCX; empty: it cannot be used
        std::string trouble; // why
    };
    std::uint32_t rank = 0;
    std::string host;
    std::string challenge; // for the answer
    std::vector<Rail> rails;
};
std::string to_text(const Hello& hello);
base::Expected<Hello> read_hello(std::string_view text);

// To a host: measure with this partner, rail by rail; without addresses: the end.
struct Go {
    std::uint32_t round = 0;
    std::string partner;
    bool first = false;
    Effort effort;
    std::vector<std::string> addresses; // the partner's, by rail; empty: not this rail
};
std::string to_text(const Go& go);
base::Expected<Go> read_go(std::string_view text);

// And what came of it, by rail.
struct Done {
    struct Rail {
        std::optional<Measured> measured;
        std::string trouble; // else
    };
    std::uint32_t round = 0;
    std::vector<Rail> rails;
};
std::string to_text(const Done& done);
base::Expected<Done> read_done(std::string_view text);

} // namespace check::net
