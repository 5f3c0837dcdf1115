// railyard.conf(5) and the sample file say what the key table says, word for word.
#include "base/conf.hpp"
#include "base/file.hpp"
#include "base/keys.hpp"
#include "unit/source.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace {

std::string source(const char* name) {
    const auto text = base::read_file(test::source(name));
    REQUIRE(text);
    return *text;
}

// Quotes would be eaten by the macros.
std::string mdoc(std::string_view text) {
    std::string out;
    for (const char c : text)
        out += c == '"' ? std::string("\\(dq") : std::string(1, c);
    return out;
}

// A table's keys as mdoc.
std::string manual_of(std::string_view table) {
    std::string text = fmt::format(".Sh TABLE [{}]\n.Bl -tag -width Ds\n", table);
    for (const auto& key : base::keys()) {
        if (key.table != table) continue;
        const auto more = base::bounds_and_unit(key);
        text +=
            fmt::format(".It Li {} = {}\n{}\n.Pq {}{}{}\n", key.name, mdoc(key.default_text),
                        mdoc(key.meaning), mdoc(base::type_name(key.type)), more.empty() ? "" : "; ", more);
    }
    return text + ".El\n";
}

} // namespace

TEST_CASE("the manual page lists every key with its default, type, bounds, unit and meaning") {
    const auto page = source("man/railyard.conf.5");
    std::string done;
    for (const auto& key : base::keys()) {
        if (key.table == done) continue;
        done = key.table;
        const auto wanted = manual_of(key.table);
        INFO("man/railyard.conf.5 should hold:\n" << wanted);
        CHECK(page.find(wanted) != std::string::npos);
    }
}

TEST_CASE("the sample file holds every default") {
    const auto sample = source("etc/railyard.conf");
    INFO("regenerate etc/railyard.conf: its head, then restartd --print-config without a file");
    CHECK(sample.ends_with("\n\n" + base::Conf().print()));
    CHECK(base::Conf::from_text(sample, "etc/railyard.conf"));
}
