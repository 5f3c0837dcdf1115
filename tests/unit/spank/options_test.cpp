#include "sched/ask/preflight_wish.hpp"
#include "spank/options.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>

namespace {

using spank::Options;
using spank::Origin;

constexpr std::size_t span = 0, ckpt_dir = 4, restart = 5; // as flags()

auto environment(const std::map<std::string, const char*>& values) {
    return [&values](const char* name) -> const char* {
        const auto found = values.find(name);
        return found == values.end() ? nullptr : found->second;
    };
}

} // namespace

TEST_CASE("spank options: the table names the flags as the rest of Railyard does") {
    REQUIRE(spank::flags().size() == sched::hint_flags().size() + 3);
    for (const auto& flag : spank::flags()) {
        INFO(flag.name);
        if (flag.for_slurmctld)
            CHECK(sched::hint_variable(flag.name) == flag.variable);
        else
            CHECK((std::string(flag.name) == "rail-bind" || std::string(flag.name) == "rail-ucx" ||
                   std::string(flag.name) == "rail-preflight"));
    }
    CHECK(std::string(spank::flags()[span].name) == "rail-span");
    CHECK(std::string(spank::flags()[ckpt_dir].name) == "ckpt-dir");
    CHECK(std::string(spank::flags()[restart].name) == "restart");
}

TEST_CASE("spank options: command line beats environment beats plugstack.conf, in any order") {
    const std::map<std::string, const char*> values = {
        {"RAIL_SPAN", "pod"}, {"RAIL_CKPT_DIR", "/env"}, {"RAIL_RESTART", ""}};
    Options options;
    REQUIRE(options.set_flag(span, "unit"));
    REQUIRE(options.read_environment(environment(values)));
    for (const char* argument : {"rail-span=fabric", "ckpt-dir=/site", "restart=auto"})
        REQUIRE(options.set_argument(argument));
    CHECK(options.value(span) == "unit");
    CHECK(options.origin(span) == Origin::command_line);
    CHECK(options.value(ckpt_dir) == "/env");
    CHECK(options.origin(ckpt_dir) == Origin::environment);
    CHECK(options.value(restart) == "auto"); // an empty variable says nothing
    CHECK(options.origin(restart) == Origin::arguments);
    REQUIRE(options.set_flag(ckpt_dir, "/mine"));
    CHECK(options.value(ckpt_dir) == "/mine");
}

TEST_CASE("spank options: unset is visible") {
    Options options;
    CHECK(options.origin(span) == Origin::unset);
    CHECK(options.value(span).empty());
}

TEST_CASE("spank options: bad flags are refused and change nothing") {
    Options options;
    const auto set = options.set_flag(span, "rack");
    REQUIRE_FALSE(set);
    CHECK(set.error().text ==
          "--rail-span=rack: must be domain, unit, pod or fabric, or one of these with @WAIT");
    CHECK(options.origin(span) == Origin::unset);
}

TEST_CASE("spank options: a bad variable is an error, and is kept for slurmctld to refuse") {
    const std::map<std::string, const char*> values = {{"RAIL_SPAN", "rack"}, {"RAIL_RESTART", "never"}};
    Options options;
    const auto read = options.read_environment(environment(values));
    REQUIRE_FALSE(read);
    CHECK(read.error().text ==
          "RAIL_SPAN in the environment: --rail-span=rack: must be domain, unit, pod or fabric, "
          "or one of these with @WAIT");
    CHECK(options.value(span) == "rack");
    CHECK(options.value(restart) == "never");
    Options overruled; // the command line makes the variable moot
    REQUIRE(overruled.set_flag(span, "unit"));
    CHECK(overruled.read_environment(environment(values)));
}

TEST_CASE("spank options: bad arguments of plugstack.conf name themselves") {
    Options options;
    const auto unknown = options.set_argument("sokcet=/x");
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().text ==
          "sokcet=/x: no such argument; there are socket, run, fsroot, ucx, railrun, railcheck, railckpt, "
          "rail-span, rail-segment, rail-spares, rail-order, restart, restart-max, "
          "restart-on, ckpt-dir, ckpt-kind, ckpt-signal, rail-keep, rail-bind, rail-ucx, rail-preflight");
    CHECK_FALSE(options.set_argument("socket"));
    CHECK_FALSE(options.set_argument("socket=run/job.sock"));
    const auto relative = options.set_argument("run=here");
    REQUIRE_FALSE(relative);
    CHECK(relative.error().text == "run=here: must be an absolute path");
    const auto bad = options.set_argument("restart=maybe");
    REQUIRE_FALSE(bad);
    CHECK(bad.error().text == "restart=maybe: must be auto or never");
    CHECK(options.origin(restart) == Origin::unset);
}

TEST_CASE("spank options: binding is checked as the other flags are") {
    Options options;
    const auto bind = spank::flag_index("rail-bind");
    const auto bad = options.set_flag(bind, "cpu");
    REQUIRE_FALSE(bad);
    CHECK(bad.error().text == "--rail-bind=cpu: must be off, near, gpu, print, near,print or gpu,print");
    const auto argument = options.set_argument("rail-bind=cpu");
    REQUIRE_FALSE(argument);
    CHECK(argument.error().text == "rail-bind=cpu: must be off, near, gpu, print, near,print or gpu,print");
    REQUIRE(options.set_argument("rail-bind=off"));
    REQUIRE(options.set_flag(bind, "gpu,print"));
    CHECK(options.value(bind) == "gpu,print");
}

TEST_CASE("spank options: paths may stand in a folder of the node") {
    Options options;
    CHECK(options.run_folder("n001") == "/run/railyard");
    CHECK(options.fsroot("n001").empty());
    REQUIRE(options.set_argument("run=/run/%n"));
    REQUIRE(options.set_argument("fsroot=/hardware/%n"));
    CHECK(options.run_folder("n001") == "/run/n001");
    CHECK(options.fsroot("n001") == "/hardware/n001");
}

TEST_CASE("spank options: the socket may stand in a folder of the node") {
    Options options;
    CHECK(options.socket("n001") == "/run/railyard/job.sock");
    REQUIRE(options.set_argument("socket=/run/%n/100%%/%x.sock%"));
    CHECK(options.socket("n001") == "/run/n001/100%/%x.sock%");
}

TEST_CASE("spank options: a preflight is quick, full or deep, and between hosts where that is asked for") {
    CHECK(sched::parse_preflight("off").value() == sched::PreflightWish{0, false});
    CHECK(sched::parse_preflight("quick").value() == sched::PreflightWish{1, false});
    CHECK(sched::parse_preflight("full,net").value() == sched::PreflightWish{2, true});
    CHECK(sched::parse_preflight("quick,nccl").value() == sched::PreflightWish{1, false, true});
    CHECK(sched::parse_preflight("deep").value() == sched::PreflightWish{3, false});
    CHECK(sched::parse_preflight("deep,nccl,net").value() == sched::PreflightWish{3, true, true});
    for (const char* bad :
         {"", "on", "off,net", "deeper", "quick,", "quick,nccl,", "quick,net,net", ",net", "quick,deep"}) {
        INFO(bad);
        CHECK_FALSE(sched::parse_preflight(bad));
    }
    Options options;
    const auto refused = options.set_flag(spank::flag_index("rail-preflight"), "fast");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text == "--rail-preflight=fast: must be off, quick, full or deep, or one of these "
                                  "three with ,net, with ,nccl or with both");
    CHECK(options.railrun("n001").ends_with("/railrun"));
    CHECK(options.railckpt("n001").ends_with("/railckpt"));
    REQUIRE(options.set_argument("railcheck=/opt/%n/railcheck"));
    CHECK(options.railcheck("n001") == "/opt/n001/railcheck");
}

TEST_CASE("spank options: watching UCX is off unless it is asked for, and its library stands beside ours") {
    Options options;
    const auto ucx = spank::flag_index("rail-ucx");
    CHECK(options.value(ucx).empty());
    const auto bad = options.set_flag(ucx, "yes");
    REQUIRE_FALSE(bad);
    CHECK(bad.error().text == "--rail-ucx=yes: must be off, watch or stats");
    REQUIRE(options.set_argument("rail-ucx=watch"));
    CHECK(options.value(ucx) == "watch");
    REQUIRE(options.set_flag(ucx, "off"));
    CHECK(options.value(ucx) == "off");
    CHECK(options.ucx_library("n001").ends_with("/librailucx.so"));
    CHECK_FALSE(options.set_argument("ucx=librailucx.so"));
    REQUIRE(options.set_argument("ucx=/opt/%n/librailucx.so"));
    CHECK(options.ucx_library("n001") == "/opt/n001/librailucx.so");
}

TEST_CASE("spank options: what may not have been meant is said, and refuses nothing") {
    const auto nowhere = [](const std::string&) { return false; };
    const auto there = [](const std::string& folder) { return folder == "/scratch/run7"; };
    Options options;
    CHECK(doubts(options, nowhere).empty());
    REQUIRE(options.set_argument("restart=auto")); // the site's default
    CHECK(doubts(options, nowhere).empty());
    REQUIRE(options.set_flag(restart, "auto"));
    REQUIRE(doubts(options, nowhere).size() == 1);
    CHECK(doubts(options, nowhere)[0].find("--restart=auto without --ckpt-dir") == 0);
    REQUIRE(options.set_flag(ckpt_dir, "/scratch/run7"));
    CHECK(doubts(options, there).empty());
    CHECK(doubts(options, nowhere) ==
          std::vector<std::string>{"--ckpt-dir=/scratch/run7: there is no such directory on this host"});
    Options watched;
    REQUIRE(watched.set_flag(spank::flag_index("ckpt-kind"), "dcp"));
    CHECK(doubts(watched, nowhere) ==
          std::vector<std::string>{
              "--ckpt-kind=dcp without --ckpt-dir: has no effect, no directory is watched"});
    REQUIRE(watched.set_flag(ckpt_dir, "/scratch/run7"));
    REQUIRE(watched.set_flag(spank::flag_index("ckpt-signal"), "USR1@ranks"));
    CHECK(doubts(watched, [](const std::string&) { return true; }).empty());
    Options asked;
    REQUIRE(asked.set_flag(spank::flag_index("ckpt-signal"), "USR1@ranks"));
    CHECK(doubts(asked, nowhere) ==
          std::vector<std::string>{
              "--ckpt-signal=USR1@ranks without --ckpt-kind: has no effect, no one asks the program"});
}
