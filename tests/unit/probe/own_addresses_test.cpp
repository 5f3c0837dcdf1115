#include "probe/own_addresses.hpp"

#include <catch2/catch.hpp>

#include <ifaddrs.h>

TEST_CASE("addresses are those of the host's interfaces, as text") {
    const auto own = probe::own_addresses();
    std::size_t most = 0;
    ifaddrs* list = nullptr;
    REQUIRE(::getifaddrs(&list) == 0);
    for (const auto* one = list; one != nullptr; one = one->ifa_next)
        ++most;
    ::freeifaddrs(list);
    CHECK(own.size() <= most);
    CHECK_FALSE(own.contains(""));
    if (own.empty())
        WARN("SKIP: no interface has an address here");
    else
        CHECK((own.contains("127.0.0.1") || own.contains("::1")));
}
