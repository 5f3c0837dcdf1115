// A request and its answer, as both ends of restartd's protocol see them; and the two forms of an address.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

// Whose a request is, by a credential that munged has opened: each can be opened once.
struct Credential {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::string digest; // of the request it was made for (request_digest, munge_auth.hpp)
};

struct HttpRequest {
    std::string method;                       // "GET", "POST", …
    std::string target;                       // as sent: "/v1/explain?job=12"
    std::string path;                         // "/v1/explain"
    std::map<std::string, std::string> query; // percent-decoded; the last of equal names counts
    std::string body;
    std::string authorization;      // the header's value; empty when absent
    std::string peer;               // numeric address of the other end
    bool from_this_machine = false; // by loopback or by one of its own addresses
    std::optional<Credential> credential; // opened already, to admit a large body
};

struct HttpResponse {
    unsigned status = 200;
    std::string body;
    std::string content_type = "application/json";
};

// Splits a target into path and query. Errors (Code::input): it does not begin with '/', or an escape is
// not %XX or stands for a control character.
base::Expected<void> split_target(std::string_view target, HttpRequest& request);

// Text as one part of a target: everything but letters, digits and "-._~" as %XX.
std::string percent_encode(std::string_view text);

struct HostPort {
    std::string host; // a name, an IPv4 or an IPv6 address without brackets
    std::uint16_t port = 0;
    std::string print() const; // "host:port", "[::1]:8917"
    bool operator==(const HostPort&) const = default;
};

// "host:port" or "[v6]:port"; port 0 asks the kernel for a free one. Errors: Code::input.
base::Expected<HostPort> parse_listen(std::string_view text);

// "http://host:port", with or without a final slash. Errors: Code::input, saying what is allowed.
base::Expected<HostPort> parse_url(std::string_view url);

} // namespace restart
