#include "restart/ctl/moments.hpp"

#include "base/json.hpp"
#include "restart/wire/status.hpp"
#include "restart/wire/text_times.hpp"

#include <catch2/catch.hpp>

namespace {

restart::History told() {
    restart::History history;
    history.timeline.push_back(
        {base::Time(std::chrono::milliseconds(1'772'371'205'123)), "signal", {}, {}, {}, {}, "x"});
    restart::StoredAction action;
    action.id = "i-1/1";
    action.created = history.timeline.front().time;
    history.actions.push_back(action);
    return history;
}

std::string dated(const restart::History& history) {
    const restart::codec::TextTimes text;
    return history.to_json();
}

} // namespace

TEST_CASE("moments are printed as RFC 3339 has them, numbers stay numbers, and what is not known stays") {
    auto answer = base::parse_json(told().to_json());
    REQUIRE(answer);
    answer->get_object()["of_a_later_release"] = 7;
    const auto printed = restart::with_moments(base::to_text(*answer), dated(told()));
    REQUIRE(printed);
    const auto document = base::parse_json(*printed);
    REQUIRE(document);
    CHECK(document->at("timeline").at(0).at("time") == "2026-03-01T13:20:05.123Z");
    CHECK(document->at("actions").at(0).at("created") == "2026-03-01T13:20:05.123Z");
    CHECK(document->at("actions").at(0).at("finished").is_null());
    CHECK(document->at("actions").at(0).at("tries") == 0);
    CHECK(document->at("of_a_later_release") == 7);
}

TEST_CASE("what was printed with moments as text is read as restartd's own answer is") {
    const auto read = restart::History::from_json(dated(told()));
    REQUIRE(read);
    CHECK(read->timeline == told().timeline);
    CHECK(read->actions == told().actions);
    auto wrong = dated(told());
    wrong.replace(wrong.find("2026-03-01T"), 11, "yesterday-T");
    const auto refused = restart::History::from_json(wrong);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find("timeline[0].time") != std::string::npos);
}

TEST_CASE("between our programs moments are numbers") {
    const auto document = base::parse_json(told().to_json());
    REQUIRE(document);
    CHECK(document->at("timeline").at(0).at("time").is_double());
}
