// A request and its answer, as both ends of restartd's protocol see them.
#pragma once

#include "base/expected.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace restart {

class ServerChannel;

// The sender of a request.
struct Caller {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
};

using ChannelKey = std::array<unsigned char, 32>;

// The content of a credential as decoded by munged, once each.
struct Credential {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::string digest;            // of the request it was made for (request_digest, munge_auth.hpp)
    std::optional<ChannelKey> key; // for later requests (channel.hpp)
};

struct HttpRequest {
    std::string method;                       // "GET", "POST", …
    std::string target;                       // as sent: "/v1/explain?job=12"
    std::string path;                         // "/v1/explain"
    std::map<std::string, std::string> query; // percent-decoded; the last of equal names counts
    std::string body;
    std::string authorization;            // the header's value; empty when absent
    std::string host;                     // likewise: by which name and port the other end asks
    std::string peer;                     // numeric address of the other end
    bool from_this_machine = false;       // through loopback or from one of its own addresses
    std::optional<Credential> credential; // decoded already, to admit a large body
    ServerChannel* channel = nullptr;     // of the connection; none: each request is independent
};

struct HttpResponse {
    unsigned status = 200;
    std::string body;
    std::string content_type = "application/json";
    std::string proof{}; // that the sender is the one the client asked (channel.hpp); empty: none
    std::vector<std::pair<std::string, std::string>> headers{}; // further ones
};

// Splits a target into path and query. Errors (Code::input): it does not begin with '/', or an escape is not
// %XX or encodes a control character.
base::Expected<void> split_target(std::string_view target, HttpRequest& request);

// Text as one part of a target: everything but letters, digits and "-._~" as %XX.
std::string percent_encode(std::string_view text);

} // namespace restart
