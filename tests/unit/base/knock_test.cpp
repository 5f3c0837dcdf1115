#include "base/knock.hpp"

#include "base/unique_fd.hpp"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

using base::Knocked;
using namespace std::chrono_literals;

namespace {

// A port of this machine; the kernel takes connections for it while nobody accepts them.
struct Port {
    base::UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::uint16_t number = 0;

    Port() {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        auto* address = reinterpret_cast<sockaddr*>(&at);
        socklen_t size = sizeof at;
        REQUIRE(::bind(fd.get(), address, size) == 0);
        REQUIRE(::listen(fd.get(), 8) == 0);
        REQUIRE(::getsockname(fd.get(), address, &size) == 0);
        number = ::ntohs(at.sin_port);
    }
};

} // namespace

TEST_CASE("a program that lives closes the connection on which nothing is said") {
    Port port;
    std::thread program([&] {
        const base::UniqueFd taken(::accept(port.fd.get(), nullptr, nullptr));
        char byte = 0;
        CHECK(::read(taken.get(), &byte, 1) == 0);
    });
    CHECK(base::knock("127.0.0.1", port.number, 30s) == Knocked::answers);
    program.join();
}

TEST_CASE("one that does not run any more is mute though its kernel takes the connection") {
    Port port;
    CHECK(base::knock("127.0.0.1", port.number, 50ms) == Knocked::mute);
}

TEST_CASE("a port that nobody serves refuses, and a name that nobody has says nothing") {
    std::uint16_t number = 0;
    {
        Port port;
        number = port.number;
    }
    CHECK(base::knock("127.0.0.1", number, 30s) == Knocked::refused);
    CHECK(base::knock("no host has this name", 6818, 50ms) == Knocked::unknown);
}

TEST_CASE("what takes nothing is not reached") {
    Port port;
    // A backlog that is full: the kernel says nothing to those that come.
    std::vector<base::UniqueFd> waiting;
    auto told = Knocked::mute;
    for (int i = 0; i < 64 && told == Knocked::mute; ++i) {
        waiting.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = ::htons(port.number);
        at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        ::connect(waiting.back().get(), reinterpret_cast<sockaddr*>(&at), sizeof at);
        told = base::knock("127.0.0.1", port.number, 20ms);
    }
    CHECK(told == Knocked::unreached);
}
