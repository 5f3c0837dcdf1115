#include "restart/wire/munge_auth.hpp"

#include "private_munged.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

using restart::MungeAuth;

TEST_CASE("a request's digest is SHA-256 of method, target and body") {
    // printf 'POST\n/v1/report\n{}' | sha256sum
    CHECK(restart::request_digest("POST", "/v1/report", "{}") ==
          "046b37c6e6080919eed3348ccfbc895b3b4179ce773ba0b71a57b070c1b1c301");
}

TEST_CASE("a credential serves one request, once") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    const MungeAuth auth(munged.socket());
    const auto header = auth.sign("POST", "/v1/drain", R"({"host":"n001"})");
    REQUIRE(header);

    SECTION("and tells who signed") {
        const auto caller = auth.verify(*header, "POST", "/v1/drain", R"({"host":"n001"})");
        REQUIRE(caller);
        CHECK(caller->uid == ::geteuid());
        CHECK(caller->gid == ::getegid());
        SECTION("a replay is denied") {
            const auto again = auth.verify(*header, "POST", "/v1/drain", R"({"host":"n001"})");
            REQUIRE_FALSE(again);
            CHECK(again.error().code == base::Code::denied);
            CHECK(again.error().text.find("eplayed") != std::string::npos);
        }
    }
    SECTION("another body, target or method is denied") {
        const auto other = GENERATE(table<const char*, const char*, const char*>({
            {"POST", "/v1/drain", R"({"host":"n002"})"},
            {"POST", "/v1/resume", R"({"host":"n001"})"},
            {"GET", "/v1/drain", R"({"host":"n001"})"},
        }));
        const auto [method, target, body] = other;
        const auto caller = auth.verify(*header, method, target, body);
        REQUIRE_FALSE(caller);
        CHECK(caller.error().code == base::Code::denied);
        CHECK(caller.error().text.find("another request") != std::string::npos);
    }
}

TEST_CASE("what is no credential is denied") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    const MungeAuth auth(munged.socket());
    for (const char* header :
         {"", "Basic cm9vdDo=", "MUNGE ", "MUNGE nonsense", "MUNGE MUNGE:AwQFAAD:", "munge x"}) {
        INFO(header);
        const auto caller = auth.verify(header, "GET", "/", "");
        REQUIRE_FALSE(caller);
        CHECK(caller.error().code == base::Code::denied);
    }
    const test::PrivateMunged stranger; // another key
    NEED_MUNGED(stranger);
    const auto header = MungeAuth(stranger.socket()).sign("GET", "/", "");
    REQUIRE(header);
    const auto caller = auth.verify(*header, "GET", "/", "");
    REQUIRE_FALSE(caller);
    CHECK(caller.error().code == base::Code::denied);
}

TEST_CASE("without munged nobody is let in, and the reason is not the caller") {
    const MungeAuth auth("/nonexistent/munge.socket");
    const auto header = auth.sign("GET", "/", "");
    REQUIRE_FALSE(header);
    CHECK(header.error().code == base::Code::unavailable);
    const auto caller = auth.verify("MUNGE MUNGE:AwQF:", "GET", "/", "");
    REQUIRE_FALSE(caller);
    CHECK(caller.error().code == base::Code::unavailable);
}
