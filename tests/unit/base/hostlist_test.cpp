#include "base/hostlist.hpp"

#include <catch2/catch.hpp>

#include <random>

using base::expand_hostlist;
using base::fold_hostlist;
using Names = std::vector<std::string>;

TEST_CASE("a host list stands for its names in order") {
    CHECK(*expand_hostlist("") == Names{});
    CHECK(*expand_hostlist("login") == Names{"login"});
    CHECK(*expand_hostlist("n[001-003,007],login") == Names{"n001", "n002", "n003", "n007", "login"});
    CHECK(*expand_hostlist("r1n[9-11]-ib") == Names{"r1n9-ib", "r1n10-ib", "r1n11-ib"});
}

TEST_CASE("a host list with several ranges in a name is every pair of them") {
    CHECK(*expand_hostlist("rack[0-1]_blade[0-1]") ==
          Names{"rack0_blade0", "rack0_blade1", "rack1_blade0", "rack1_blade1"});
    CHECK(*expand_hostlist("a,r[08-09]n[1,3]x,b") == Names{"a", "r08n1x", "r08n3x", "r09n1x", "r09n3x", "b"});
    CHECK(*expand_hostlist("n[1-2][3]-ib[5]") == Names{"n13-ib5", "n23-ib5"});
    CHECK(expand_hostlist("r[1-1024]n[1-1024]")->size() == 1048576);
    for (const auto* text : {"r[1-1025]n[1-1024]", "a,r[1-1024]n[1-1024]",
                             "a[0-9]b[0-9]c[0-9]d[0-9]e[0-9]f[0-9]g[0-9]h[0-9]i[0-9]j[0-9]k[0-9]l[0-9]"}) {
        const auto names = expand_hostlist(text);
        REQUIRE_FALSE(names);
        CHECK(names.error().text.find("more than 1048576 names") != std::string::npos);
    }
    // Neither many brackets nor long names make it work for nothing.
    std::string pairs = "n[1-1000000]", wide = "n[1-1000000]";
    for (int i = 0; i < 100000; ++i)
        pairs += "[1]";
    wide.append(1000000, 'x');
    CHECK(expand_hostlist(pairs).error().text.find("more than 8 pairs of brackets") != std::string::npos);
    CHECK(expand_hostlist(wide).error().text.find("a name is too long") != std::string::npos);
    for (const auto* text : {"r[1]n[", "r[1]n]", "r[1]n[2", "r[1]n[]", "r[1[2]]"})
        CHECK_FALSE(expand_hostlist(text));
}

TEST_CASE("a broken host list is refused with its text") {
    for (const auto* text : {"n[1-", "n]1", "n[3-1]", "n[]", "n[a]", "a,,b", ",a", "a,", "n[1]2]",
                             "n[1-99999999]", "n[-1]", "n[1-2-3]", "n[99999999999999999999]"}) {
        INFO(text);
        const auto names = expand_hostlist(text);
        REQUIRE_FALSE(names);
        CHECK(names.error().code == base::Code::input);
        CHECK(names.error().text.find(text) != std::string::npos);
    }
}

TEST_CASE("folding keeps order and width") {
    CHECK(fold_hostlist({"n001", "n002", "n003", "n007"}) == "n[001-003,007]");
    CHECK(fold_hostlist({"n9", "n10"}) == "n9,n10"); // widths differ
    CHECK(fold_hostlist({"n3", "n1"}) == "n[3,1]");
    CHECK(base::fold_sorted({"n10", "n3", "n1", "n9", "n3", "n2"}) == "n[1-3,9],n10");
    CHECK(fold_hostlist({"login", "n1"}) == "login,n1");
    CHECK(fold_hostlist({}).empty());
}

TEST_CASE("expanding what was folded gives the names back") {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        Names names;
        for (auto i = random() % 12; i > 0; --i) {
            auto name = std::string(random() % 2 ? "n" : "gpu") + std::to_string(random() % 20);
            if (random() % 3 == 0) name = "n0" + std::to_string(random() % 10);
            names.push_back(name);
        }
        INFO(fold_hostlist(names));
        CHECK(*expand_hostlist(fold_hostlist(names)) == names);
    }
}

TEST_CASE("natural order compares digits as numbers") {
    const Names order{"a", "n1", "n02", "n2", "n10", "n10a", "n11"};
    for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t j = 0; j < order.size(); ++j) {
            INFO(order[i] << " " << order[j]);
            CHECK(base::natural_less(order[i], order[j]) == (i < j));
        }
}
