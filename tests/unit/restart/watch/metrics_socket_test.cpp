// Scrapes by good and bad clients, over both kinds of sockets.
#include "restart/watch/metrics_socket.hpp"

#include "unit/folder.hpp"
#include "unit/patience.hpp"
#include "unit/restart/watch/served_thread.hpp"

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

using namespace std::string_view_literals;
using namespace restart;

namespace {

base::UniqueFd connected(const sockaddr* address, socklen_t size) {
    base::UniqueFd fd(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval longest{std::chrono::ceil<std::chrono::seconds>(test::patience()).count(), 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    REQUIRE(::connect(fd.get(), address, size) == 0);
    return fd;
}
base::UniqueFd connect_to(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);
    return connected(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}
base::UniqueFd connect_to(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connected(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}
bool send_text(const base::UniqueFd& fd, std::string_view text) {
    return ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}
// All until the other end closes.
std::string read_all(const base::UniqueFd& fd) {
    std::string text;
    std::array<char, 65536> block;
    for (ssize_t n; (n = ::recv(fd.get(), block.data(), block.size(), 0)) > 0;)
        text.append(block.data(), static_cast<std::size_t>(n));
    return text;
}
constexpr std::string_view get = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

struct Scraped {
    explicit Scraped(std::string text = "up 1\n")
        : page(std::make_shared<const std::string>(std::move(text))) {
        auto opened = MetricsSocket::open({path(), "127.0.0.1:0"}, [this] {
            ++asked;
            return page;
        });
        INFO((opened ? std::string() : opened.error().text));
        REQUIRE(opened);
        socket = *std::move(opened);
        serves = std::make_unique<test::ServedThread>(*socket);
    }
    std::filesystem::path path() const { return folder.path / "metrics.sock"; }
    std::string scrape(std::string_view request = get) const {
        const auto fd = connect_to(path());
        REQUIRE(send_text(fd, request));
        return read_all(fd);
    }

    test::Folder folder;
    std::shared_ptr<const std::string> page;
    std::atomic<unsigned> asked = 0;
    std::unique_ptr<MetricsSocket> socket;
    std::unique_ptr<test::ServedThread> serves;
};

} // namespace

TEST_CASE("a scrape gets the page, by the Unix socket and by loopback, and one of many bytes whole") {
    const std::string large(3 << 20, 'x');
    Scraped served(large);
    for (const bool tcp : {false, true}) {
        const auto fd = tcp ? connect_to(served.socket->port()) : connect_to(served.path());
        REQUIRE(send_text(fd, get));
        const auto answer = read_all(fd);
        CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
        CHECK(answer.find(fmt::format("Content-Length: {}\r\n", large.size())) != std::string::npos);
        CHECK(answer.find("text/plain; version=0.0.4") != std::string::npos);
        CHECK(answer.ends_with("\r\n\r\n" + large));
    }
    CHECK(std::filesystem::status(served.path()).permissions() == std::filesystem::perms(0666));
    served.serves.reset();
    served.socket.reset();
    CHECK_FALSE(std::filesystem::exists(served.path()));
}

TEST_CASE("requests that are none are answered and closed") {
    Scraped served;
    CHECK(served.scrape("HEAD /metrics HTTP/1.0\r\n\r\n").ends_with("Connection: close\r\n\r\n"));
    CHECK(served.scrape("GET /metrics?name[]=up HTTP/1.1\r\n\r\n").ends_with("up 1\n"));
    CHECK(served.scrape("GET /metrics HTTP/1.1\n\n").ends_with("up 1\n"));
    CHECK(served.scrape("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    CHECK(served.scrape("GET /metricsx HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    CHECK(served.scrape("GET /../metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    for (const auto garbage : {"\r\n\r\n"sv, "GET\r\n\r\n"sv, "GET /metrics\r\n\r\n"sv,
                               "GET /metrics HTTP/2\r\n\r\n"sv, "\0\0\r\n\r\n"sv})
        CHECK(served.scrape(garbage).starts_with("HTTP/1.1 400 "));
    CHECK(served.scrape(std::string(MetricsSocket::most_request + 4096, 'a')).starts_with("HTTP/1.1 431 "));
    served.page = std::make_shared<const std::string>();
    CHECK(served.scrape().starts_with("HTTP/1.1 503 "));
}

TEST_CASE("a request in pieces is awaited, one that ends before its time is not") {
    Scraped served;
    const auto fd = connect_to(served.path());
    for (const char c : get)
        REQUIRE(send_text(fd, std::string(1, c)));
    CHECK(read_all(fd).ends_with("up 1\n"));
    const auto half = connect_to(served.path());
    REQUIRE(send_text(half, "GET /metrics HTTP/1.1\r\n"));
    ::shutdown(half.get(), SHUT_WR);
    CHECK(read_all(half).empty());
    CHECK(served.asked == 1);
}

TEST_CASE("clients that hold connections keep nobody out, and lose them in time") {
    Scraped served(std::string(8 << 20, 'x'));
    std::vector<base::UniqueFd> mute, slow;
    for (std::size_t i = 0; i < MetricsSocket::most_clients; ++i)
        mute.push_back(connect_to(served.socket->port()));
    for (std::size_t i = 0; i < MetricsSocket::most_clients; ++i) {
        slow.push_back(connect_to(served.path()));
        send_text(slow.back(), get); // and the answer is not read
    }
    CHECK(served.scrape().ends_with("x"));
    for (const auto& fd : mute) {
        char byte = 0;
        CHECK(::recv(fd.get(), &byte, 1, 0) <= 0); // closed: for the others, or at its time
    }
}

TEST_CASE("only loopback is listened at, and what stands in the way is named") {
    const auto page = [] { return std::make_shared<const std::string>("x"); };
    for (const auto* at : {"0.0.0.0:0", "127.evil.example:0", "192.0.2.1:0", "[::]:0", "localhost", "x"}) {
        INFO(at);
        const auto opened = MetricsSocket::open({{}, at}, page);
        REQUIRE_FALSE(opened);
        CHECK(opened.error().code == base::Code::input);
        CHECK(opened.error().text.starts_with("[agent] metrics_listen"));
    }
    CHECK(MetricsSocket::open({{}, "localhost:0"}, page));
    Scraped served;
    const auto taken = MetricsSocket::open({{}, fmt::format("127.0.0.1:{}", served.socket->port())}, page);
    REQUIRE_FALSE(taken);
    CHECK(taken.error().text.find("Address already in use") != std::string::npos);
    const auto second = MetricsSocket::open({served.path(), {}}, page);
    REQUIRE_FALSE(second);
    CHECK(second.error().text.find("[agent] metrics_socket") != std::string::npos);
    CHECK(served.scrape().ends_with("up 1\n"));
}
