#include "restart/watch/metrics_socket.hpp"

#include "base/host_port.hpp"
#include "restart/watch/unix_listener.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <sys/un.h>

namespace restart {
namespace {

constexpr int backlog = 16;

std::string refusal(std::string_view status, std::string_view text, std::string_view more = {}) {
    return fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{}"
                       "Connection: close\r\n\r\n{}\n",
                       status, text.size() + 1, more, text);
}

// Parses the address; names are not looked up.
base::Expected<sockaddr_storage> loopback_of(const std::string& text, socklen_t& size) {
    auto at = base::parse_listen(text);
    if (!at) return std::move(at).error();
    sockaddr_storage address{};
    auto& v4 = reinterpret_cast<sockaddr_in&>(address);
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
    const auto host = at->host == "localhost" ? std::string("127.0.0.1") : at->host;
    if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1 && (ntohl(v4.sin_addr.s_addr) >> 24) == 127) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(at->port);
        size = sizeof v4;
        return address;
    }
    address = {};
    if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(at->port);
        size = sizeof v6;
        return address;
    }
    return base::Error{base::Code::input,
                       fmt::format("{}: is no address of loopback, such as 127.0.0.1:8918", text)};
}

} // namespace

ScrapeAnswer answer_scrape(std::string_view request, std::size_t page_bytes) {
    const auto line = request.substr(0, request.find_first_of("\r\n"));
    const auto method = line.substr(0, line.find(' '));
    const auto rest = line.substr(std::min(line.size(), method.size() + 1));
    const auto target = rest.substr(0, rest.find(' '));
    if (!rest.substr(target.size()).starts_with(" HTTP/1."))
        return {refusal("400 Bad Request", "this is no HTTP/1 request")};
    if (method != "GET" && method != "HEAD")
        return {refusal("405 Method Not Allowed", "only GET and HEAD", "Allow: GET, HEAD\r\n")};
    if (target.substr(0, target.find('?')) != "/metrics")
        return {refusal("404 Not Found", "there is only /metrics")};
    if (page_bytes == 0) return {refusal("503 Service Unavailable", "nothing has been looked at yet")};
    return {fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                        "Content-Length: {}\r\nConnection: close\r\n\r\n",
                        page_bytes),
            method == "GET"};
}

struct MetricsSocket::Client {
    base::UniqueFd fd;
    std::optional<std::uint32_t> uid; // of the peer; none: TCP
    Clock::time_point until;
    std::string in{}, head{};
    std::shared_ptr<const std::string> page{};
    std::size_t sent = 0; // of head and page together
    bool answered = false, closing = false, gone = false;

    std::string_view left() const {
        if (sent < head.size()) return std::string_view(head).substr(sent);
        return page ? std::string_view(*page).substr(sent - head.size()) : std::string_view();
    }
    void send();
    void receive(const Page& make);
    void answer(const Page& make);
};

// Sends as much as the client accepts now. After the last byte it waits for the peer's end: an immediate
// close would discard what the peer has not read yet, if it had sent more than was read here.
void MetricsSocket::Client::send() {
    while (!left().empty()) {
        const auto rest = left();
        const auto n = ::send(fd.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            sent += static_cast<std::size_t>(n);
        } else if (!(n < 0 && errno == EINTR)) {
            gone = n < 0 && errno != EAGAIN;
            return;
        }
    }
    page.reset();
    if (!closing) ::shutdown(fd.get(), SHUT_WR);
    closing = true;
}

void MetricsSocket::Client::answer(const Page& make) {
    auto whole = make();
    auto made = answer_scrape(in, whole ? whole->size() : 0);
    head = std::move(made.head);
    if (made.page) page = std::move(whole);
    in = {};
    answered = true;
    send();
}

void MetricsSocket::Client::receive(const Page& make) {
    std::array<char, 4096> block;
    const auto n = ::recv(fd.get(), block.data(), block.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        gone = true;
        return;
    }
    if (answered) return; // one request per connection
    in.append(block.data(), static_cast<std::size_t>(n));
    if (in.find("\r\n\r\n") != std::string::npos || in.find("\n\n") != std::string::npos) {
        answer(make);
    } else if (in.size() > most_request) {
        head = refusal("431 Request Header Fields Too Large", "this request is too long");
        answered = true;
        send();
    }
}

base::Expected<void> MetricsSocket::listen() {
    if (!at_.socket.empty()) {
        auto listener = listen_unix(at_.socket, "[agent] metrics_socket", backlog);
        if (!listener) return std::move(listener).error();
        listeners_.push_back(*std::move(listener));
        made_file_ = true;
    }
    if (at_.listen.empty()) return {};
    socklen_t size = 0;
    auto address = loopback_of(at_.listen, size);
    if (!address) return std::move(address).error().within("[agent] metrics_listen");
    base::UniqueFd listener(::socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    if (!listener || ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&*address), size) != 0 ||
        ::listen(listener.get(), backlog) != 0 ||
        ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&*address), &size) != 0)
        return base::system_error("[agent] metrics_listen: " + at_.listen, errno);
    port_ = ntohs(address->ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(*address).sin_port
                                                : reinterpret_cast<const sockaddr_in6&>(*address).sin6_port);
    listeners_.push_back(std::move(listener));
    return {};
}

base::Expected<std::unique_ptr<MetricsSocket>> MetricsSocket::open(const At& at, Page page) {
    std::unique_ptr<MetricsSocket> made(new MetricsSocket(at, std::move(page)));
    if (auto done = made->listen(); !done) return std::move(done).error();
    return made;
}

MetricsSocket::MetricsSocket(At at, Page page) : at_(std::move(at)), page_(std::move(page)) {}

MetricsSocket::~MetricsSocket() {
    if (made_file_) ::unlink(at_.socket.c_str());
}

void MetricsSocket::admit(base::UniqueFd fd, Clock::time_point now) {
    std::optional<std::uint32_t> uid;
    ucred peer{};
    socklen_t size = sizeof peer;
    int domain = 0;
    socklen_t domain_size = sizeof domain;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &domain, &domain_size) == 0 && domain == AF_UNIX &&
        ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
        uid = peer.uid;
    clients_.push_back({std::move(fd), uid, now + patience, {}});
    if (clients_.size() <= most_clients) return;
    std::map<std::optional<std::uint32_t>, std::size_t> of_uid;
    for (const auto& client : clients_)
        ++of_uid[client.uid];
    const auto most = std::max_element(of_uid.begin(), of_uid.end(), [](const auto& a, const auto& b) {
                          return a.second < b.second;
                      })->first;
    clients_.erase(std::find_if(clients_.begin(), clients_.end(),
                                [&](const Client& client) { return client.uid == most; }));
}

MetricsSocket::Clock::time_point MetricsSocket::watch(std::vector<pollfd>& into) {
    if (Clock::now() >= next_tick_) taken_ = 0;
    const bool accepting = taken_ < most_a_tick;
    for (const auto& listener : listeners_)
        into.push_back({accepting ? listener.get() : -1, POLLIN, 0});
    auto until = accepting ? Clock::time_point::max() : next_tick_;
    for (const auto& client : clients_) {
        const bool sends = client.answered && !client.closing;
        into.push_back({client.fd.get(), static_cast<short>(sends ? POLLOUT : POLLIN), 0});
        until = std::min(until, client.until);
    }
    return until;
}

void MetricsSocket::take_clients(std::span<const pollfd> listeners, Clock::time_point now) {
    for (std::size_t at = 0; at < listeners_.size(); ++at) {
        while ((listeners[at].revents & POLLIN) != 0 && taken_ < most_a_tick) {
            base::UniqueFd fd(
                ::accept4(listeners_[at].get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            const int failed = errno;
            if (taken_ == 0) next_tick_ = now + tick;
            if (fd) {
                ++taken_;
                admit(std::move(fd), now);
                continue;
            }
            // Without free descriptors the listener would be ready all the time: wait for the next tick.
            if (failed != EAGAIN && failed != ECONNABORTED && failed != EINTR) taken_ = most_a_tick;
            break;
        }
    }
}

void MetricsSocket::serve(std::span<const pollfd> watched) {
    const auto now = Clock::now();
    std::size_t i = listeners_.size();
    for (auto client = clients_.begin(); client != clients_.end(); ++i) {
        const auto events = watched[i].revents;
        if ((events & POLLOUT) != 0) client->send();
        if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !client->gone) client->receive(page_);
        client = client->gone || now >= client->until ? clients_.erase(client) : std::next(client);
    }
    take_clients(watched.first(listeners_.size()), now);
}

} // namespace restart
