#include "base/knock.hpp"

#include "base/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

namespace base {
namespace {

// The events that poll() reports for the descriptor; 0: none within this time.
short await(int fd, short events, Duration patience) {
    using Steady = std::chrono::steady_clock;
    pollfd watched{fd, events, 0};
    for (const auto until = Steady::now() + patience;;) {
        const auto left = std::chrono::ceil<Duration>(until - Steady::now());
        const int ready = ::poll(&watched, 1, static_cast<int>(std::max<Duration::rep>(0, left.count())));
        if (ready < 0 && errno == EINTR) continue;
        return ready > 0 ? watched.revents : short{0};
    }
}

// For a connection that failed.
Knocked of_error(int error) {
    switch (error) {
    case ECONNREFUSED:
    case ECONNRESET: return Knocked::refused;
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case EHOSTDOWN: return Knocked::unreached;
    default: return Knocked::unknown;
    }
}

} // namespace

Knocked knock(const std::string& host, std::uint16_t port, Duration patience) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &found) != 0)
        return Knocked::unknown;
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
    const UniqueFd fd(
        ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, found->ai_protocol));
    if (!fd) return Knocked::unknown;
    if (::connect(fd.get(), found->ai_addr, found->ai_addrlen) != 0) {
        if (errno != EINPROGRESS) return of_error(errno);
        if (await(fd.get(), POLLOUT, patience) == 0) return Knocked::unreached;
        int error = 0;
        socklen_t size = sizeof error;
        if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return Knocked::unknown;
        if (error != 0) return of_error(error);
    }
    ::shutdown(fd.get(), SHUT_WR);
    return await(fd.get(), POLLIN, patience) != 0 ? Knocked::answers : Knocked::mute;
}

std::vector<std::string> addresses_of(const std::string& host) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, ::freeaddrinfo);
    std::vector<std::string> addresses;
    for (const auto* one = found; one != nullptr; one = one->ai_next) {
        char text[NI_MAXHOST] = "";
        if (::getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) ==
                0 &&
            std::find(addresses.begin(), addresses.end(), text) == addresses.end())
            addresses.emplace_back(text);
    }
    return addresses;
}

} // namespace base
