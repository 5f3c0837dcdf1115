// Answers scrapes: HTTP GET /metrics on a Unix socket, a loopback address, or both.
//
// restartd's server (wire/http_server.hpp) supports no Unix sockets and brings a thread pool for thousands of
// connections; a scraper comes a few times a minute, and the agent must stay small. So the polling thread
// answers one request per connection and closes it. Every user of the host may connect, so everything is
// bounded: connections, their rate, the bytes and the time of each. No client is waited for. When there are
// too many, the user with the most connections loses the oldest of them: a user who holds many does not keep
// the scraper out.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/unique_fd.hpp"
#include "restart/watch/served.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace restart {

class MetricsSocket : public Served {
public:
    static constexpr std::size_t most_clients = 32;
    static constexpr std::size_t most_request = 8 << 10; // bytes
    static constexpr std::size_t most_a_tick = 10;       // connections
    static constexpr base::Duration tick{100};
    static constexpr base::Duration patience{5'000}; // for the request and the response together

    using Page = std::function<std::shared_ptr<const std::string>()>;

    // Where to listen; an empty member disables that listener.
    struct At {
        std::filesystem::path socket;
        std::string listen; // "127.0.0.1:8918"
        bool operator==(const At&) const = default;
    };

    // Answers with `page`, called by serve(). Errors: as listen_unix and, for an address, Code::io with it
    // and the reason; Code::input for a non-loopback address.
    static base::Expected<std::unique_ptr<MetricsSocket>> open(const At& at, Page page);

    ~MetricsSocket() override; // disconnects all clients and removes the file

    Clock::time_point watch(std::vector<pollfd>& into) override;
    void serve(std::span<const pollfd> watched) override;

    std::uint16_t port() const { return port_; } // bound; 0: none

private:
    struct Client;
    MetricsSocket(At at, Page page);
    base::Expected<void> listen();
    void admit(base::UniqueFd fd, Clock::time_point now);
    void take_clients(std::span<const pollfd> listeners, Clock::time_point now);

    At at_;
    Page page_;
    std::vector<base::UniqueFd> listeners_;
    bool made_file_ = false;
    std::uint16_t port_ = 0;
    std::list<Client> clients_; // the oldest first
    Clock::time_point next_tick_{};
    std::size_t taken_ = 0; // connections in this tick
};

// The answer to a request's head (first byte to empty line): the response head, and whether the page follows
// it. Pure.
struct ScrapeAnswer {
    std::string head; // with the text of an error
    bool page = false;
};
ScrapeAnswer answer_scrape(std::string_view request, std::size_t page_bytes);

} // namespace restart
