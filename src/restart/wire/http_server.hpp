// restartd's HTTP/1.1 server: kept-open connections to thousands of agents on one thread, requests answered
// on a few workers.
//
// A hostile or broken peer costs at most its share of connections and a small body each. Headers, bodies, the
// time to send a request and the time a connection may idle are bounded; what exceeds a bound is answered
// with 4xx where possible, and closed. A handler may block (it calls munged and the journal); requests that
// must not wait for others have their own workers (lanes).
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/host_port.hpp"
#include "restart/wire/http.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace restart {

struct HttpLimits {
    std::size_t connections = 20'000;
    std::size_t connections_a_peer = 256; // of one address of another machine
    std::size_t header_bytes = 16 << 10;
    std::size_t body_bytes = 1 << 20;        // from an admitted sender
    std::size_t small_body_bytes = 16 << 10; // from anyone
    base::Duration request =
        std::chrono::seconds(10);                   // from its first byte to its last, and to take the answer
    base::Duration idle = std::chrono::minutes(2);  // between two requests
    base::Duration drain = std::chrono::seconds(5); // for requests under way when the server stops
    std::vector<unsigned> workers{4};               // of each lane
};

class HttpServer {
public:
    // Called on a worker, several at a time; must not throw.
    using Handler = std::function<HttpResponse(const HttpRequest&)>;
    // Whether this sender may send a large body, decided from the headers alone; also puts the decoded
    // credential into the request. Called on a worker of the first lane.
    using Admit = std::function<bool(HttpRequest&)>;
    // The lane of a request, by its headers: an index of HttpLimits::workers. Called on the I/O thread.
    using Lane = std::function<std::size_t(const HttpRequest&)>;
    // Called for each request that was refused before it reached the handler: "too_large", "timeout",
    // "malformed", "too_many_connections". On the I/O thread.
    using Refused = std::function<void(std::string_view reason)>;
    struct Callbacks {
        Handler handle;
        Admit admit{};     // none: no sender may
        Lane lane{};       // none: all are in the first
        Refused refused{}; // none: not reported
    };

    // Listens at once and serves until stop(). Errors (Code::io) name the address: already in use, not ours,
    // no such host.
    static base::Expected<HttpServer> start(const base::HostPort& listen, HttpLimits limits,
                                            Callbacks callbacks);

    HttpServer(HttpServer&&) noexcept;
    HttpServer& operator=(HttpServer&&) noexcept;
    ~HttpServer(); // stops

    std::uint16_t port() const; // the one bound

    // Accepts nothing more, lets requests under way end (at most `drain`), closes the rest, joins its
    // threads.
    void stop();

private:
    class Impl;
    explicit HttpServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace restart
