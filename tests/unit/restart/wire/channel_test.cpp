#include "restart/wire/channel.hpp"

#include "private_munged.hpp"
#include "restart/wire/http_client.hpp"
#include "restart/wire/http_server.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <atomic>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace restart;

namespace {

const auto dawn = std::chrono::steady_clock::time_point(100h);

// Both ends of one connection, this process's user at each.
struct Ends {
    test::PrivateMunged munged;
    MungeAuth auth{munged.socket(), std::to_string(::geteuid())};
    ServerChannel server;
    ClientChannel client{auth};

    HttpRequest request(std::string body, std::chrono::steady_clock::time_point now = dawn) {
        HttpRequest made;
        made.method = "POST";
        made.target = "/v1/report";
        made.body = std::move(body);
        made.channel = &server;
        const auto header = client.authorize(made.method, made.target, made.body, now);
        REQUIRE(header);
        made.authorization = *header;
        return made;
    }
    bool accepts(const HttpRequest& request, std::chrono::steady_clock::time_point now = dawn) {
        const auto caller = authenticate(request, auth, now);
        if (!caller) CHECK(caller.error().code == base::Code::denied);
        if (caller) CHECK(caller->uid == ::geteuid());
        return bool(caller);
    }
};

bool by_munge(const HttpRequest& request) {
    return request.authorization.starts_with("MUNGE ");
}

} // namespace

TEST_CASE("one credential opens a connection, and every answer on it is signed") {
    Ends ends;
    NEED_MUNGED(ends.munged);
    for (int i = 0; i < 5; ++i) {
        const auto request = ends.request(fmt::format("body {}", i));
        CHECK(by_munge(request) == (i == 0));
        REQUIRE(ends.accepts(request));
        const auto proof = ends.server.proof(200, "done");
        CHECK(ends.client.check(200, "done", proof));
        CHECK_FALSE(ends.client.check(200, "undone", proof));
        CHECK_FALSE(ends.client.check(202, "done", proof));
        CHECK(ends.server.proof(200, "done").empty()); // once
    }
    CHECK(ends.client.resumed());
    ends.client.reset();
    CHECK(by_munge(ends.request("another connection")));
}

TEST_CASE("on a connection a request serves once, in its place and as it was made") {
    Ends ends;
    NEED_MUNGED(ends.munged);
    REQUIRE(ends.accepts(ends.request("first")));
    auto request = ends.request("second");
    SECTION("replayed") {
        REQUIRE(ends.accepts(request));
        CHECK_FALSE(ends.accepts(request));
    }
    SECTION("changed") {
        request.body = "another";
        CHECK_FALSE(ends.accepts(request));
        CHECK(ends.server.proof(401, "no").empty());
    }
    SECTION("to another target") {
        request.target = "/v1/drain";
        CHECK_FALSE(ends.accepts(request));
    }
    SECTION("out of turn") {
        const auto third = ends.request("third");
        CHECK_FALSE(ends.accepts(third));
        CHECK(ends.accepts(request));
    }
    SECTION("on another connection") {
        ServerChannel other;
        request.channel = &other;
        CHECK_FALSE(ends.accepts(request));
    }
    SECTION("what is no proof at all") {
        for (const char* text :
             {"Railyard ", "Railyard 1", "Railyard 1 ", "Railyard x y", "Railyard 1 00", "Railyard -1 00"}) {
            request.authorization = text;
            INFO(text);
            CHECK_FALSE(ends.accepts(request));
        }
    }
}

TEST_CASE("an answer serves the request it was made for") {
    Ends ends;
    NEED_MUNGED(ends.munged);
    REQUIRE(ends.accepts(ends.request("first")));
    const auto first = ends.server.proof(200, "{}");
    REQUIRE(ends.accepts(ends.request("second")));
    const auto denied = ends.client.check(200, "{}", first);
    REQUIRE_FALSE(denied);
    CHECK(denied.error().text.find("wrongly signed") != std::string::npos);
    CHECK(ends.client.check(200, "{}", "").error().text.find("not signed") != std::string::npos);
    CHECK(ends.client.check(200, "{}", ends.server.proof(200, "{}")));
}

TEST_CASE("a key lives for an hour, and not for two on the server") {
    Ends ends;
    NEED_MUNGED(ends.munged);
    REQUIRE(ends.accepts(ends.request("first", dawn), dawn));
    const auto last = ends.request("last", dawn + 59min);
    CHECK_FALSE(by_munge(last));
    SECTION("the client takes a new one, on the same connection") {
        REQUIRE(ends.accepts(last, dawn + 59min));
        const auto renewed = ends.request("renewed", dawn + 60min);
        CHECK(by_munge(renewed));
        CHECK(ends.accepts(renewed, dawn + 60min));
        const auto next = ends.request("next", dawn + 61min);
        CHECK_FALSE(by_munge(next));
        CHECK(ends.accepts(next, dawn + 61min));
    }
    SECTION("the server refuses one that is twice as old") {
        CHECK_FALSE(ends.accepts(last, dawn + 121min));
        CHECK_FALSE(ends.server.caller());
    }
}

TEST_CASE("a credential with a key opens for restartd's user alone") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    const MungeAuth to_nobody(munged.socket(), "65534");
    const ChannelKey key{};
    const auto header = to_nobody.sign("GET", "/", "", &key);
    REQUIRE(header);
    const auto opened = to_nobody.open(*header);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == base::Code::denied);
    CHECK(opened.error().text.find("[restartd] user") != std::string::npos);
    const auto unknown = MungeAuth(munged.socket(), "no-such-user").sign("GET", "/", "", &key);
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().text == "[restartd] user: this host knows no user \"no-such-user\"");
}

TEST_CASE("an answer without restartd's signature is none; a refusal is heard") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    const MungeAuth auth(munged.socket(), std::to_string(::geteuid()));
    std::atomic<int> by_credential = 0, by_key = 0;
    std::atomic<bool> forgets = false, signs = true;
    HttpServer::Callbacks callbacks{[&](const HttpRequest& request) -> HttpResponse {
        if (forgets.exchange(false)) *request.channel = ServerChannel();
        if (!authenticate(request, auth, std::chrono::steady_clock::now())) return {401, "who?"};
        ++(by_munge(request) ? by_credential : by_key);
        HttpResponse response{request.path == "/missing" ? 404U : 200U, "yes"};
        if (signs) response.proof = request.channel->proof(response.status, response.body);
        return response;
    }};
    const auto server = HttpServer::start({"127.0.0.1", 0}, {}, callbacks);
    REQUIRE(server);
    auto client = HttpClient::make(fmt::format("http://127.0.0.1:{}", server->port()), auth);
    REQUIRE(client);
    const auto ask = [&](const char* target) { return client->request("GET", target, "", test::patience()); };
    for (int i = 0; i < 3; ++i)
        REQUIRE(ask("/"));
    CHECK(by_credential == 1);
    CHECK(by_key == 2);
    SECTION("a key that the server has forgotten is made anew") {
        forgets = true;
        const auto answer = ask("/");
        REQUIRE(answer);
        CHECK(answer->status == 200);
        CHECK(by_credential == 2);
    }
    SECTION("an impostor") {
        signs = false;
        const auto answer = ask("/");
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code == base::Code::denied);
        CHECK(ask("/missing")->status == 404);
        signs = true;
        CHECK(ask("/"));
    }
}
