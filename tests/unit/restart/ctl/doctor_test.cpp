#include "restart/ctl/doctor/checks.hpp"
#include "restart/ctl/doctor/gather.hpp"
#include "restart/ctl/doctor/plugins.hpp"
#include "restart/ctl/doctor/show.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <slurm/slurm.h>

using namespace restart;
using namespace restart::doctor;
using namespace std::chrono_literals;

namespace {

HostStatus host(const std::string& name) {
    HostStatus made;
    made.name = name;
    made.state = "IDLE";
    made.agent.last_report = base::now();
    made.agent.slurmd = {{"select_rail", "spank_rail"}};
    return made;
}

// A cluster of three with nothing wrong.
Facts sound() {
    Facts facts;
    facts.config_source = "configuration: /etc/railyard/railyard.conf";
    facts.conf.restartd.url = {"http://10.0.0.1:8917"};
    facts.conf.restartd.observe_only = false;
    facts.conf.restartd.user = "slurm";
    facts.slurm = {{"SLURM_VERSION", "22.05.8"},
                   {"PluginDir", "/usr/lib/slurm"},
                   {"SelectType", "select/rail"},
                   {"JobSubmitPlugins", "lua,rail"},
                   {"SlurmUser", "slurm(64030)"},
                   {"SlurmdTimeout", "300 sec"},
                   {"JobRequeue", "1"},
                   {"SlurmctldHost[0]", "head"},
                   {"TopologyPlugin", "topology/none"}};
    facts.local_release = "22.05.8";
    facts.nodes = {"n001", "n002", "n003"};
    facts.plugins = {{"select_rail", "/usr/lib/slurm/select_rail.so", "22.05.8"},
                     {"spank_rail", "/usr/lib/slurm/spank_rail.so", "22.05.8"}};
    facts.plugstack = "/etc/slurm/plugstack.conf";
    facts.spank = {{"/etc/slurm/plugstack.conf.d/railyard.conf:8", false}};
    facts.fabric.hosts = facts.nodes;
    facts.fabric.age = 24h;
    Status status;
    status.resource_manager.answers = true;
    for (const auto& name : facts.nodes)
        status.hosts.push_back(host(name));
    facts.status = std::move(status);
    facts.journal = {false, 10ull << 30, 20ull << 30};
    return facts;
}

void stock_select(Facts& facts) {
    facts.slurm["SelectType"] = "select/cons_tres";
    for (auto& host : facts.status->hosts)
        host.agent.slurmd->plugins = {"spank_rail"};
}

// As on Slurm 24.11.
void by_topology(Facts& facts) {
    stock_select(facts);
    facts.slurm["TopologyPlugin"] = "topology/rail";
    facts.plugins.push_back({"topology_rail", "/usr/lib/slurm/topology_rail.so", "22.05.8"});
}

struct Mistake {
    const char* code;
    std::function<void(Facts&)> plant;
    bool of_this_host; // --host finds it, too
};

// The mistakes of a site's first weeks.
const std::vector<Mistake> mistakes{
    {"config.wrong", [](Facts& f) { f.config_error = "railyard.conf:3: agent.interval: 1ms is not …"; },
     true},
    {"config.elsewhere",
     [](Facts& f) {
         f.config_source = "configuration: there is no /etc/r.conf; /usr/local/etc/r.conf is not read";
     },
     true},
    {"config.loopback", [](Facts& f) { f.conf.restartd.url = {"http://127.0.0.1:8917"}; }, true},
    {"config.user", [](Facts& f) { f.slurm["SlurmUser"] = "hpc(900)"; }, false},
    {"munge.away", [](Facts& f) { f.munge_error = "munged: is it running?"; }, true},
    {"spank.missing", [](Facts& f) { f.spank.clear(); }, true},
    {"spank.twice",
     [](Facts& f) {
         f.spank.push_back({"/etc/slurm/plugstack.conf:2", false});
     },
     true},
    {"spank.required", [](Facts& f) { f.spank.front().required = true; }, true},
    {"slurm.away", [](Facts& f) { f.slurm_error = "slurmctld cannot be asked"; }, true},
    {"plugin.broken", [](Facts& f) { f.plugins.front().built_for.clear(); }, true},
    {"plugin.release", [](Facts& f) { f.plugins.front().built_for = "22.05.9"; }, true},
    {"slurm.release",
     [](Facts& f) {
         f.local_release = "22.05.7";
         for (auto& plugin : f.plugins)
             plugin.built_for = "22.05.7";
     },
     true},
    {"slurmd.lacks", [](Facts& f) { f.status->hosts[1].agent.slurmd->plugins = {"spank_rail"}; }, false},
    {"slurmd.has",
     [](Facts& f) {
         by_topology(f);
         f.status->hosts[2].agent.slurmd->plugins = {"select_rail", "spank_rail"};
     },
     false},
    {"slurmd.untold", [](Facts& f) { f.status->hosts[1].agent.slurmd.reset(); }, false},
    {"slurmd.release", [](Facts& f) { f.slurmd_releases["22.05.7"] = {"n002"}; }, false},
    {"agent.name", [](Facts& f) { f.status->unknown_hosts = {"n002.cluster.example"}; }, false},
    {"agent.name", [](Facts& f) { f.status->hosts[1].state.reset(); }, false},
    {"plugin.missing", [](Facts& f) { f.plugins.erase(f.plugins.begin()); }, true},
    {"slurm.submit_missing", [](Facts& f) { f.slurm["JobSubmitPlugins"] = "lua"; }, false},
    {"slurm.select_missing", [](Facts& f) { stock_select(f); }, false},
    {"slurm.off",
     [](Facts& f) {
         stock_select(f);
         f.slurm["JobSubmitPlugins"] = "(null)";
     },
     false},
    {"slurm.no_requeue", [](Facts& f) { f.slurm["JobRequeue"] = "0"; }, false},
    {"slurm.never_down", [](Facts& f) { f.slurm["SlurmdTimeout"] = "0 sec"; }, false},
    {"slurm.forgets_jobs", [](Facts& f) { f.slurm["MinJobAge"] = "120 sec"; }, false},
    {"failover.no_program",
     [](Facts& f) {
         f.slurm["SlurmctldHost[1]"] = "head2";
         f.conf.restartd.journal = "/shared/railyard.db";
     },
     false},
    {"failover.journal",
     [](Facts& f) {
         f.slurm["SlurmctldHost[1]"] = "head2";
         f.slurm["SlurmctldPrimaryOnProg"] = "/etc/slurm/on";
     },
     false},
    {"fabric.unreadable", [](Facts& f) { f.fabric_error = "fabric.json: No such file or directory"; }, true},
    {"fabric.old", [](Facts& f) { f.fabric.age = 400 * 24h; }, true},
    {"fabric.lacks_nodes",
     [](Facts& f) {
         f.fabric.hosts = {"n001", "n003"};
     },
     false},
    {"fabric.extra_hosts", [](Facts& f) { f.fabric.hosts.emplace_back("storage1"); }, false},
    {"restartd.away",
     [](Facts& f) {
         f.status.reset();
         f.restartd_error = "http://10.0.0.1:8917: cannot connect";
     },
     true},
    {"restartd.user",
     [](Facts& f) {
         f.status.reset();
         f.restartd_error = "the answer is not signed by restartd's user, slurm";
         f.restartd_impostor = true;
     },
     true},
    {"clock.skewed", [](Facts& f) { f.clock_ahead = -90s; }, true},
    {"restartd.alone",
     [](Facts& f) {
         f.other_restartds.push_back({"http://10.0.0.2:8917", OtherRestartd::Role::standby, "stands by"});
         f.other_restartds.push_back({"http://10.0.0.3:8917", OtherRestartd::Role::away, "no route"});
     },
     false},
    {"restartd.two",
     [](Facts& f) {
         f.other_restartds.push_back({"http://10.0.0.2:8917", OtherRestartd::Role::acting, ""});
     },
     true},
    {"restartd.journal", [](Facts& f) { f.status->journal.error = "disk full"; }, false},
    {"journal.memory",
     [](Facts& f) {
         f.journal = {true, 10ull << 30, 20ull << 30};
     },
     false},
    {"journal.space",
     [](Facts& f) {
         f.journal = {false, 10ull << 20, 20ull << 30};
     },
     false},
    {"restartd.no_slurm", [](Facts& f) { f.status->resource_manager.answers = false; }, false},
    {"restartd.fabric", [](Facts& f) { f.status->fabric.error = "No such file"; }, false},
    {"restartd.observes", [](Facts& f) { f.status->observe_only = true; }, false},
    {"agent.never", [](Facts& f) { f.status->hosts[1].agent.last_report.reset(); }, false},
    {"agent.silent", [](Facts& f) { f.status->hosts[1].agent.silent = true; }, false},
    {"agent.blind", [](Facts& f) { f.status->hosts[2].agent.not_watching = {"nvml: no library"}; }, false},
    {"witness.slow",
     [](Facts& f) {
         f.status->witnesses.slow = true;
         f.status->witnesses.sentences = {"the fabric: no sweep has come"};
     },
     false},
};

std::vector<std::string> codes(const std::vector<Complaint>& complaints) {
    std::vector<std::string> codes;
    for (const auto& complaint : complaints)
        codes.push_back(complaint.code);
    return codes;
}

} // namespace

TEST_CASE("doctor: a sound cluster has no findings") {
    CHECK(codes(complaints(sound(), false)).empty());
    CHECK(codes(complaints(sound(), true)).empty());
    CHECK(show(std::vector<Complaint>{}) == "nothing is wrong\n");
}

TEST_CASE("doctor: each planted mistake is found, alone, with a way out") {
    for (const auto& mistake : mistakes) {
        INFO(mistake.code);
        auto facts = sound();
        mistake.plant(facts);
        const auto found = complaints(facts, false);
        CHECK(codes(found) == std::vector<std::string>{mistake.code});
        for (const auto& complaint : found) {
            CHECK_FALSE(complaint.text.empty());
            CHECK_FALSE(complaint.fix.empty());
        }
        CHECK(codes(complaints(facts, true)).empty() == !mistake.of_this_host);
    }
}

TEST_CASE("doctor: slurmds that are down or silent need not have told what they loaded") {
    auto facts = sound();
    for (auto& one : facts.status->hosts)
        one.agent.slurmd.reset();
    facts.status->hosts[0].down = true;
    facts.status->hosts[1].agent.silent = true;
    CHECK(codes(complaints(facts, false)) == std::vector<std::string>{"agent.silent", "slurmd.untold"});
    stock_select(facts = sound());
    for (auto& one : facts.status->hosts)
        one.agent.slurmd.reset(); // before anything is switched on it is no matter
    facts.slurm["JobSubmitPlugins"] = "lua";
    CHECK(codes(complaints(facts, false)) == std::vector<std::string>{"slurm.off"});
}

TEST_CASE("doctor: topology/rail needs no slurmd, but one that has it is found afterwards") {
    auto facts = sound();
    by_topology(facts);
    CHECK(complaints(facts, false).empty());
    facts.status->hosts[0].agent.slurmd->plugins = {"spank_rail", "topology_rail"};
    facts.status->hosts[1].agent.slurmd.reset(); // before its first start with spank_rail
    CHECK(complaints(facts, false).empty());
    facts.slurm["TopologyPlugin"] = "topology/default";
    facts.slurm["JobSubmitPlugins"] = "lua";
    CHECK(codes(complaints(facts, false)) == std::vector<std::string>{"slurm.off", "slurmd.has"});
}

TEST_CASE("doctor: the release is read from what scontrol prints") {
    CHECK(release_in("slurm 22.05.8\n") == "22.05.8");
    CHECK(release_in("slurm-wlm 24.11.5\n") == "24.11.5");
    CHECK(release_in("nothing\n").empty());
    CHECK(release_in("").empty());
}

TEST_CASE("doctor: mistakes are shown worst first and counted") {
    const std::vector<Complaint> found{{"b.note", Weight::note, "a thing", "look"},
                                       {"a.error", Weight::error, "a fault", "mend it"},
                                       {"c.error", Weight::error, "another", "mend it, too"}};
    CHECK(show(found) == "error: a fault [a.error]\n    mend it\nerror: another [c.error]\n    mend it, too\n"
                         "note: a thing [b.note]\n    look\n2 errors, 0 warnings, 1 note\n");
    const auto json = *base::parse_json(to_json(found));
    CHECK(json.at("findings").as_array().size() == 3);
    CHECK(json.at("findings").at(1).at("weight").as_string() == "error");
}

TEST_CASE("doctor: slurmctld's configuration is read by key") {
    const auto read = parse_config("Configuration data as of 2026-11-22T10:00:00\n"
                                   "AccountingStorageTRES   = cpu,mem\n"
                                   "SlurmctldHost[0]        = head(10.0.0.1)\n"
                                   "PlugStackConfig         = /etc/slurm/plugstack.conf\n"
                                   "Prolog                  = (null)\n\n"
                                   "Slurmctld(primary) at head is UP");
    CHECK(read.size() == 4);
    CHECK(read.at("SlurmctldHost[0]") == "head(10.0.0.1)");
    CHECK(read.at("AccountingStorageTRES") == "cpu,mem");
}

TEST_CASE("doctor: a slurm.conf that names no plugstack.conf has Slurm's usual one") {
    CHECK(named_plugstack({{"PlugStackConfig", "/opt/plugstack.conf"}}) == "/opt/plugstack.conf");
    CHECK(named_plugstack({{"PlugStackConfig", "(null)"}}) == "/etc/slurm/plugstack.conf");
    CHECK(named_plugstack({}) == "/etc/slurm/plugstack.conf");
}

TEST_CASE("doctor: plugins say which Slurm they are for, and what is none is named") {
    const test::Folder folder;
    const auto stock = std::filesystem::path(TEST_SLURM_PLUGINS) / "auth_munge.so"; // Slurm's own
    if (std::filesystem::exists(stock)) {
        CHECK(built_for(stock).value_or("") == fmt::format("{}.{:02}.{}",
                                                           SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
                                                           SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER),
                                                           SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER)));
    } else {
        WARN("SKIP: no plugin of Slurm in " << TEST_SLURM_PLUGINS);
    }
    CHECK_FALSE(built_for("/bin/sh")); // a program
    const auto program = base::read_file("/bin/sh");
    REQUIRE(program);
    REQUIRE(base::write_file((folder.path / "torn").string(), program->substr(0, 5000)));
    CHECK_FALSE(built_for(folder.path / "torn"));
    REQUIRE(base::write_file((folder.path / "select_rail.so").string(), "no plugin"));
    const auto found = plugins_in("/nowhere:" + folder.path.string());
    REQUIRE(found.size() == 1);
    CHECK(found[0] == PluginFile{"select_rail", (folder.path / "select_rail.so").string(), ""});
}

TEST_CASE("doctor: lines of plugstack.conf are found through its includes") {
    const test::Folder folder;
    std::filesystem::create_directory(folder.path / "d");
    const auto write = [&](const char* name, const std::string& text) {
        REQUIRE(base::write_file((folder.path / name).string(), text));
        return (folder.path / name).string();
    };
    const auto main =
        write("plugstack.conf", "# optional spank_rail.so\noptional other.so\ninclude d/*.conf\n"
                                "include plugstack.conf\n"); // itself: ends all the same
    const auto one = write("d/1.conf", "\noptional /opt/lib/spank_rail.so socket=/run/x\n");
    const auto two = write("d/2.conf", "required spank_rail.so # twice\n");
    const auto lines = spank_lines(main);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0] == PlugstackLine{one + ":2", false});
    CHECK(lines[1] == PlugstackLine{two + ":1", true});
    CHECK(spank_lines(folder.path / "none").empty());
}

TEST_CASE("doctor: a host that is lost or down is no fault of the installation") {
    auto facts = sound();
    auto& host = facts.status->hosts[1];
    host.agent.silent = host.lost = true;
    const auto found = complaints(facts, false);
    CHECK(codes(found) == std::vector<std::string>{"agent.lost"});
    CHECK(found.at(0).weight == Weight::note);
}
