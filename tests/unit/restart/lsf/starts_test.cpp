#include "restart/lsf/starts.hpp"

#include "base/file.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>

using restart::lsf::count_start;

TEST_CASE("each start of a job counts one more") {
    const test::Folder home;
    const auto file = (home.path / "1795310203.7").string();
    for (std::uint32_t before = 0; before < 5; ++before)
        CHECK(*count_start(file) == before);
    CHECK(*count_start((home.path / "1795310203.8").string()) == 0);
}

TEST_CASE("a count that was damaged begins anew, and ends where epochs do") {
    const test::Folder home;
    const auto file = (home.path / "1.7").string();
    REQUIRE(base::write_file(file + ".rail", "garbage\n"));
    CHECK(*count_start(file) == 0);
    CHECK(*count_start(file) == 1);
    REQUIRE(base::write_file(file + ".rail", "18446744073709551615\n"));
    CHECK(*count_start(file) == 9999);
    CHECK(*count_start(file) == 9999);
}

TEST_CASE("without a place to count nothing is counted") {
    CHECK_FALSE(count_start(""));
    CHECK_FALSE(count_start("1.7"));
    CHECK_FALSE(count_start("/nonexistent/folder/1.7"));
}
