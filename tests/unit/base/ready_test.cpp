#include "base/ready.hpp"

#include "base/unique_fd.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

TEST_CASE("readiness is one line, then the end") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const base::UniqueFd reading(ends[0]);
    REQUIRE(base::report_ready(ends[1]));
    std::array<char, 32> text{};
    CHECK(::read(reading.get(), text.data(), text.size()) == 6);
    CHECK(std::string(text.data()) == "READY\n");
    CHECK(::read(reading.get(), text.data(), text.size()) == 0);
}

TEST_CASE("readiness asked for on a closed descriptor is an error, unasked it is none") {
    const auto told = base::report_ready(987654);
    REQUIRE_FALSE(told);
    CHECK(told.error().text.find("--ready-fd 987654") != std::string::npos);
    CHECK(base::report_ready(-1));
}

TEST_CASE("systemd is told where it listens") {
    const base::UniqueFd systemd(::socket(AF_UNIX, SOCK_DGRAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = "/tmp/railyard-ready-" + std::to_string(::getpid());
    std::memcpy(address.sun_path, name.c_str(), name.size());
    REQUIRE(::bind(systemd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    CHECK(base::report_ready(-1));
    ::unsetenv("NOTIFY_SOCKET");
    ::unlink(name.c_str());
    std::array<char, 32> text{};
    CHECK(::recv(systemd.get(), text.data(), text.size(), MSG_DONTWAIT) == 7);
    CHECK(std::string(text.data()) == "READY=1");
}
