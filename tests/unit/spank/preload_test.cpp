#include "spank/preload.hpp"

#include <catch2/catch.hpp>

using spank::with_preloaded;

TEST_CASE("preload: the library comes first, once, and what the user preloads stays") {
    const std::string library = "/usr/lib/librailucx.so";
    CHECK(with_preloaded(library, std::nullopt) == library);
    CHECK(with_preloaded(library, "") == library);
    CHECK(with_preloaded(library, "libasan.so.8 /x/y.so") == library + ":libasan.so.8 /x/y.so");
    for (const auto& there :
         {library, library + ":/x.so", "/x.so " + library, "/x.so:" + library + " ", ":" + library})
        CHECK_FALSE(with_preloaded(library, there));
    CHECK(with_preloaded(library, library + "2"));
}

TEST_CASE("preload: a path that LD_PRELOAD would take apart is not put there") {
    CHECK_FALSE(with_preloaded("/opt/my lib/librailucx.so", std::nullopt));
    CHECK_FALSE(with_preloaded("/opt/my:lib/librailucx.so", std::nullopt));
}
