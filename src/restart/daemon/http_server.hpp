// restartd's HTTP/1.1 server: kept-open connections to thousands of agents on one thread, requests answered
// on a few workers.
//
// A hostile or broken peer costs at most one connection and one request's memory: headers, bodies, the time
// to send a request and the time a connection may idle are bounded, and what exceeds a bound is answered
// with 4xx where that is possible and closed. A handler may block (it asks munged and the journal).
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/daemon/http.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace restart {

struct HttpLimits {
    std::size_t connections = 20'000;
    std::size_t header_bytes = 16 << 10;
    std::size_t body_bytes = 1 << 20;
    base::Duration request =
        std::chrono::seconds(10);                   // from its first byte to its last, and to take the answer
    base::Duration idle = std::chrono::minutes(2);  // between two requests
    base::Duration drain = std::chrono::seconds(5); // for requests under way when the server stops
    unsigned workers = 4;
};

class HttpServer {
public:
    // Called on a worker, several at a time; must not throw.
    using Handler = std::function<HttpResponse(const HttpRequest&)>;
    // Told of each request that was refused before it reached the handler: "too_large", "timeout",
    // "malformed", "too_many_connections". Called on the I/O thread.
    using Refused = std::function<void(std::string_view reason)>;

    // Listens at once and serves until stop(). Errors (Code::io) name the address: already in use, not ours,
    // no such host.
    static base::Expected<HttpServer> start(const HostPort& listen, HttpLimits limits, Handler handler,
                                            Refused refused = {});

    HttpServer(HttpServer&&) noexcept;
    HttpServer& operator=(HttpServer&&) noexcept;
    ~HttpServer(); // stops

    std::uint16_t port() const; // the bound one

    // Accepts nothing more, lets requests under way end (at most `drain`), closes the rest, joins its
    // threads.
    void stop();

private:
    class Impl;
    explicit HttpServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace restart
