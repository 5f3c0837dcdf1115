#include "restart/rm/slurm_calls.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace restart;

TEST_CASE("where there is no libslurm, restartd says so and names the other resource manager") {
    const auto loaded = load_slurm_calls("libslurm.so.999");
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == base::Code::not_found);
    CHECK_THAT(loaded.error().text,
               Catch::Contains("libslurm.so.999") && Catch::Contains("resource_manager = \"lsf\""));
}

TEST_CASE("a library that lacks what restartd calls is refused, and the function named") {
    const auto loaded = load_slurm_calls("libc.so.6");
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == base::Code::unfit);
    CHECK_THAT(loaded.error().text, Catch::Contains("libc.so.6 has no slurm_"));
}

TEST_CASE("the library that restartd was built for has all that it calls") {
    CHECK(std::string(slurm_library()).starts_with("libslurm.so."));
    REQUIRE(load_slurm_calls(slurm_library()));
    CHECK(std::string(restart::slurm_strerror(0)) != "");
}
