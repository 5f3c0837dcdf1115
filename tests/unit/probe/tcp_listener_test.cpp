// The kernel is asked itself, about sockets of this process and of another user's.
#include "base/unique_fd.hpp"
#include "probe/tcp_listener.hpp"

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using probe::tcp_listener;

namespace {

struct Bound {
    base::UniqueFd fd;
    std::uint16_t port = 0;

    explicit Bound(int family) : fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in6 address{}; // of either family all zero but the loopback address
        socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
        auto* any = reinterpret_cast<sockaddr*>(&address);
        any->sa_family = static_cast<sa_family_t>(family);
        if (family == AF_INET)
            reinterpret_cast<sockaddr_in*>(any)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        else
            address.sin6_addr = in6addr_loopback;
        if (::bind(fd.get(), any, size) != 0) return;
        if (::getsockname(fd.get(), any, &size) == 0)
            port = ntohs(address.sin6_port); // where IPv4 has it, too
    }
    void listen() const { REQUIRE(::listen(fd.get(), 1) == 0); }
};

// What is told of the port while a process of that user listens there.
std::optional<std::uint32_t> told_of(uid_t user) {
    int ready[2], over[2];
    REQUIRE(::pipe(ready) == 0);
    REQUIRE(::pipe(over) == 0);
    const auto child = ::fork();
    if (child == 0) {
        ::close(over[1]);
        if (::setuid(user) != 0) ::_exit(1);
        const Bound mine(AF_INET);
        ::listen(mine.fd.get(), 1);
        if (::write(ready[1], &mine.port, sizeof mine.port) < 0) ::_exit(1);
        char byte = 0;
        ::_exit(::read(over[0], &byte, 1) == 0 ? 0 : 1);
    }
    ::close(ready[1]);
    std::uint16_t port = 0;
    const auto size = ::read(ready[0], &port, sizeof port);
    const auto uid = size == sizeof port ? tcp_listener(port) : std::nullopt;
    for (const auto fd : {ready[0], over[0], over[1]})
        ::close(fd);
    ::waitpid(child, nullptr, 0);
    return uid;
}

} // namespace

TEST_CASE("the kernel tells whose processes listen") {
    const Bound ours(AF_INET);
    REQUIRE(ours.port != 0);
    CHECK_FALSE(tcp_listener(ours.port)); // bound, and not listening
    ours.listen();
    CHECK(tcp_listener(ours.port) == ::getuid());

    const Bound six(AF_INET6);
    if (six.port != 0) { // where the kernel has IPv6
        six.listen();
        CHECK(tcp_listener(six.port) == ::getuid());
    }
    if (::getuid() == 0) CHECK(told_of(65534) == 65534U);
}

TEST_CASE("who is connected does not listen") {
    const Bound server(AF_INET), client(AF_INET);
    server.listen();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(client.fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    CHECK_FALSE(tcp_listener(client.port));
}
