// How a rule stands, as people are shown it: each state, entered and left.
#include "restart/watch/rules/rule_book.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace restart;

namespace {

RuleSet rules_of(std::string_view text) {
    auto rules = RuleSet::from_text(text, "health.conf");
    INFO((rules ? std::string() : rules.error().text));
    REQUIRE(rules);
    return *std::move(rules);
}

struct Desk {
    explicit Desk(std::string_view text) : book(rules_of(text)) {}

    void look(std::vector<Signal> fresh) {
        now += 1s;
        signals = std::move(fresh);
        book.look(now, signals);
    }
    // The row of that rule and component; there must be one.
    RuleView view(std::string_view rule, std::string_view component) {
        const auto views = book.view(now, signals);
        const auto at = std::find_if(views.begin(), views.end(), [&](const RuleView& one) {
            return one.rule->name == rule && one.component == component;
        });
        INFO(rule << " on " << component);
        REQUIRE(at != views.end());
        return *at;
    }

    base::Time now{std::chrono::seconds(1'700'000'000)};
    std::vector<Signal> signals;
    RuleBook book;
};

constexpr std::string_view held = "[[rule]]\nname = \"site.rule\"\nsignal = \"gpu.ecc_corrected\"\n"
                                  "test = \"above\"\nvalue = 10\nwindow = \"3s\"\nclear = \"2s\"\n"
                                  "severity = \"warn\"\nsource = \"a test\"\n";

} // namespace

TEST_CASE("a rule is ok, in its window, a finding, clearing and cleared") {
    Desk desk(held);
    const auto see = [&](double value) {
        desk.look({{"gpu.ecc_corrected", "gpu0", value, 0, {}}});
        return desk.view("site.rule", "gpu0");
    };
    CHECK(see(10).standing == RuleStanding::ok);
    CHECK_FALSE(see(10).since);
    auto view = see(11);
    const auto began = desk.now;
    CHECK(view.standing == RuleStanding::in_window);
    CHECK(view.since == began);
    CHECK(view.value == 11);
    CHECK_FALSE(view.severity);
    CHECK(see(11).standing == RuleStanding::in_window);
    CHECK(see(11).standing == RuleStanding::in_window);
    view = see(12);
    CHECK(view.standing == RuleStanding::finding);
    CHECK(view.since == began);
    CHECK(view.severity == Severity::warn);
    CHECK(view.text.find("(window 3.0 s)") != std::string::npos);
    CHECK_FALSE(view.limit); // the rule's own number says it
    view = see(0);
    CHECK(view.standing == RuleStanding::clearing);
    CHECK(view.severity == Severity::warn);
    CHECK(view.value == 0);
    see(0);
    view = see(0);
    CHECK(view.standing == RuleStanding::cleared);
    CHECK(view.since >= began + 5s);
    CHECK_FALSE(view.severity);
    CHECK(see(0).standing == RuleStanding::cleared);
    CHECK(see(11).standing == RuleStanding::in_window);
}

TEST_CASE("growth and limits that are not the rule's own number are shown") {
    Desk desk("[[rule]]\nname = \"site.grows\"\nsignal = \"ib.counter.symbol_error\"\ntest = \"delta\"\n"
              "value = 100\nwindow = \"10s\"\n[[rule]]\nname = \"site.half\"\nsignal = \"gpu.pcie_width\"\n"
              "test = \"below\"\nagainst = \"own\"\nvalue = 0.5\n");
    desk.look(
        {{"ib.counter.symbol_error", "mlx5_0:1", 5'000, 0, {}}, {"gpu.pcie_width", "gpu0", 16, 16, {}}});
    desk.look({{"ib.counter.symbol_error", "mlx5_0:1", 5'030, 0, {}}, {"gpu.pcie_width", "gpu0", 8, 16, {}}});
    const auto grows = desk.view("site.grows", "mlx5_0:1");
    CHECK(grows.value == 5'030);
    CHECK(grows.compared == 30);
    const auto half = desk.view("site.half", "gpu0");
    CHECK(half.value == 8);
    CHECK(half.limit == 8);
    CHECK(half.standing == RuleStanding::ok); // not below
    desk.look({{"gpu.pcie_width", "gpu0", 8, 0, {}}});
    CHECK(desk.view("site.half", "gpu0").standing == RuleStanding::unseen);
    CHECK(desk.view("site.half", "gpu0").text == "what it is measured against is not known");
}

TEST_CASE("what has no value cannot be seen, and is not said to be well") {
    Desk desk(held);
    // Nothing was seen yet: of each rule one row, without a component.
    desk.look({});
    CHECK(desk.view("site.rule", "").standing == RuleStanding::unseen);
    CHECK(desk.view("gpu.lost", "").standing == RuleStanding::unseen);
    // Of these there is a signal only when something is missing.
    CHECK(desk.view("ib.missing", "").standing == RuleStanding::ok);
    desk.look({{"gpu.ecc_corrected", "gpu0", 0, 0, {}}});
    CHECK(desk.view("site.rule", "gpu0").standing == RuleStanding::ok);
    desk.look({});
    CHECK(desk.view("site.rule", "gpu0").standing == RuleStanding::unseen);
    CHECK_FALSE(desk.view("site.rule", "gpu0").value);
    // A finding stays one while its source is silent, and is over some time after its component has gone.
    for (int i = 0; i < 5; ++i)
        desk.look({{"gpu.ecc_corrected", "gpu0", 11, 0, {}}});
    desk.look({});
    CHECK(desk.view("site.rule", "gpu0").standing == RuleStanding::finding);
    for (int i = 0; i < 5; ++i) {
        desk.look({});
        desk.book.rest_is_gone(desk.now, "gpu.");
    }
    CHECK(desk.view("site.rule", "gpu0").standing == RuleStanding::unseen);
}

TEST_CASE("an event that counts still has a row") {
    Desk desk("");
    desk.look({});
    const auto rows = [&] {
        const auto views = desk.book.view(desk.now, desk.signals);
        return std::count_if(views.begin(), views.end(),
                             [](const RuleView& view) { return view.rule->signal == "gpu.xid"; });
    };
    CHECK(rows() == 0);
    desk.book.event(desk.now, {"gpu.xid", "gpu2", 79, 0, "GPU has fallen off the bus"});
    CHECK(rows() == 1);
    const auto view = desk.view("gpu.xid.79", "gpu2");
    CHECK(view.standing == RuleStanding::finding);
    CHECK(view.severity == Severity::fatal);
    CHECK(view.since == desk.now);
    CHECK(view.value == 79);
    CHECK(view.text == "GPU has fallen off the bus");
}

TEST_CASE("the view and the findings agree, whatever was seen") {
    Desk desk(held);
    for (unsigned i = 0; i < 400; ++i) {
        std::vector<Signal> signals;
        for (unsigned gpu = 0; gpu < 4; ++gpu)
            if ((i * 7 + gpu * 13) % 11 != 0)
                signals.push_back({"gpu.ecc_corrected",
                                   "gpu" + std::to_string(gpu),
                                   (i / (5 + gpu)) % 3 == 0 ? 20.0 : 1.0,
                                   0,
                                   {}});
        desk.look(std::move(signals));
        std::vector<std::string> found, shown;
        for (const auto& finding : desk.book.findings(desk.now))
            found.push_back(finding.rule + "@" + finding.component);
        for (const auto& view : desk.book.view(desk.now, desk.signals)) {
            CHECK(view.severity.has_value() ==
                  (view.standing == RuleStanding::finding || view.standing == RuleStanding::clearing));
            if (view.severity) shown.push_back(std::string(view.rule->finding()) + "@" + view.component);
        }
        std::sort(found.begin(), found.end());
        std::sort(shown.begin(), shown.end());
        REQUIRE(found == shown);
    }
}
