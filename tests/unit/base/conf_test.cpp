#include "base/conf.hpp"

#include <catch2/catch.hpp>

using base::Conf;
using namespace std::chrono_literals;

TEST_CASE("every key has a default of its own type") {
    const Conf conf;
    for (const auto& key : base::keys()) {
        INFO(key.table << "." << key.name);
        CHECK_FALSE(key.meaning.empty());
        CHECK(base::find_key(key.table, key.name) == &key); // no name twice
    }
    CHECK(conf.duration("node_loss", "silent") == 3s);
    CHECK(conf.boolean("restartd", "observe_only"));
    CHECK(conf.text_list("throttle", "reasons").size() == 2);
}

TEST_CASE("a file overrides defaults, and what is printed reads back") {
    auto conf = Conf::from_text(
        "[agent]\ninterval = \"250ms\"\n[restartd]\noperators = [\"ann\", \"b\\\"ob\"]\n", "f");
    REQUIRE(conf);
    CHECK(conf->duration("agent", "interval") == 250ms);
    CHECK(conf->text_list("restartd", "operators")[1] == "b\"ob");
    const auto again = Conf::from_text(conf->print(), "g");
    REQUIRE(again);
    CHECK(again->print() == conf->print());
}

TEST_CASE("a wrong file is refused with file and line") {
    const auto text_of = [](std::string_view text) {
        const auto conf = Conf::from_text(text, "rail.conf");
        REQUIRE_FALSE(conf);
        CHECK(conf.error().code == base::Code::input);
        return conf.error().text;
    };
    CHECK_THAT(text_of("\n[agent\n"), Catch::StartsWith("rail.conf:2: "));
    CHECK_THAT(text_of("[agent]\nintervall = \"1s\"\n"),
               Catch::StartsWith("rail.conf:2: unknown key agent.intervall; [agent] has interval"));
    CHECK_THAT(text_of("[agents]\n"), Catch::StartsWith("rail.conf:1: unknown table [agents]"));
    CHECK_THAT(text_of("[agent]\ninterval = 5\n"), Catch::Contains("agent.interval must be a duration"));
    CHECK_THAT(text_of("[agent]\ninterval = \"5\"\n"),
               Catch::Contains("write a number with ms, s, m, h or d"));
    CHECK_THAT(text_of("interval = 5\n"), Catch::Contains("stands outside any table"));
    CHECK_THAT(text_of("[restartd]\noperators = [1]\n"), Catch::Contains("list of strings"));
    CHECK_THAT(text_of("[restartd]\nagent_uid = -1\n"), Catch::Contains("whole number"));
}

TEST_CASE("a configuration that toml++ asserts against is refused like any other", "[conf]") {
    for (const auto* text : {"[[[restartd]]\n", "[=]\n", "[[ =", "a = {=}\n"})
        CHECK_FALSE(base::Conf::from_text(text, "t"));
}

TEST_CASE("characters that are not ASCII stand in strings and comments only", "[conf]") {
    const auto conf =
        Conf::from_text("# \xC3\xA4\n[agent] # \xC3\xA4\nsysfs = \"/\xC3\xA4\" # \xC3\xA4\n", "t");
    REQUIRE(conf);
    CHECK(conf->text("agent", "sysfs") == "/\xC3\xA4");
    const auto stray = Conf::from_text("[agent]\n\nsysf\xC3\xA4 = \"\"\n", "t");
    REQUIRE_FALSE(stray);
    CHECK_THAT(stray.error().text, Catch::StartsWith("t:3: "));
    CHECK_FALSE(Conf::from_text("[agent]\nsysfs = 5\"\"\" \xCB\xAF\n", "t"));
    CHECK_FALSE(Conf::from_text("[agent]\nsysfs = \"\xFF\"\n", "t"));
}
