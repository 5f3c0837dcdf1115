#include "base/host_port.hpp"

#include <catch2/catch.hpp>

using base::HostPort;

TEST_CASE("addresses and URLs are read strictly") {
    CHECK(*base::parse_listen("127.0.0.1:8917") == HostPort{"127.0.0.1", 8917});
    CHECK(*base::parse_listen("[::1]:0") == HostPort{"::1", 0});
    CHECK(base::parse_listen("[::1]:80")->print() == "[::1]:80");
    CHECK(*base::parse_url("http://head:8917/") == HostPort{"head", 8917});
    for (const char* wrong : {"", "8917", ":8917", "a:", "a:65536", "a:-1", "::1:80", "a b:80", "a/b:80"})
        CHECK_FALSE(base::parse_listen(wrong));
    for (const char* wrong :
         {"", "head:8917", "https://head:8917", "http://head", "http://head:8917/x", "http://u@head:1"})
        CHECK_FALSE(base::parse_url(wrong));
    CHECK(base::parse_url("http://head").error().text ==
          "\"http://head\" is not a URL of restartd: write http://host:port"); // the text as it was written
}
