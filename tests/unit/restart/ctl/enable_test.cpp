#include "restart/ctl/enable/acting.hpp"
#include "restart/ctl/enable/commands.hpp"
#include "restart/ctl/enable/files.hpp"
#include "restart/ctl/enable/gather.hpp"
#include "restart/ctl/enable/plan.hpp"
#include "restart/ctl/enable/settings.hpp"
#include "restart/ctl/enable/show.hpp"
#include "restart/ctl/enable/slurmds.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <sys/stat.h>
#include <unistd.h>

using namespace restart;
using namespace restart::enable;
using namespace std::chrono_literals;

namespace {

constexpr base::Time morning{std::chrono::seconds(1'790'000'000)};
constexpr const char* stock = "# head\nClusterName=c\nSlurmctldHost=head\nSelectType=select/cons_tres\n"
                              "JobSubmitPlugins=lua\nNodeName=n[1-3]\nPartitionName=p Nodes=ALL\n";

void set(Facts& facts, const std::string& key, const std::string& value) {
    SlurmText text(facts.conf);
    REQUIRE(text.set(key, value));
    facts.conf = text.files();
}
void runs(Facts& facts, const std::string& key, const std::string& value) {
    facts.doctor.slurm[key] = value;
}

// Slurm 22.05 with nothing of ours in use, and nothing in the way.
Facts before_all() {
    Facts facts;
    facts.this_host = "head";
    facts.root = true;
    facts.release = "22.05.8";
    facts.conf = {{"/etc/slurm/slurm.conf", stock}};
    facts.plugstack = "/etc/slurm/plugstack.conf";
    facts.controller_up = true;
    facts.plugin_dir = "/usr/lib/slurm";
    for (const char* name : {"select_rail", "topology_rail", "job_submit_rail", "spank_rail"})
        facts.plugins.push_back({name, fmt::format("/usr/lib/slurm/{}.so", name), "22.05.8"});
    facts.shadow_dir = "/usr/lib/railyard/shadow";
    facts.shadow_release = "22.05.8";
    runs(facts, "SelectType", "select/cons_tres");
    runs(facts, "JobSubmitPlugins", "lua");
    runs(facts, "SLURM_VERSION", "22.05.8");
    for (const char* name : {"n1", "n2", "n3"})
        facts.hosts.push_back({name, name, 6818, true, morning, "22.05.8", "IDLE", "", morning});
    return facts;
}
Facts after_all() {
    auto facts = before_all();
    for (const auto& [key, value] :
         {std::pair("SelectType", "select/rail"), std::pair("JobSubmitPlugins", "lua,rail")}) {
        set(facts, key, value);
        runs(facts, key, value);
    }
    facts.spank = {{"/etc/slurm/plugstack.conf:1", false}};
    facts.plugstack_text = "optional spank_rail.so\n";
    facts.changed = morning - 1h;
    return facts;
}
Facts debian13(const char* release = "24.11.5") {
    auto facts = before_all();
    facts.release = release;
    for (auto& plugin : facts.plugins)
        plugin.built_for = facts.release;
    runs(facts, "SLURM_VERSION", facts.release);
    return facts;
}

// Steps by name, those that are done in brackets.
std::string steps(const Plan& plan) {
    std::vector<std::string> words;
    for (const auto& step : plan.steps)
        words.push_back(step.done ? "(" + step.id + ")" : step.id);
    return fmt::format("{}", fmt::join(words, " "));
}
std::string settings(const Plan& plan) {
    std::vector<std::string> words;
    for (const auto& change : plan.settings)
        words.push_back(change.key + "=" + change.after);
    return fmt::format("{}", fmt::join(words, " "));
}
std::string obstacles(const Plan& plan) {
    std::vector<std::string> words;
    for (const auto& obstacle : plan.obstacles)
        words.push_back(obstacle.code);
    return fmt::format("{}", fmt::join(words, " "));
}

Wish on(std::optional<Way> way = {}) {
    Wish wish;
    wish.way = way;
    return wish;
}
Wish off() {
    Wish wish;
    wish.on = false;
    return wish;
}

struct Situation {
    const char* what;
    Facts facts;
    Wish wish;
    const char *steps, *settings;
};

Facts with(Facts facts, const std::function<void(Facts&)>& change) {
    change(facts);
    return facts;
}
void stopped(Facts& facts) {
    facts.controller_up = false;
    facts.doctor.slurm.clear();
    for (auto& host : facts.hosts)
        host.state.clear();
}

} // namespace

TEST_CASE("enable: the order goes on from wherever it stopped") {
    const std::vector<Situation> situations{
        {"from the beginning", before_all(), on(),
         "flags hosts.check slurmctld.stop conf.head hosts.copy hosts.restart slurmctld.start verify",
         "SelectType=select/rail JobSubmitPlugins=lua,rail"},
        {"slurmctld is stopped", with(before_all(), stopped), on(),
         "flags hosts.check (slurmctld.stop) conf.head hosts.copy hosts.restart slurmctld.start verify",
         "SelectType=select/rail JobSubmitPlugins=lua,rail"},
        {"slurm.conf is changed, no slurmd has restarted",
         with(after_all(),
              [](Facts& f) {
                  stopped(f);
                  f.changed = morning + 1min;
              }),
         on(),
         "(flags) hosts.check (slurmctld.stop) (conf.head) hosts.copy hosts.restart slurmctld.start verify",
         ""},
        {"all slurmds have restarted", with(after_all(), stopped), on(),
         "(flags) (hosts.check) (slurmctld.stop) (conf.head) (hosts.copy) (hosts.restart) slurmctld.start "
         "verify",
         ""},
        {"slurm.conf is changed under a slurmctld that goes on",
         with(after_all(), [](Facts& f) { runs(f, "SelectType", "select/cons_tres"); }), on(),
         "(flags) hosts.check slurmctld.stop (conf.head) hosts.copy hosts.restart slurmctld.start verify",
         ""},
        {"all is done", after_all(), on(),
         "(flags) (hosts.check) (slurmctld.stop) (conf.head) (hosts.copy) (hosts.restart) (slurmctld.start) "
         "(verify)",
         ""},
        {"a slurmd runs on as before, and one is away",
         with(after_all(),
              [](Facts& f) {
                  f.hosts[0].since = f.hosts[0].registered = morning - 2h;
                  f.hosts[1].answers = false;
                  f.hosts[1].registered = morning - 2h;
              }),
         on(),
         "(flags) (hosts.check) (slurmctld.stop) (conf.head) (hosts.copy) (hosts.restart) (slurmctld.start) "
         "(verify) "
         "hosts.late",
         ""},
        {"one that was late has restarted",
         with(after_all(),
              [](Facts& f) {
                  f.hosts[0].state = "IDLE+DRAIN";
                  f.hosts[0].reason = std::string(drain_reason) + " [root@now]";
              }),
         on(),
         "(flags) (hosts.check) (slurmctld.stop) (conf.head) (hosts.copy) (hosts.restart) (slurmctld.start) "
         "(verify) "
         "hosts.back",
         ""},
        {"with a backup", with(before_all(), [](Facts& f) { f.conf[0].text += "SlurmctldHost=head2\n"; }),
         on(),
         "flags hosts.check (backup.stop) slurmctld.stop conf.head hosts.copy hosts.restart slurmctld.start "
         "verify "
         "backup.start",
         "SelectType=select/rail JobSubmitPlugins=lua,rail"},
        {"off", after_all(), off(),
         "slurmctld.stop conf.head hosts.copy hosts.restart slurmctld.start verify",
         "SelectType=select/cons_tres JobSubmitPlugins=lua"},
        {"JobSubmitPlugins alone is missing: slurmds go on",
         with(after_all(),
              [](Facts& f) {
                  set(f, "JobSubmitPlugins", "lua");
                  runs(f, "JobSubmitPlugins", "lua");
              }),
         on(), "(flags) hosts.check slurmctld.stop conf.head slurmctld.start verify hosts.copy",
         "JobSubmitPlugins=lua,rail"},
        {"off where it never was on", before_all(), off(),
         "(slurmctld.stop) (conf.head) (hosts.copy) (hosts.restart) (slurmctld.start) (verify)", ""},
        {"by shadow: slurmds go on", before_all(), on(Way::shadow),
         "flags hosts.check slurmctld.stop conf.head slurmctld.start verify hosts.copy",
         "PluginDir=/usr/lib/railyard/shadow:/usr/lib/slurm JobSubmitPlugins=lua,rail"},
        {"off, by shadow",
         with(before_all(),
              [](Facts& f) {
                  f.plugin_dir = "/usr/lib/railyard/shadow:/usr/lib/slurm";
                  set(f, "PluginDir", f.plugin_dir);
                  runs(f, "PluginDir", f.plugin_dir);
              }),
         off(), "slurmctld.stop conf.head slurmctld.start verify hosts.copy", "PluginDir=/usr/lib/slurm"},
        {"24.11", debian13(), on(),
         "flags hosts.check slurmctld.stop conf.head slurmctld.start verify hosts.copy",
         "TopologyPlugin=topology/rail JobSubmitPlugins=lua,rail"},
        {"24.11 off, with switches in topology.conf",
         with(debian13(),
              [](Facts& f) {
                  set(f, "TopologyPlugin", "topology/rail");
                  runs(f, "TopologyPlugin", "topology/rail");
                  f.topology_conf = "SwitchName=s Nodes=n[1-3]\n";
              }),
         off(), "slurmctld.stop conf.head slurmctld.start verify hosts.copy", "TopologyPlugin=topology/tree"},
        {"24.11 does not look at topology.yaml", with(debian13(), [](Facts& f) { f.topology_yaml = true; }),
         on(), "flags hosts.check slurmctld.stop conf.head slurmctld.start verify hosts.copy",
         "TopologyPlugin=topology/rail JobSubmitPlugins=lua,rail"},
        {"configless hosts of 24.11 get it from slurmctld",
         with(debian13(), [](Facts& f) { set(f, "SlurmctldParameters", "enable_configless"); }), on(),
         "flags hosts.check slurmctld.stop conf.head slurmctld.start verify (hosts.copy)",
         "TopologyPlugin=topology/rail JobSubmitPlugins=lua,rail"},
    };
    for (const auto& each : situations) {
        INFO(each.what);
        const auto plan = make_plan(each.facts, each.wish);
        CHECK(steps(plan) == each.steps);
        CHECK(settings(plan) == each.settings);
        CHECK(obstacles(plan).empty());
    }
}

TEST_CASE("enable: what would stop slurmctld or jobs is found before anything is touched") {
    struct Mistake {
        const char* code;
        std::function<void(Facts&)> plant;
        Wish wish = on();
    };
    const std::vector<Mistake> mistakes{
        {"plugin.missing", [](Facts& f) { f.plugins.erase(f.plugins.begin()); }},
        {"plugin.missing", [](Facts& f) { f.plugins[2].built_for.clear(); }},
        {"plugin.missing", [](Facts& f) { f.shadow_release.clear(); }, on(Way::shadow)},
        {"plugin.release", [](Facts& f) { f.plugins[0].built_for = "22.05.9"; }},
        {"way.release", [](Facts&) {}, on(Way::topology)},
        {"way.other", [](Facts& f) { set(f, "SelectType", "select/rail"); }, on(Way::shadow)},
        {"slurm.select", [](Facts& f) { set(f, "SelectType", "select/linear"); }},
        {"slurm.unknown", [](Facts& f) { f.release.clear(); }},
        {"slurm.max_node_count", [](Facts& f) { set(f, "MaxNodeCount", "64"); }},
        {"slurm.topology_yaml", [](Facts& f) { (f = debian13("25.11.7")).topology_yaml = true; }},
        {"slurm.configless", [](Facts& f) { set(f, "SlurmctldParameters", "enable_configless"); }},
        {"hosts.release", [](Facts& f) { f.hosts[1].version = "22.05.2"; }},
        {"conf.unclear", [](Facts& f) { f.conf[0].text += "SelectType=select/cons_tres\n"; }},
        {"conf.unreadable", [](Facts& f) { f.conf_error = "/etc/slurm/slurm.conf: No such file"; }},
        {"fabric.unreadable", [](Facts& f) { f.doctor.fabric_error = "fabric.json: No such file"; }},
        {"config.wrong", [](Facts& f) { f.doctor.config_error = "railyard.conf:1: unknown"; }},
        {"munge.away", [](Facts& f) { f.doctor.munge_error = "munged: is it running?"; }},
        {"apply.root", [](Facts& f) { f.root = false; }},
        {"apply.unsafe", [](Facts& f) { f.unsafe = "/etc/slurm: others can write"; }},
        {"apply.head", [](Facts& f) { f.this_host = "login"; }},
        {"apply.backup",
         [](Facts& f) {
             f.conf[0].text += "SlurmctldHost=head2\n";
             f.backups_up = {"head2"};
         }},
        {"apply.backup",
         [](Facts& f) {
             stopped(f); // it has taken over
             f.conf[0].text += "SlurmctldHost=head2\n";
             f.backups_up = {"head2"};
         }},
    };
    for (const auto& mistake : mistakes) {
        INFO(mistake.code);
        auto facts = before_all();
        mistake.plant(facts);
        const auto plan = make_plan(facts, mistake.wish);
        CHECK(obstacles(plan) == mistake.code);
        for (const auto& obstacle : plan.obstacles)
            CHECK_FALSE(obstacle.fix.empty());
    }
}

TEST_CASE("disable: a slurmd that still has topology/rail is told of") {
    auto facts = debian13();
    set(facts, "TopologyPlugin", "topology/rail");
    runs(facts, "TopologyPlugin", "topology/rail");
    CHECK(show(make_plan(facts, off())).find("its slurmd restarts") != std::string::npos);
    CHECK(show(make_plan(before_all(), off())).find("its slurmd restarts") == std::string::npos);
}

TEST_CASE("disable: without a select_rail that loads the saved jobs could not be read") {
    auto facts = after_all();
    facts.plugins[0].built_for = "22.05.9";
    const auto plan = make_plan(facts, off());
    CHECK(obstacles(plan) == "state.number");
    CHECK(plan.obstacles.at(0).fix.find("never start slurmctld with -i or -c") != std::string::npos);
    facts = before_all(); // nothing saved by it
    facts.plugins.clear();
    CHECK(obstacles(make_plan(facts, off())).empty());
}

TEST_CASE("enable: flags alone are a line of plugstack.conf, and go with it") {
    auto wish = on();
    wish.part = Part::flags;
    auto facts = before_all();
    facts.plugstack_text = "optional other.so";
    auto plan = make_plan(facts, wish);
    CHECK(steps(plan) == "flags hosts.copy");
    REQUIRE(plan.files.size() == 1);
    CHECK(plan.files[0].after == "optional other.so\noptional spank_rail.so\n");
    facts.plugstack_text = plan.files[0].after;
    facts.spank = {{"/etc/slurm/plugstack.conf:2", false}};
    CHECK(make_plan(facts, wish).nothing_to_do());
    wish.on = false;
    plan = make_plan(facts, wish);
    REQUIRE(plan.files.size() == 1);
    CHECK(plan.files[0].after == "optional other.so\n");
    facts.spank = {{"/etc/slurm/plugstack.conf.d/railyard.conf:8", false}};
    CHECK(obstacles(make_plan(facts, wish)) == "flags.included");
}

TEST_CASE("enable: a plan is shown with a line for each tool, and as JSON") {
    const auto plan = make_plan(before_all(), on());
    const auto text = show(plan);
    for (const char* part :
         {"1. to do on the head: /etc/slurm/plugstack.conf loads spank_rail.so",
          "clush -w 'n[1-3]' systemctl restart slurmd", "or pdsh -w 'n[1-3]' systemctl restart slurmd",
          "or ansible all -i", "/etc/slurm/slurm.conf: SelectType=select/cons_tres -> SelectType=select/rail",
          "the emergency line, on all hosts", "nothing has been changed"})
        CHECK(text.find(part) != std::string::npos);
    const auto json = *base::parse_json(to_json(plan));
    CHECK(json.at("way").as_string() == "select");
    CHECK_FALSE(json.at("done").as_bool());
    CHECK(json.at("steps").as_array().size() == 8);
    CHECK(base::parse_json(to_json(make_plan(after_all(), on())))->at("done").as_bool());
}

TEST_CASE("enable: what a person pastes is quoted for a shell") {
    CHECK(quoted("systemctl") == "systemctl");
    CHECK(quoted("n[1-3]") == "'n[1-3]'");
    CHECK(quoted("a'b; rm") == "'a'\\''b; rm'");
    CHECK(quoted("") == "''");
    Wish wish;
    wish.run_on_hosts = "clush -S -w";
    CHECK(run_lines(wish, {"n1", "n2"}, {"systemctl", "restart", "slurmd"}) ==
          std::vector<std::string>{"clush -S -w 'n[1-2]' systemctl restart slurmd"});
}

TEST_CASE("enable: a file is replaced at one stroke, keeps owner and mode, and is kept beside it") {
    const test::Folder folder;
    const auto path = folder.path / "slurm.conf";
    REQUIRE(base::write_file(path, "old\n", 0640));
    const bool root = ::geteuid() == 0;
    if (root) REQUIRE(::chown(path.c_str(), 7, 8) == 0);
    const auto copy = keep_copy(path, "select", morning);
    REQUIRE(copy);
    CHECK(copy->filename() == "slurm.conf.before-railyard-select-1790000000");
    CHECK(*keep_copy(path, "select", morning) == *copy); // the same text
    CHECK(last_kept(path, "select") == morning);
    CHECK_FALSE(last_kept(path, "shadow"));
    CHECK(kept_text(path, "select", morning) == "old\n");
    REQUIRE(replace_file(path, "old\n", "new\n"));
    forget_copy(path, "select", morning); // not while the file is another
    CHECK(kept_text(path, "select", morning) == "old\n");
    CHECK(*base::read_file(path) == "new\n");
    for (const auto& file : {path, *copy}) {
        struct stat info {};
        REQUIRE(::stat(file.c_str(), &info) == 0);
        CHECK((info.st_mode & 07777) == 0640);
        if (root) CHECK((info.st_uid == 7 && info.st_gid == 8));
    }
    CHECK_FALSE(keep_copy(path, "select", morning));             // never over another
    const auto refused = replace_file(path, "old\n", "newer\n"); // somebody wrote meanwhile
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find("changed by somebody else") != std::string::npos);
    CHECK(*base::read_file(path) == "new\n");
    REQUIRE(replace_file(folder.path / "made", {}, "x\n"));
    CHECK_FALSE(replace_file(folder.path / "made", {}, "y\n"));
    REQUIRE(replace_file(folder.path / "made", "x\n", {}));
    CHECK_FALSE(std::filesystem::exists(folder.path / "made"));
    std::filesystem::create_symlink(path, folder.path / "link");
    CHECK_FALSE(replace_file(folder.path / "link", "new\n", "y\n"));
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 3); // and nothing half made
    REQUIRE(replace_file(path, "new\n", "old\n"));
    forget_copy(path, "select", morning);
    CHECK_FALSE(std::filesystem::exists(*copy));
}

TEST_CASE("enable: files that others can change or exchange are refused, with the place") {
    const test::Folder folder;
    ::chmod(folder.path.c_str(), 0755);
    const auto path = folder.path / "slurm.conf";
    REQUIRE(base::write_file(path, "x\n", 0644));
    CHECK(only_ours(path, "root"));
    ::chmod(path.c_str(), 0666);
    CHECK_FALSE(only_ours(path, "root"));
    ::chmod(path.c_str(), 0644);
    ::chmod(folder.path.c_str(), 0777);
    const auto refused = only_ours(path, "root");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find(folder.path.string() + ":") != std::string::npos);
    ::chmod(folder.path.c_str(), 0755);
    if (::geteuid() != 0) return;
    REQUIRE(::chown(path.c_str(), 1, 1) == 0); // daemon
    CHECK_FALSE(only_ours(path, "root"));
    CHECK(only_ours(path, "daemon")); // SlurmUser's own
}

TEST_CASE("enable: slurm.conf is read with its includes, from its own directory") {
    const test::Folder folder;
    REQUIRE(base::write_file(folder.path / "slurm.conf", "ClusterName=c\nInclude %c.nodes\n"));
    REQUIRE(base::write_file(folder.path / "c.nodes", "NodeName=n[1-2] NodeAddr=a[1-2] Port=[71-72]\n"
                                                      "NodeName=c1 State=CLOUD\n"));
    const auto files = read_slurm_conf(folder.path / "slurm.conf");
    REQUIRE(files);
    REQUIRE(files->size() == 2);
    const auto hosts = hosts_of(*files);
    REQUIRE(hosts);
    REQUIRE(hosts->size() == 2);
    CHECK((*hosts)[1].address == "a2");
    CHECK((*hosts)[1].port == 72);
    REQUIRE(base::write_file(folder.path / "c.nodes", "Include slurm.conf\n"));
    CHECK_FALSE(read_slurm_conf(folder.path / "slurm.conf"));
    CHECK_FALSE(read_slurm_conf(folder.path / "none.conf"));
}

TEST_CASE("enable: what Slurm prints is read") {
    CHECK(up_in("Slurmctld(primary) at head is UP\nSlurmctld(backup) at head2 is DOWN\n") ==
          std::vector<std::string>{"head"});
    CHECK(boot_time("Boot time                = 2026-11-22T13:32:12\nHostname = n1\n"));
    CHECK_FALSE(boot_time("Boot time = NONE\n"));
    CHECK(release_number("22.05.8") == 2205);
    CHECK(release_number("24.11.5-1") == 2411);
    CHECK(release_number("") == 0);
}

TEST_CASE("enable acting: observe_only is changed where it stands, and nothing else is") {
    struct Case {
        const char *before, *after;
    };
    for (const auto& [before, after] : std::vector<Case>{
             {"[restartd]\nobserve_only = true # a week\n[agent]\n",
              "[restartd]\nobserve_only = false # a week\n[agent]\n"},
             {"# observe_only = true\n[restartd]\nuser = \"slurm\"\n",
              "# observe_only = true\n[restartd]\nobserve_only = false\nuser = \"slurm\"\n"},
             {"[restartd]", "[restartd]\nobserve_only = false\n"},
             {"", "[restartd]\nobserve_only = false\n"},
             {"[restartd]\r\n observe_only=true\r\n", "[restartd]\r\n observe_only=false\r\n"},
         }) {
        const auto changed = with_observe_only(before, false);
        REQUIRE(changed);
        CHECK(*changed == after);
        CHECK(*with_observe_only(*changed, false) == *changed);
    }
    CHECK_FALSE(with_observe_only("restartd.observe_only = true\n", false)); // another table would follow it
}

TEST_CASE("enable acting: not with an error of the doctor's; the way back is always open") {
    auto wish = on();
    wish.part = Part::acting;
    auto facts = before_all();
    facts.railyard_conf = "/etc/railyard/railyard.conf";
    facts.railyard_text = "[restartd]\nobserve_only = true\n";
    facts.doctor.conf.restartd.url = {"http://10.0.0.1:8917"};
    facts.doctor.conf.restartd.observe_only = true;
    facts.doctor.slurm.clear();
    Status status;
    status.resource_manager.answers = true;
    status.observe_only = true;
    facts.doctor.status = status;
    auto plan = make_plan(facts, wish);
    CHECK(obstacles(plan).empty());
    CHECK(steps(plan) == "observe.conf restartd.reload verify");
    facts.doctor.status.reset();
    facts.doctor.restartd_error = "it does not answer";
    CHECK(obstacles(make_plan(facts, wish)) == "restartd.away");
    facts.doctor.conf.restartd.observe_only = false;
    wish.on = false;
    plan = make_plan(facts, wish);
    CHECK(obstacles(plan).empty());
    REQUIRE(plan.files.size() == 1);
    status.observe_only = true;
    facts.doctor.status = status;
    facts.doctor.conf.restartd.observe_only = true;
    CHECK(make_plan(facts, wish).nothing_to_do());
}
