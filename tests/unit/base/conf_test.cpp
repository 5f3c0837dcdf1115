#include "base/conf.hpp"

#include "base/file.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>

#include <set>

using base::Conf;
using namespace std::chrono_literals;

TEST_CASE("every key has a default of its own type") {
    const Conf conf;
    for (const auto& key : base::keys()) {
        INFO(key.table << "." << key.name);
        CHECK_FALSE(key.meaning.empty());
        CHECK(base::find_key(key.table, key.name) == &key); // no name twice
    }
    CHECK(conf.node_loss.silent == 3s);
    CHECK(conf.restartd.observe_only);
    CHECK(conf.throttle.reasons.size() == 2);
}

TEST_CASE("a file overrides defaults, and what is printed reads back") {
    auto conf = Conf::from_text(
        "[agent]\ninterval = \"250ms\"\n[restartd]\noperators = [\"ann\", \"b\\\"ob\"]\n", "f");
    REQUIRE(conf);
    CHECK(conf->agent.interval == 250ms);
    CHECK(conf->restartd.operators[1] == "b\"ob");
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

TEST_CASE("a value out of its bounds is refused with file, line and bound") {
    const auto text_of = [](std::string_view text) {
        INFO(text);
        const auto conf = Conf::from_text(text, "f");
        REQUIRE_FALSE(conf);
        CHECK(conf.error().code == base::Code::input);
        return conf.error().text;
    };
    CHECK(text_of("\n[agent]\ninterval = \"1ms\"\n") ==
          "f:3: agent.interval: 1ms is not between 100ms and 1m");
    CHECK(text_of("[agent]\ninterval = \"61s\"\n") == "f:2: agent.interval: 61s is not between 100ms and 1m");
    CHECK(text_of("[fabricwatchd]\n\n\nport = 255\n") == "f:4: fabricwatchd.port: 255 is above 254");
    CHECK(text_of("[restartd]\nagent_uid = 4294967295\n") ==
          "f:2: restartd.agent_uid: 4294967295 is above 4294967294");
    CHECK(text_of("[restartd]\nmax_drained_percent = 100.5\n") ==
          "f:2: restartd.max_drained_percent: 100.5 is not between 0 and 100");
    CHECK(text_of("[placement]\nspare_risk = -0.001\n") ==
          "f:2: placement.spare_risk: -0.001 is not between 0 and 1");
    CHECK_THAT(text_of("[placement]\nspare_risk = nan\n"), Catch::StartsWith("f:2: placement.spare_risk"));
    CHECK_THAT(text_of("[checkpoint]\nsave_deadline_factor = inf\n"),
               Catch::StartsWith("f:2: checkpoint.save_deadline_factor"));
    CHECK(text_of("[node_loss]\nsilent = \"0s\"\n") == "f:2: node_loss.silent: 0s is below 100ms");
    CHECK(text_of("[restartd]\njournal = \"\"\n") == "f:2: restartd.journal: must not be empty");
    CHECK(text_of("[restartd]\nlisten = \"8917\"\n") ==
          "f:2: restartd.listen: \"8917\" is not an address to listen on: write host:port, such as "
          "127.0.0.1:8917 or [::]:8917");
    CHECK(text_of("[restartd]\nurl = \"gopher://x\"\n") ==
          "f:2: restartd.url: \"gopher://x\" is not a URL of restartd: write http://host:port");
    CHECK(text_of("[restartd]\nurl = []\n") == "f:2: restartd.url: is empty: name at least one address");
    CHECK(text_of("[restartd]\nurl = [\"http://head:1\", \"x\"]\n") ==
          "f:2: restartd.url: \"x\" is not a URL of restartd: write http://host:port");
    CHECK(base::Conf::from_text("[restartd]\nurl = \"http://head:1\"\n", "f")->restartd.url ==
          std::vector<std::string>{"http://head:1"});
    CHECK(base::Conf::from_text("[restartd]\nurl = [\"http://a:1\", \"http://b:1\"]\n", "f")->restartd.url ==
          std::vector<std::string>{"http://a:1", "http://b:1"});
    CHECK(text_of("[restartd]\nurl = \"http://head:0\"\n") ==
          "f:2: restartd.url: \"http://head:0\": port 0 cannot be connected to");
    CHECK(text_of("[throttle]\nreasons = [\n  \"hw_slowdown\",\n  \"hot\",\n]\n") ==
          "f:4: throttle.reasons: \"hot\" is none of hw_power_brake, hw_thermal_slowdown, hw_slowdown, "
          "sw_thermal_slowdown");
}

TEST_CASE("what bounds allow is taken, the bounds themselves too") {
    CHECK(Conf::from_text("[agent]\ninterval = \"100ms\"\n", "f"));
    CHECK(Conf::from_text("[agent]\ninterval = \"1m\"\n", "f"));
    CHECK(Conf::from_text("[restartd]\nmax_drained_percent = 0\nagent_uid = 4294967294\n", "f"));
    CHECK(Conf::from_text("[throttle]\nreasons = []\n", "f"));
    CHECK(Conf::from_text("[checkpoint]\nmin_interval = \"1h\"\nmax_interval = \"1h\"\n", "f"));
}

TEST_CASE("a value out of its bounds does not concern who does without its table") {
    const auto* text = "[agent]\ninterval = \"1ms\"\nsysfs = \"/copy\"\n[placement]\nspare_risk = 0.5\n"
                       "[checkpoint]\nmin_interval = \"1d\"\n[throttle]\nreasons = [\"hot\"]\n";
    const auto conf = Conf::from_text(text, "f", {base::ConfTable::placement});
    REQUIRE(conf);
    CHECK(conf->placement.spare_risk == 0.5);
    CHECK(conf->agent.sysfs == "/copy");
    CHECK(conf->agent.interval == 1s); // the default: nobody sees a value that no one may have
    CHECK(conf->throttle.reasons == Conf().throttle.reasons);
    CHECK_FALSE(Conf::from_text(text, "f", {base::ConfTable::placement, base::ConfTable::agent}));
    CHECK_FALSE(Conf::from_text(text, "f", {base::ConfTable::placement, base::ConfTable::checkpoint}));
    CHECK_FALSE(Conf::from_text("[agent]\nintervall = \"1s\"\n", "f", {base::ConfTable::placement}));
    CHECK_FALSE(Conf::from_text("[agent]\ninterval = 1\n", "f", {base::ConfTable::placement}));
}

TEST_CASE("every key is kept in a member of its own, of its type") {
    Conf conf;
    std::set<const void*> members;
    for (const auto& key : base::keys()) {
        INFO(key.table << "." << key.name);
        const auto slot = key.slot(conf);
        CHECK(slot.index() == static_cast<std::size_t>(key.type));
        CHECK(std::visit([&](const void* member) { return members.insert(member).second; }, slot));
    }
}

TEST_CASE("two values that cross are refused with the line of one that the file has") {
    const auto text_of = [](std::string_view text) {
        INFO(text);
        const auto conf = Conf::from_text(text, "f");
        REQUIRE_FALSE(conf);
        return conf.error().text;
    };
    CHECK(text_of("[checkpoint]\nmax_interval = \"1m\"\nmin_interval = \"2m\"\n") ==
          "f:2: checkpoint.max_interval: 1m is below checkpoint.min_interval, 2m");
    CHECK(text_of("[checkpoint]\n\nmin_interval = \"2d\"\n") ==
          "f:3: checkpoint.min_interval: 2d is above checkpoint.max_interval, 12h");
    CHECK(text_of("[checkpoint]\nsave_deadline_max = \"1s\"\n") ==
          "f:2: checkpoint.save_deadline_max: 1s is below checkpoint.save_deadline_min, 5s");
}

TEST_CASE("a configuration that toml++ asserts against is refused like any other", "[conf]") {
    for (const auto* text : {"[[[restartd]]\n", "[=]\n", "[[ =", "a = {=}\n"})
        CHECK_FALSE(base::Conf::from_text(text, "t"));
}

TEST_CASE("characters that are not ASCII stand in strings and comments only", "[conf]") {
    const auto conf =
        Conf::from_text("# \xC3\xA4\n[agent] # \xC3\xA4\nsysfs = \"/\xC3\xA4\" # \xC3\xA4\n", "t");
    REQUIRE(conf);
    CHECK(conf->agent.sysfs == "/\xC3\xA4");
    const auto stray = Conf::from_text("[agent]\n\nsysf\xC3\xA4 = \"\"\n", "t");
    REQUIRE_FALSE(stray);
    CHECK_THAT(stray.error().text, Catch::StartsWith("t:3: "));
    CHECK_FALSE(Conf::from_text("[agent]\nsysfs = 5\"\"\" \xCB\xAF\n", "t"));
    CHECK_FALSE(Conf::from_text("[agent]\nsysfs = \"\xFF\"\n", "t"));
}

TEST_CASE("the file that a configuration came from is named") {
    const test::Folder folder;
    const auto file = folder.path / "railyard.conf";
    REQUIRE(base::write_file(file, "[agent]\ninterval = \"2s\"\n"));
    CHECK(base::source_of(*base::load_conf(file)) == "configuration: " + file.string());
    CHECK_THAT(base::source_of(base::Conf()), Catch::StartsWith("configuration: there is no /"));
}
