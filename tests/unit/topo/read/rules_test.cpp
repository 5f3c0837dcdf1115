#include "topo/read/rules.hpp"

#include "topo/read/roles.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

namespace {

topo::Rules rules(std::string_view text) {
    auto read = topo::parse_rules(text, "t");
    if (!read) FAIL(read.error().text);
    return *std::move(read);
}

topo::Fabric fabric(std::string_view words) {
    const auto spec = topo::parse_synth(words);
    REQUIRE(spec);
    auto made = topo::synthesise(*spec);
    REQUIRE(made);
    return *std::move(made);
}

using What = topo::Verdict::What;

} // namespace

TEST_CASE("patterns: stars, question marks, brackets", "[rules]") {
    topo::Patterns patterns;
    for (const auto* pattern : {"mlx5_[0-2]", "hfi?_*", "*:18:00.*"})
        REQUIRE(patterns.add(pattern));
    CHECK(patterns.find("mlx5_2") == 2);
    CHECK(patterns.find("hfi1_0") == 3);
    CHECK(patterns.find("hfi_0") == patterns.size());
    CHECK(patterns.find("0000:18:00.1") == 4);
    CHECK_FALSE(patterns.match("mlx5_3"));
    CHECK_FALSE(patterns.match(""));
    for (const auto* pattern : {"", "n[1", "n]1[", "n[3-1]"})
        CHECK_FALSE(patterns.add(pattern));
}

TEST_CASE("a pattern full of stars is matched without trying every split", "[rules]") {
    topo::Patterns patterns;
    std::string pattern;
    for (int i = 0; i < 200; ++i)
        pattern += "*a";
    REQUIRE(patterns.add(pattern + "b"));
    CHECK_FALSE(patterns.match(std::string(20000, 'a'))); // trying all would never end
}

TEST_CASE("the first rule that names the HCA decides; given rails are the only ones", "[rules]") {
    const auto site = rules("[[rule]]\nhosts='n1'\nignore='mlx5_9'\n"
                            "[[rule]]\nhosts=['n[1-2]','x*']\nrails=['mlx5_3','*:0c:00.0']\n"
                            "[[rule]]\nstorage='mlx5_[0-9]'\ncompute='hfi*'\n");
    CHECK(site.judge("n1", "mlx5_9", "").what == What::ignored);
    CHECK(site.judge("n2", "mlx5_9", "").what == What::storage);
    CHECK(site.judge("n2", "mlx5_3", "").rail == 0);
    CHECK(site.judge("xy", "mlx5_9", "0000:0c:00.0").rail == 1);
    CHECK(site.judge("n2", "ib0", "").what == What::storage);
    CHECK(site.judge("n3", "ib0", "").what == What::nothing);
    CHECK(site.judge("n3", "hfi1_0", "").what == What::compute);
    CHECK(site.gives_rails("n2"));
    CHECK_FALSE(site.gives_rails("n3"));
}

TEST_CASE("rules make roles and rails, on every host alike", "[rules]") {
    auto made = fabric("units=2 hosts=4 rails=4");
    const auto storage = rules("[[rule]]\nstorage='mlx5_1'\n");
    topo::assign_roles(made, &storage);
    for (const auto& host : made.hosts)
        for (const auto& hca : host.hcas)
            CHECK(hca.rail == (hca.device == "mlx5_0"   ? 0
                               : hca.device == "mlx5_1" ? topo::none
                               : hca.device == "mlx5_2" ? 1
                                                        : 2));
    const auto order = rules("[[rule]]\nrails=['mlx5_3','mlx5_2','mlx5_*']\n");
    topo::assign_roles(made, &order);
    for (const auto& host : made.hosts)
        for (const auto& hca : host.hcas) {
            CHECK(hca.rail == (hca.device == "mlx5_3"   ? 0
                               : hca.device == "mlx5_2" ? 1
                               : hca.device == "mlx5_0" ? 2
                                                        : topo::none));
            CHECK((hca.role == topo::Role::compute) == (hca.rail != topo::none));
        }
}

TEST_CASE("ignored HCAs leave the fabric with their links", "[rules]") {
    auto made = fabric("units=1 hosts=4 rails=2");
    const auto links = made.links.size();
    const auto notes = topo::drop_ignored(made, rules("[[rule]]\nhosts='n002'\nignore='*'\n"
                                                      "[[rule]]\nhosts='n003'\nignore='mlx5_1'\n"
                                                      "[[rule]]\nhosts='n009'\nignore='mlx5_1'\n"));
    CHECK(notes == std::vector<std::string>{"t:7: the rule names no HCA of this fabric"});
    CHECK(made.hosts.size() == 3);
    CHECK(made.links.size() == links - 3);
    for (const auto& link : made.links)
        for (const auto* end : {&link.a, &link.b})
            if (end->host != topo::none)
                CHECK(static_cast<std::size_t>(end->hca) <
                      made.hosts[static_cast<std::size_t>(end->host)].hcas.size());
}

TEST_CASE("a rule gives its hosts an NVLink domain, the first one that has one", "[rules]") {
    auto made = fabric("hosts=4 rails=2");
    const auto given = rules("[[rule]]\nhosts = \"n00[1-2]\"\ndomain = \"rack 1\"\n"
                             "[[rule]]\nhosts = \"n00[2-3]\"\ndomain = \"rack 2\"\nstorage = \"mlx5_1\"\n"
                             "[[rule]]\nhosts = \"x*\"\ndomain = \"rack 3\"\n");
    topo::name_domains(made, given);
    std::vector<std::string> domains;
    for (const auto& host : made.hosts)
        domains.push_back(host.domain);
    CHECK(domains == std::vector<std::string>{"rack 1", "rack 1", "rack 2", ""});
    CHECK(topo::drop_ignored(made, given) ==
          std::vector<std::string>{"t:8: the rule names no host of this fabric"});
    const auto refused = [](std::string_view text) { return topo::parse_rules(text, "t").error().text; };
    CHECK(refused("[[rule]]\ndomain = \"rack 1\"\n") ==
          "t:1: the rule gives all hosts one NVLink domain: say which with hosts");
    CHECK(refused("[[rule]]\nhosts = \"n1\"\ndomain = 1\n") ==
          "t:3: domain: the name of an NVLink domain is wanted");
}

TEST_CASE("text that toml++ asserts against is refused like any other", "[rules]") {
    for (const auto* text : {"[[[rule]]\n", "[=]\n", "[[ =", "[[", "[", "a = {=}\n", "[a.=]\n"})
        CHECK_FALSE(topo::parse_rules(text, "t"));
}
