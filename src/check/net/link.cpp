#include "check/net/link.hpp"

#include "base/wait_ready.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace check::net {

namespace {

base::Error gone(std::string_view what) {
    return {base::Code::unavailable, std::string(what)};
}

void at_once(int fd) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// The port that the kernel chose for a socket bound to any port.
std::uint16_t port_of(int fd) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                               : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

base::Expected<base::UniqueFd> connected(const addrinfo& to, Moment deadline) {
    base::UniqueFd fd(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return base::system_error("socket", errno);
    if (::connect(fd.get(), to.ai_addr, to.ai_addrlen) != 0 && errno != EINPROGRESS)
        return base::system_error("connect", errno);
    if (!base::wait_ready(fd.get(), POLLOUT, deadline)) return gone("no answer");
    int failed = 0;
    socklen_t size = sizeof failed;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failed, &size) != 0 || failed != 0)
        return base::system_error("connect", failed);
    at_once(fd.get());
    return fd;
}

} // namespace

base::Expected<void> Link::send(std::string_view text, Moment deadline) {
    const auto size = static_cast<std::uint32_t>(text.size());
    std::string frame;
    for (int shift = 24; shift >= 0; shift -= 8)
        frame += static_cast<char>(size >> shift & 255);
    frame += text;
    for (std::string_view rest = frame; !rest.empty();) {
        const auto sent = ::send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0)
            rest.remove_prefix(static_cast<std::size_t>(sent));
        else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!base::wait_ready(fd_.get(), POLLOUT, deadline)) return gone("it takes nothing more");
        } else if (errno != EINTR)
            return gone(std::strerror(errno));
    }
    return {};
}

base::Expected<std::optional<std::string>> Link::take(std::size_t longest) {
    std::array<char, 65536> part;
    for (;;) {
        if (read_.size() >= 4) {
            std::size_t size = 0;
            for (std::size_t i = 0; i < 4; ++i)
                size = size << 8 | static_cast<unsigned char>(read_[i]);
            if (size > longest) return gone("what it sends is no message");
            if (read_.size() >= size + 4) {
                auto text = read_.substr(4, size);
                read_.erase(0, size + 4);
                return std::optional(std::move(text));
            }
        }
        const auto got = ::recv(fd_.get(), part.data(), part.size(), MSG_DONTWAIT);
        if (got > 0)
            read_.append(part.data(), static_cast<std::size_t>(got));
        else if (got == 0)
            return gone("it has ended");
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return std::optional<std::string>();
        else if (errno != EINTR)
            return gone(std::strerror(errno));
    }
}

base::Expected<std::string> Link::receive(Moment deadline, std::size_t longest) {
    for (;;) {
        auto message = take(longest);
        if (!message) return std::move(message).error();
        if (*message) return std::move(**message);
        if (!base::wait_ready(fd_.get(), POLLIN, deadline)) return gone("no word from it");
    }
}

base::Expected<Listener> listen_on(const std::vector<std::uint16_t>& ports) {
    int failed = EADDRINUSE;
    for (const auto port : ports) {
        base::UniqueFd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        const bool six = static_cast<bool>(fd);
        if (!six) fd = base::UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (!fd) return base::system_error("socket", errno);
        const int on = 1, off = 0;
        ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (six) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        sockaddr_in6 any6{};
        any6.sin6_family = AF_INET6;
        any6.sin6_port = htons(port);
        sockaddr_in any4{};
        any4.sin_family = AF_INET;
        any4.sin_port = htons(port);
        const auto* address =
            six ? reinterpret_cast<const sockaddr*>(&any6) : reinterpret_cast<const sockaddr*>(&any4);
        if (::bind(fd.get(), address, six ? sizeof any6 : sizeof any4) == 0 &&
            ::listen(fd.get(), 4096) == 0) {
            const auto got = port != 0 ? port : port_of(fd.get());
            return Listener{std::move(fd), got};
        }
        failed = errno;
    }
    return base::system_error(fmt::format("ports {} to {}", ports.front(), ports.back()), failed);
}

base::Expected<Link> connect_to(const std::string& host, std::uint16_t port, Moment deadline) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
        failed != 0)
        return base::Error{base::Code::not_found, fmt::format("{}: {}", host, ::gai_strerror(failed))};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
    base::Error last = gone("no address");
    for (const auto* one = found; one != nullptr; one = one->ai_next) {
        auto fd = connected(*one, deadline);
        if (fd) return Link(*std::move(fd));
        last = fd.error();
    }
    return std::move(last).within(fmt::format("{}:{}", host, port));
}

} // namespace check::net
