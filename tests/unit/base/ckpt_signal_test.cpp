#include "base/ckpt_signal.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <string>

using namespace base;
using Catch::Contains;

TEST_CASE("how a program is asked to save is none, a file or a signal to someone") {
    for (const auto* text :
         {"none", "file:/scratch/r7/save now", "TERM@ranks", "USR1@script", "HUP@4711", "QUIT@ranks"}) {
        const auto parsed = parse_ckpt_signal(text);
        REQUIRE(parsed);
        CHECK(to_string(*parsed) == text);
    }
    CHECK(parse_ckpt_signal("SIGUSR2@ranks")->number == SIGUSR2);
    CHECK(signal_name(SIGUSR2) == "SIGUSR2");
}

TEST_CASE("any other way to ask a program is refused, with what is allowed") {
    for (const auto* text : {"", "TERM", "USR1@", "@ranks", "term@ranks", "KILL@ranks", "STOP@script",
                             "15@ranks", "USR1@1", "USR1@0", "USR1@-1", "USR1@+7", "USR1@7 ",
                             "USR1@99999999999", "USR1@ranks;id", "USR1@`id`", "None"})
        CHECK_THAT(parse_ckpt_signal(text).error().text, Contains("such as USR1@ranks"));
    for (const auto& text : {std::string("file:"), std::string("file:save"), std::string("file:/a\nb"),
                             std::string("file:/a/"), "file:/" + std::string(4095, 'x')})
        CHECK_THAT(parse_ckpt_signal(text).error().text, Contains("an absolute path"));
}

TEST_CASE("programs that save by a signal are asked by it, and no others") {
    for (const auto layout : {CkptLayout::megatron, CkptLayout::nemo, CkptLayout::orbax})
        CHECK(to_string(own_signal(layout)) == "TERM@ranks");
    for (const auto layout : {CkptLayout::automatic, CkptLayout::railckpt, CkptLayout::deepspeed,
                              CkptLayout::dcp, CkptLayout::lightning, CkptLayout::glob})
        CHECK(own_signal(layout) == CkptSignal{});
}
