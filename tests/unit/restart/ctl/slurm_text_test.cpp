#include "restart/ctl/enable/slurm_text.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace restart::enable;

namespace {

struct Case {
    const char* what;
    const char* before;
    const char* key;
    const char* value; // empty: taken away
    const char* after; // empty: refused
};

const std::vector<Case> cases{
    {"a value is replaced, all else stays", "# top\nSelectType = select/cons_tres  # stock\nX=1\n",
     "SelectType", "select/rail", "# top\nSelectType = select/rail  # stock\nX=1\n"},
    {"keys have no case", "selecttype=select/cons_tres\n", "SelectType", "select/rail",
     "selecttype=select/rail\n"},
    {"several settings in a line", "A=1 SelectType=x SelectTypeParameters=CR_Core\n", "SelectType", "y",
     "A=1 SelectType=y SelectTypeParameters=CR_Core\n"},
    {"a longer key is another one", "SelectTypeParameters=CR_Core\nNodeName=n1\n", "SelectType", "y",
     "SelectTypeParameters=CR_Core\nSelectType=y\nNodeName=n1\n"},
    {"what stands in a comment is no setting", "#SelectType=x\nPartitionName=p\n", "SelectType", "y",
     "#SelectType=x\nSelectType=y\nPartitionName=p\n"},
    {"an escaped # is no comment", "A=b\\#c SelectType=x\n", "SelectType", "y", "A=b\\#c SelectType=y\n"},
    {"quotes go with their value", "PluginDir=\"/a b:/c\"\n", "PluginDir", "/d", "PluginDir=/d\n"},
    {"a quote that does not end a word is part of it", "K=\"x y\"a B=2\n", "K", "v", "K=v y\"a B=2\n"},
    {"a key without a value is no setting", "K=\nA=1\n", "K", "v", "K=\nA=1\nK=v\n"},
    {"a new line before the nodes and what they go on with", "A=1\nNodeName=n[1-2] \\\n  CPUs=2\n", "K", "v",
     "A=1\nK=v\nNodeName=n[1-2] \\\n  CPUs=2\n"},
    {"a new line at the end of an open one", "A=1", "K", "v", "A=1\nK=v\n"},
    {"a setting on a line that goes on", "A=1 \\\n SelectType=x B=2\n", "SelectType", "y",
     "A=1 \\\n SelectType=y B=2\n"},
    {"a value that goes on is refused", "JobSubmitPlugins=lua,\\\nall\n", "JobSubmitPlugins", "lua", ""},
    {"two places are refused", "K=1\nK=2\n", "K", "3", ""},
    {"a line goes with its setting", "A=1\nK=1\nB=2\n", "K", "", "A=1\nB=2\n"},
    {"its comment stays", "K=1 # why\nB=2\n", "K", "", "# why\nB=2\n"},
    {"its neighbours stay", "A=1 K=1 B=2\n", "K", "", "A=1 B=2\n"},
    {"what is not there need not go", "A=1\n", "K", "", "A=1\n"},
    {"line ends of another system stay", "K=1\r\nB=2\r\n", "K", "3", "K=3\r\nB=2\r\n"},
    {"an empty file", "", "K", "v", "K=v\n"},
};

} // namespace

TEST_CASE("slurm.conf: one setting is changed, every other byte stays") {
    for (const auto& each : cases) {
        INFO(each.what);
        SlurmText text(std::vector<TextFile>{{"slurm.conf", each.before}});
        const auto change = text.set(each.key, each.value);
        if (*each.after == '\0') {
            REQUIRE_FALSE(change);
            CHECK(change.error().text.find("slurm.conf:1") != std::string::npos);
            CHECK(text.files().front().text == each.before);
            continue;
        }
        REQUIRE(change);
        CHECK(text.files().front().text == each.after);
        CHECK(change->has_value() == (std::string(each.before) != each.after));
        CHECK_FALSE(text.set(each.key, each.value)->has_value()); // a second time
        CHECK(text.value(each.key).value_or("") == each.value);
    }
}

TEST_CASE("slurm.conf: a setting of an included file is changed there") {
    SlurmText text(
        {{"/e/slurm.conf", "Include more.conf\nA=1\n"}, {"/e/more.conf", "# ours\nSelectType=x\n"}});
    const auto change = text.set("SelectType", "y");
    REQUIRE(change);
    CHECK(**change == SettingChange{"/e/more.conf", "SelectType", "x", "y"});
    CHECK(text.files()[0].text == "Include more.conf\nA=1\n");
    CHECK(text.files()[1].text == "# ours\nSelectType=y\n");
    CHECK(text.values("A") == std::vector<std::string>{"1"});
}

TEST_CASE("slurm.conf: includes and lines of nodes are read as Slurm reads them") {
    CHECK(includes("A=1\n include  nodes.conf # x\n#Include no.conf\nINCLUDE /a/%c.conf\n") ==
          std::vector<std::string>{"nodes.conf", "/a/%c.conf"});
    const auto lines =
        lines_of({{"f", "NodeName=DEFAULT CPUs=2\nNodeName=n[1-2] \\\n NodeAddr=a[1-2]\nX=1\n"}}, "nodename");
    REQUIRE(lines.size() == 2);
    CHECK(lines[1] == LineSettings{{"NodeName", "n[1-2]"}, {"NodeAddr", "a[1-2]"}});
}
