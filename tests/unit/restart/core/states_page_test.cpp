// restartd-decisions(7) names every kind and phase of incidents: whoever adds one says what moves it on.

#include "base/file.hpp"
#include "restart/core/facts/names.hpp"
#include "unit/source.hpp"

#include <catch2/catch.hpp>

namespace {

std::string section(std::string_view heading) {
    const auto page = base::read_file(test::source("man/restartd-decisions.7"));
    REQUIRE(page);
    const auto begin = page->find(std::string(".Sh ").append(heading) + "\n");
    REQUIRE(begin != std::string::npos);
    return page->substr(begin, page->find("\n.Sh ", begin) - begin);
}

} // namespace

TEST_CASE("the page of decisions says of every kind and phase of incidents what it is and when it ends") {
    const auto text = section("INCIDENTS");
    const auto has = [&](std::string_view word) {
        INFO("man/restartd-decisions.7, INCIDENTS: no .It Li " << word);
        CHECK(text.find(std::string(".It Li ").append(word) + "\n") != std::string::npos);
    };
    for (const auto kind : restart::codec::Names<restart::IncidentKind>::names)
        has(kind);
    for (const auto phase : restart::codec::Names<restart::Phase>::names) {
        has(phase);
        INFO("the diagram lacks [" << phase << "]");
        CHECK(text.find("[" + std::string(phase) + "]") != std::string::npos);
    }
    CHECK(text.find("Limit:") != std::string::npos);
}
