#include "restart/wire/http_client.hpp"
#include "restart/wire/http_server.hpp"
#include "restart/wire/operator.hpp"

#include "base/unique_fd.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <arpa/inet.h>
#include <atomic>
#include <mutex>
#include <netinet/in.h>
#include <optional>
#include <set>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>

using namespace std::chrono_literals;
using restart::HttpClient;
using restart::HttpLimits;
using restart::HttpRequest;
using restart::HttpResponse;
using restart::HttpServer;

namespace {

// Answers with what arrived.
HttpResponse echo(const HttpRequest& request) {
    std::string text = fmt::format("{} {} [{}]", request.method, request.path, request.body);
    for (const auto& [name, value] : request.query)
        text += fmt::format(" {}={}", name, value);
    return {request.path == "/missing" ? 404U : 200U, text, "text/plain"};
}

struct Refusals {
    std::mutex mutex;
    std::map<std::string, int> count;
    void operator()(std::string_view reason) {
        const std::lock_guard lock(mutex);
        ++count[std::string(reason)];
    }
    int of(const std::string& reason) {
        const std::lock_guard lock(mutex);
        return count[reason];
    }
};

HttpServer serve(HttpLimits limits = {}, HttpServer::Handler handler = echo, Refusals* refusals = nullptr) {
    limits.workers = {2};
    HttpServer::Callbacks callbacks{std::move(handler)};
    callbacks.refused = [refusals](std::string_view reason) {
        if (refusals != nullptr) (*refusals)(reason);
    };
    auto server = HttpServer::start({"127.0.0.1", 0}, limits, callbacks);
    REQUIRE(server);
    return *std::move(server);
}

std::string url(const HttpServer& server) {
    return fmt::format("http://127.0.0.1:{}", server.port());
}

HttpClient client_of(const HttpServer& server) {
    auto client = HttpClient::make(url(server));
    REQUIRE(client);
    return *std::move(client);
}

// A plain socket, for what no client of ours would send.
struct Raw {
    base::UniqueFd fd;
    explicit Raw(std::uint16_t port) : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval longest{std::chrono::ceil<std::chrono::seconds>(test::patience()).count(), 0};
        ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
        REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    }
    void send(std::string_view text) const {
        [[maybe_unused]] const auto n = ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    }
    // Everything until the server closes; "(timeout)" at its end when it does not.
    std::string rest() const {
        std::string all;
        char block[4096];
        for (;;) {
            const auto n = ::recv(fd.get(), block, sizeof block, 0);
            if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return all + "(timeout)";
            if (n <= 0) return all;
            all.append(block, static_cast<std::size_t>(n));
        }
    }
};

} // namespace

TEST_CASE("one connection carries many requests") {
    std::mutex mutex;
    std::set<std::pair<std::string, bool>> peers;
    const auto server = serve({}, [&](const HttpRequest& request) {
        const std::lock_guard lock(mutex);
        peers.emplace(request.peer, request.from_this_machine);
        return echo(request);
    });
    auto client = client_of(server);
    for (int i = 0; i < 100; ++i) {
        const auto answer =
            client.request("POST", fmt::format("/p?x={}&who=a%20b", i), "body", test::patience());
        REQUIRE(answer);
        CHECK(answer->status == 200);
        CHECK(answer->body == fmt::format("POST /p [body] who=a b x={}", i));
        CHECK(answer->content_type == "text/plain");
    }
    CHECK(client.request("GET", "/missing", "", test::patience())->status == 404);
    CHECK(peers == std::set<std::pair<std::string, bool>>{{"127.0.0.1", true}});
}

TEST_CASE("a connection that the server closed is opened again") {
    HttpLimits limits;
    limits.idle = 300ms;
    const auto server = serve(limits);
    auto client = client_of(server);
    REQUIRE(client.request("GET", "/a", "", test::patience()));
    // Another is closed that has been idle for a shorter time than the client's, so that is closed as well.
    CHECK(Raw(server.port()).rest().empty());
    REQUIRE(client.request("GET", "/b", "", test::patience()));

    auto first = std::optional<HttpServer>(serve());
    const auto port = first->port();
    auto other = client_of(*first);
    REQUIRE(other.request("GET", "/a", "", test::patience()));
    first.reset();
    const auto gone = other.request("GET", "/a", "", test::patience());
    REQUIRE_FALSE(gone);
    CHECK(gone.error().code == base::Code::unavailable);
    CHECK(gone.error().text.find(fmt::format("127.0.0.1:{}", port)) != std::string::npos);
    auto second = HttpServer::start({"127.0.0.1", port}, {}, {echo});
    REQUIRE(second);
    CHECK(other.request("GET", "/a", "", test::patience()));
}

TEST_CASE("a client does not wait longer than its timeout") {
    std::atomic<bool> release = false;
    auto server = serve({}, [&](const HttpRequest& request) {
        while (!release) // never, if the client waits for the answer
            std::this_thread::sleep_for(5ms);
        return echo(request);
    });
    auto client = client_of(server);
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = client.request("GET", "/", "", 200ms);
    const auto took = std::chrono::steady_clock::now() - begin;
    release = true;
    REQUIRE_FALSE(answer);
    CHECK(answer.error().text.find("timed out") != std::string::npos);
    CHECK(took >= 190ms);
}

TEST_CASE("oversized and malformed requests are answered and closed") {
    Refusals refusals;
    HttpLimits limits;
    limits.body_bytes = 1000;
    limits.header_bytes = 2000;
    const auto server = serve(limits, echo, &refusals);
    const auto answer_to = [&](const std::string& text) {
        const Raw raw(server.port());
        raw.send(text);
        return raw.rest();
    };
    CHECK(answer_to("POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'))
              .starts_with("HTTP/1.1 413"));
    CHECK(answer_to("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" + std::string(2048, 'x') +
                    "\r\n0\r\n\r\n")
              .starts_with("HTTP/1.1 413"));
    CHECK(
        answer_to("GET / HTTP/1.1\r\nX: " + std::string(3000, 'x') + "\r\n\r\n").starts_with("HTTP/1.1 431"));
    CHECK(refusals.of("too_large") == 3);
    CHECK(answer_to("nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    CHECK(answer_to("GET nonsense HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400"));
    CHECK(answer_to("GET /?x=%zz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400"));
    CHECK(refusals.of("malformed") == 3);
    auto client = client_of(server); // and the server goes on
    CHECK(client.request("POST", "/", std::string(1000, 'x'), test::patience())->status == 200);
    const auto large = client.request("POST", "/", std::string(1001, 'x'), test::patience());
    REQUIRE(large);
    CHECK(large->status == 413);
}

TEST_CASE("a large body is taken of an admitted sender alone, who is judged before it comes") {
    HttpLimits limits;
    limits.small_body_bytes = 1000;
    limits.body_bytes = 2000;
    std::atomic<int> asked = 0;
    HttpServer::Callbacks callbacks{[](const HttpRequest& request) {
        const auto uid = request.credential ? request.credential->uid : 0;
        return HttpResponse{200, fmt::format("{} of {}", request.body.size(), uid)};
    }};
    callbacks.admit = [&](HttpRequest& request) {
        ++asked;
        CHECK(request.body.empty());
        request.credential = restart::Credential{7, 8, "digest", {}};
        return request.path == "/agent";
    };
    const auto server = HttpServer::start({"127.0.0.1", 0}, limits, callbacks);
    REQUIRE(server);
    auto client = client_of(*server);
    const auto post = [&](const char* path, std::size_t bytes) {
        const auto answer = client.request("POST", path, std::string(bytes, 'x'), test::patience());
        REQUIRE(answer);
        return fmt::format("{} {}", answer->status, answer->status == 200 ? answer->body : "");
    };
    CHECK(post("/anybody", 1000) == "200 1000 of 0");
    CHECK(asked == 0);
    CHECK(post("/agent", 2000) == "200 2000 of 7");
    CHECK(post("/agent", 10) == "200 10 of 0"); // of the next request nothing is known
    CHECK(post("/anybody", 1001) == "413 ");
    CHECK(post("/agent", 2001) == "413 ");
    CHECK(asked == 3);
}

TEST_CASE("a lane whose workers are all busy holds up no other lane") {
    HttpLimits limits;
    limits.workers = {1, 2};
    std::mutex held;
    held.lock();
    HttpServer::Callbacks callbacks{[&](const HttpRequest& request) {
        if (request.path == "/slow") const std::lock_guard wait(held);
        return echo(request);
    }};
    callbacks.lane = [](const HttpRequest& request) { return request.path == "/slow" ? 1U : 0U; };
    const auto server = HttpServer::start({"127.0.0.1", 0}, limits, callbacks);
    REQUIRE(server);
    std::vector<std::jthread> readers;
    std::atomic<int> answered = 0;
    for (int i = 0; i < 8; ++i)
        readers.emplace_back([&] {
            auto client = client_of(*server);
            const auto answer = client.request("GET", "/slow", "", test::patience());
            answered += answer && answer->status == 200;
        });
    auto agent = client_of(*server);
    for (int i = 0; i < 20; ++i)
        CHECK(agent.request("POST", "/report", "body", test::patience())->status == 200);
    CHECK(answered == 0);
    held.unlock();
    readers.clear();
    CHECK(answered == 8);
}

TEST_CASE("a request sent drop by drop is closed, an idle connection too") {
    Refusals refusals;
    HttpLimits limits;
    limits.request = 200ms;
    limits.idle = 600ms;
    const auto server = serve(limits, echo, &refusals);
    const Raw slow(server.port());
    slow.send("GET / HTTP/1.1\r\nX-Very-Long-Header: ");
    const Raw silent(server.port());
    std::jthread drops([&](const std::stop_token& stop) {
        for (; !stop.stop_requested(); std::this_thread::sleep_for(50ms))
            slow.send("."); // there is no end to it
    });
    CHECK(slow.rest().empty());
    drops.request_stop();
    CHECK(silent.rest().empty());
    CHECK(refusals.of("timeout") == 1);
}

TEST_CASE("more connections than allowed are closed at once") {
    Refusals refusals;
    HttpLimits limits;
    limits.connections = 2;
    const auto server = serve(limits, echo, &refusals);
    auto one = client_of(server);
    auto two = client_of(server);
    REQUIRE(one.request("GET", "/", "", test::patience()));
    REQUIRE(two.request("GET", "/", "", test::patience()));
    const Raw three(server.port());
    CHECK(three.rest().empty());
    CHECK(refusals.of("too_many_connections") == 1);
    REQUIRE(one.request("GET", "/", "", test::patience()));
}

TEST_CASE("a stopping server finishes what it has begun") {
    std::atomic<bool> entered = false;
    auto server = serve({}, [&](const HttpRequest& request) {
        entered = true;
        std::this_thread::sleep_for(200ms);
        return echo(request);
    });
    auto idle = client_of(server);
    std::optional<base::Expected<HttpResponse>> answer;
    std::jthread asking([&] {
        auto client = client_of(server);
        answer = client.request("GET", "/slow", "", test::patience());
    });
    REQUIRE(test::eventually([&] { return entered.load(); }));
    server.stop();
    asking.join();
    REQUIRE(answer);
    REQUIRE(*answer);
    CHECK((*answer)->body == "GET /slow []");
    CHECK_FALSE(idle.request("GET", "/", "", test::patience()));
}

TEST_CASE("an address in use is named") {
    const auto server = serve();
    const auto second = HttpServer::start({"127.0.0.1", server.port()}, {}, {echo});
    REQUIRE_FALSE(second);
    CHECK(second.error().text ==
          fmt::format("127.0.0.1:{}: cannot listen: Address already in use", server.port()));
}

TEST_CASE("what is no plain letter is escaped") {
    CHECK(restart::percent_encode("a b/ü~") == "a%20b%2F%C3%BC~");
}

TEST_CASE("of several addresses the one that neither is away nor stands by is asked, and asked first again") {
    std::atomic<int> asked = 0;
    std::atomic<bool> hands_over = false;
    const auto answers = [&](bool standby) {
        return [&asked, &hands_over, standby](const HttpRequest&) -> HttpResponse {
            ++asked;
            if (standby == hands_over) return {200, standby ? "second" : "first", "text/plain"};
            return {503, restart::Refused{"standby", "stands by", "http://there:1"}.to_json(),
                    "application/json"};
        };
    };
    const auto first = serve({}, answers(false)), second = serve({}, answers(true));
    auto client =
        HttpClient::make({"http://127.0.0.1:1", url(second), url(first)}); // nothing listens at the first
    REQUIRE(client);
    const auto ask = [&] { return client->request("GET", "/", "", test::patience()); };
    CHECK(ask()->body == "first");
    CHECK(client->url() == url(first));
    CHECK(asked == 2);
    CHECK(ask()->body == "first");
    CHECK(asked == 3); // nobody else was asked
    hands_over = true;
    CHECK(ask()->body == "second");
    CHECK(client->url() == url(second));
}

TEST_CASE("when no address serves the error names each, and a refusal that is no standby's is an answer") {
    const auto standby = serve({}, [](const HttpRequest&) -> HttpResponse {
        return {503, restart::Refused{"standby", "stands by"}.to_json(), "application/json"};
    });
    auto client = HttpClient::make({"http://127.0.0.1:1", url(standby)});
    const auto none = client->request("GET", "/", "", test::patience());
    REQUIRE_FALSE(none);
    CHECK(none.error().code == base::Code::unavailable);
    CHECK(none.error().text.find("http://127.0.0.1:1: cannot connect") != std::string::npos);
    CHECK(none.error().text.find(url(standby) + ": stands by") != std::string::npos);
    const auto busy = serve({}, [](const HttpRequest&) -> HttpResponse {
        return {503, restart::Refused{"unavailable", "no Slurm"}.to_json(), "application/json"};
    });
    auto other = HttpClient::make({url(standby), url(busy)});
    CHECK(other->request("GET", "/", "", test::patience())->status == 503);
    CHECK_FALSE(HttpClient::make(std::vector<std::string>()));
}
