// railctl's connection to restartd.
#pragma once

#include "base/expected.hpp"
#include "restart/wire/http_client.hpp"

#include <chrono>
#include <string>

namespace restart {

class RestartdConnection {
public:
    static constexpr base::Duration patience = std::chrono::seconds(10);

    // From the configuration file (empty: the usual one), or at `url` if not empty.
    static base::Expected<RestartdConnection> find(const std::string& config, const std::string& url);

    // The body of an answer, or restartd's refusal in its words: Code::input, denied, not_found, unfit,
    // unavailable. Requests and answers are signed, so that restartd knows what may be shown and no other
    // server is trusted. Without munged some things may still be read: on restartd's own machine, where no
    // other process can listen at the address, and elsewhere with [restartd] open_reading. If restartd is too
    // busy the request is repeated, for some seconds.
    base::Expected<std::string> get(const std::string& target);
    base::Expected<std::string> post(const std::string& target, const std::string& body);

private:
    RestartdConnection(bool loopback, HttpClient open, HttpClient signing)
        : loopback_(loopback), open_(std::move(open)), signing_(std::move(signing)) {}

    bool loopback_;
    HttpClient open_;
    HttpClient signing_;
};

} // namespace restart
