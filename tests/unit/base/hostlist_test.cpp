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

TEST_CASE("a broken host list is refused with its text") {
    for (const auto* text : {"n[1-", "n]1", "n[3-1]", "n[]", "n[a]", "a,,b", ",a", "a,", "n[1][2]",
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
