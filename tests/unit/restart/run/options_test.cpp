#include "restart/run/options.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace restart::run;

namespace {
template <std::size_t N> Split split(const std::array<const char*, N>& words) {
    return split_words(static_cast<int>(N), words.data());
}
using Texts = std::vector<std::string>;
} // namespace

TEST_CASE("railrun's words end where the command begins; the command's stay as they are") {
    const auto plain = split(std::array{"railrun", "srun", "--max-restarts", "-n4", "a b", "$(id)"});
    CHECK(plain.own == Texts{"railrun"});
    CHECK(plain.command == Texts{"srun", "--max-restarts", "-n4", "a b", "$(id)"});
    const auto own =
        split(std::array{"railrun", "--warm", "--max-restarts", "3", "--settle=2s", "mpirun", "--", "x"});
    CHECK(own.own == Texts{"railrun", "--warm", "--max-restarts", "3", "--settle=2s"});
    CHECK(own.command == Texts{"mpirun", "--", "x"});
    CHECK(split(std::array{"railrun", "--warm", "--", "--odd"}).command == Texts{"--odd"});
    CHECK(split(std::array{"railrun", "--max-restarts"}).command.empty());
}

TEST_CASE("options are read, and refused by name") {
    Arguments typed;
    CHECK(read(typed)->settle == std::chrono::seconds(5));
    CHECK(read(typed)->warm_most == std::uint64_t{16} << 30);
    CHECK_FALSE(read(typed)->max_restarts);
    typed.max_restarts = "0";
    CHECK(read(typed)->max_restarts == 0u);
    typed.max_restarts = "-1";
    CHECK_THAT(read(typed).error().text, Catch::StartsWith("--max-restarts"));
    typed = {};
    typed.settle = "5";
    CHECK_THAT(read(typed).error().text, Catch::StartsWith("--settle"));
    typed = {};
    for (const char* size : {"", "0", "K", "1.5G", "12X", "99999999999T"}) {
        typed.warm_most = size;
        CHECK_THAT(read(typed).error().text, Catch::StartsWith("--warm-limit"));
    }
    CHECK(*parse_bytes("500M") == std::uint64_t{500} << 20);
    CHECK(*parse_bytes("7") == 7u);
}
