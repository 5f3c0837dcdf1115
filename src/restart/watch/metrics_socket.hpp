// Answers scrapes: HTTP GET /metrics on a Unix socket, an address of loopback, or both.
//
// restartd's server (wire/http_server.hpp) knows no Unix sockets and brings a thread pool for thousands of
// connections; a scraper comes a few times a minute, and the agent is to stay small. So whoever polls answers
// one request a connection and closes it. Everybody on the host may come, so everything has a bound:
// connections, their rate, the bytes and the time of each. Nobody is waited for, and where there are too
// many, who has most connections loses the oldest of them: a user who holds many does not keep the scraper
// out.
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
    static constexpr base::Duration patience{5'000}; // for the request and for taking the answer, together

    using Page = std::function<std::shared_ptr<const std::string>()>;

    // Where to listen; empty: not there.
    struct At {
        std::filesystem::path socket;
        std::string listen; // "127.0.0.1:8918"
        bool operator==(const At&) const = default;
    };

    // Answers with `page`, which serve() calls. Errors: as listen_unix and, of an address,
    // Code::io naming it and the reason; Code::input for one that is not of loopback.
    static base::Expected<std::unique_ptr<MetricsSocket>> open(const At& at, Page page);

    ~MetricsSocket() override; // drops every client and removes the file

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

// The answer to a request's head, from its first byte to the empty line: the head of the answer, and whether
// the page follows it. Pure.
struct ScrapeAnswer {
    std::string head; // with the text of an error
    bool page = false;
};
ScrapeAnswer answer_scrape(std::string_view request, std::size_t page_bytes);

} // namespace restart
