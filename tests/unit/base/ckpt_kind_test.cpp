#include "base/ckpt_kind.hpp"

#include <catch2/catch.hpp>

using namespace base;
using Catch::Contains;

TEST_CASE("a kind of checkpoints is one of the words, or a pattern of names") {
    for (const auto* text : {"auto", "railckpt", "megatron", "deepspeed", "dcp", "nemo", "lightning", "orbax",
                             "glob:step_*.pt"}) {
        const auto parsed = parse_ckpt_kind(text);
        REQUIRE(parsed);
        CHECK(to_string(*parsed) == text);
    }
    CHECK_THAT(parse_ckpt_kind("pytorch").error().text, Contains("must be auto, railckpt, megatron"));
    for (const auto* text : {"glob:../*", "glob:", "glob:a\nb", "glob:a\x7f"})
        CHECK_THAT(parse_ckpt_kind(text).error().text, Contains("without a slash"));
    CHECK_FALSE(parse_ckpt_kind(""));
    CHECK_FALSE(parse_ckpt_kind("Megatron"));
}
