#include "restart/watch/rules/expectations.hpp"

#include "restart/watch/rules/rule_set.hpp"

#include <catch2/catch.hpp>

using namespace restart;

namespace {

std::string refusal(std::string_view text) {
    const auto read = Expectations::from_text(text, "h");
    return read ? "" : read.error().text;
}

} // namespace

TEST_CASE("expectations: a site's rows over the program's") {
    const Expectations shipped;
    const std::vector<std::string> h100{"NVIDIA H100 80GB HBM3", "PCIe 5 x16"};
    const auto* usual = shipped.find("hbm.read", h100);
    REQUIRE(usual != nullptr);
    CHECK(usual->value == 3058);
    CHECK(shipped.find("pcie.h2d", h100)->of == "PCIe 5 x16");
    CHECK(shipped.find("hbm.read", std::vector<std::string>{"NVIDIA T4"}) == nullptr);
    const auto read = Expectations::from_text(
        "[[expected]]\ntest = \"hbm.read\"\nof = \"NVIDIA H100 80GB HBM3*\"\nleast = 0.9\n"
        "[[expected]]\ntest = \"hbm.write\"\nof = \"*T4\"\nvalue = 320\n",
        "h");
    REQUIRE(read);
    const auto* changed = read->find("hbm.read", h100);
    CHECK(changed->least == 0.9);
    CHECK(changed->value == 3058);
    CHECK(changed->source == usual->source);
    CHECK(read->find("hbm.write", std::vector<std::string>{"NVIDIA T4"})->source == "this site");
    CHECK(read->rows().size() == shipped.rows().size() + 1);
}

TEST_CASE("expectations: the first kind that has a row decides") {
    const auto read =
        Expectations::from_text("[[expected]]\ntest = \"pcie.h2d\"\nof = \"NVIDIA H100*\"\nvalue = 1\n", "h");
    REQUIRE(read);
    CHECK(read->find("pcie.h2d", std::vector<std::string>{"NVIDIA H100 PCIe", "PCIe 5 x16"})->value == 1);
    CHECK(read->find("pcie.h2d", std::vector<std::string>{"PCIe 5 x16"})->value == 63);
}

TEST_CASE("expectations: what is wrong has its line") {
    const std::string head = "[[expected]]\ntest = \"hbm.read\"\nof = \"X\"\n";
    CHECK(refusal("[[expected]]\nof = \"X\"\nvalue = 1\n") == "h:1: the row of [[expected]] has no test");
    CHECK(refusal(head + "value = 0\n") == "h:4: hbm.read: value: must be a number above 0");
    CHECK(refusal(head + "value = nan\n") == "h:4: hbm.read: value: must be a number above 0");
    CHECK(refusal(head + "value = 1\nmost = 0.5\n") ==
          "h:5: hbm.read: most: must be at least 1: it is a multiple of value");
    CHECK(refusal(head + "value = 1\n" + head + "value = 2\n") == "h:5: hbm.read of X: is in line 1, too");
    CHECK(refusal(head) == "h:1: hbm.read: value: is missing, as the row is new");
    CHECK(refusal("[[expected]]\n = 1\n").starts_with("h:2: "));
    // nodewatchd, which reads the rules, finds it as well.
    const auto rules = RuleSet::from_text(head + "value = 0\n", "h");
    REQUIRE_FALSE(rules);
    CHECK(rules.error().text == "h:4: hbm.read: value: must be a number above 0");
    CHECK(RuleSet::from_text(head + "value = 1\n", "h"));
}
