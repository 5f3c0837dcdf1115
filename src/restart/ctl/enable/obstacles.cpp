#include "restart/ctl/enable/obstacles.hpp"

#include "base/hostlist.hpp"
#include "restart/ctl/doctor/checks.hpp"
#include "restart/ctl/enable/settings.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace restart::enable {
namespace {

constexpr int topology_since = 2405; // the release
constexpr int yaml_since = 2505;     // topology.yaml, which replaces TopologyPlugin

// The doctor's findings with which placement must not be switched on.
constexpr const char* grave[] = {"config.wrong", "munge.away", "plugin.broken", "plugin.release",
                                 "fabric.unreadable"};

class Obstacles {
public:
    Obstacles(const Facts& facts, const Plan& plan) : facts_(facts), plan_(plan), conf_(facts.conf) {}

    std::vector<Obstacle> all() {
        if (plan_.part == Part::placement) plan_.on ? switching_on() : switching_off();
        if (plan_.part == Part::flags && plan_.on) have_plugin("spank_rail", "railyard-login");
        applying();
        return std::move(found_);
    }

private:
    void add(std::string code, std::string text, std::string fix, bool of_apply = false) {
        found_.push_back({std::move(code), std::move(text), std::move(fix), of_apply});
    }

    std::string setting(const char* key) const {
        if (const auto value = conf_.value(key)) return *value;
        const auto found = facts_.doctor.slurm.find(key);
        return found == facts_.doctor.slurm.end() || found->second == "(null)" ? std::string()
                                                                               : found->second;
    }

    void switching_on() {
        const int release = release_number(facts_.release);
        if (release == 0) {
            add("slurm.unknown", "scontrol --version does not tell which Slurm this is",
                "is Slurm installed here?");
            return;
        }
        if (plan_.way == Way::topology ? release < topology_since : release >= topology_since)
            add("way.release",
                fmt::format("--by {}: not with Slurm {}", to_string(plan_.way), facts_.release),
                release < topology_since ? "--by select or --by shadow" : "--by topology");
        const auto have = switched(conf_, facts_.shadow_dir);
        for (const auto& [on, way] :
             {std::pair(have.select, Way::select), std::pair(have.shadow, Way::shadow)})
            if (on && plan_.way != way)
                add("way.other", fmt::format("placement is switched on by {} already", to_string(way)),
                    "railctl disable --apply first");
        const auto select = setting("SelectType");
        if (!select.empty() && select != "select/cons_tres" && !have.select)
            add("slurm.select",
                fmt::format("{} is in use, and Railyard stands before select/cons_tres", select),
                "change to SelectType=select/cons_tres first (slurm.conf(5)), and run with that for a while");
        for (auto& obstacle : plugin_obstacles(facts_, plan_.way, true))
            found_.push_back(std::move(obstacle));
        if (plan_.way == Way::topology && release >= yaml_since && facts_.topology_yaml)
            add("slurm.topology_yaml",
                "topology.yaml stands beside slurm.conf: Slurm takes no TopologyPlugin then",
                "take the file away (topology/rail needs none), or put railyard/shadow first in PluginDir on "
                "all "
                "hosts (topology_rail(8))");
        if (plan_.way == Way::select) of_select();
        for (const auto& complaint : doctor::complaints(facts_.doctor, false))
            if (std::find(std::begin(grave), std::end(grave), complaint.code) != std::end(grave))
                add(complaint.code, complaint.text, complaint.fix);
    }

    void of_select() {
        if (const auto most = setting("MaxNodeCount");
            !most.empty() && most != "0" && conf_.value("MaxNodeCount"))
            add("slurm.max_node_count",
                "MaxNodeCount is set: slurmctld allows it with select/cons_tres alone", "--by shadow");
        if (configless(facts_))
            add("slurm.configless",
                "hosts get slurm.conf from slurmctld: their slurmds cannot restart while it is stopped",
                "--by shadow");
        std::map<std::string, std::vector<std::string>> others;
        for (const auto& host : facts_.hosts)
            if (!host.version.empty() && host.version != facts_.release)
                others[host.version].push_back(host.name);
        for (const auto& [version, hosts] : others)
            add("hosts.release",
                fmt::format("slurmd is {} on {}, and {} here: each needs the plugin for its own release",
                            version, base::fold_hostlist(hosts), facts_.release),
                "bring all hosts to one release first, or --by shadow");
    }

    void have_plugin(const char* name, const char* package) {
        if (std::none_of(facts_.plugins.begin(), facts_.plugins.end(),
                         [&](const doctor::PluginFile& file) { return file.name == name; }))
            add("plugin.missing",
                fmt::format("there is no {}.so in {} on this host", name, facts_.plugin_dir),
                fmt::format("install {} here", package));
    }

    // Jobs' data that slurmctld saved under select/rail contains that plugin's number.
    void switching_off() {
        const auto have = switched(conf_, facts_.shadow_dir),
                   runs = switched(facts_.doctor.slurm, facts_.shadow_dir);
        if (!have.select && !runs.select) return;
        for (const auto& obstacle : plugin_obstacles(facts_, Way::select, false))
            add("state.number",
                fmt::format("{}, and the jobs that slurmctld has saved cannot be read without it: slurmctld "
                            "would stop "
                            "with \"Incomplete job state save file\"",
                            obstacle.text),
                fmt::format("{}; never start slurmctld with -i or -c, which loses the jobs", obstacle.fix));
    }

    void applying() {
        if (!facts_.root)
            add("apply.root", "only root may change slurm.conf and stop slurmctld", "sudo", true);
        if (!facts_.unsafe.empty()) add("apply.unsafe", facts_.unsafe, "then run this again", true);
        if (plan_.part != Part::placement) return;
        const auto all = controllers(facts_);
        if (!all.empty() && all.front() != facts_.this_host)
            add("apply.head",
                fmt::format("slurmctld runs on {}, and this is {}", all.front(), facts_.this_host),
                "run this there", true);
        if (plan_.due("slurmctld.start") != nullptr && !facts_.backups_up.empty())
            add("apply.backup",
                fmt::format("slurmctld answers on {}: it would take over with the former slurm.conf",
                            fmt::join(facts_.backups_up, ", ")),
                "systemctl stop slurmctld there, then run this again; the order ends with starting it", true);
    }

    const Facts& facts_;
    const Plan& plan_;
    SlurmText conf_;
    std::vector<Obstacle> found_;
};

} // namespace

std::vector<Obstacle> find_obstacles(const Facts& facts, const Plan& plan) {
    return Obstacles(facts, plan).all();
}

std::vector<Obstacle> plugin_obstacles(const Facts& facts, Way way, bool head) {
    std::vector<Obstacle> found;
    const auto judge = [&](const std::string& path, const std::string& built_for, const char* package) {
        if (built_for.empty())
            found.push_back({"plugin.missing",
                             fmt::format("there is no {}, or it is no plugin of Slurm", path),
                             fmt::format("install {} for Slurm {}", package, facts.release)});
        else if (built_for != facts.release)
            found.push_back({"plugin.release",
                             fmt::format("{} is built for Slurm {}, and Slurm here is {}", path, built_for,
                                         facts.release),
                             fmt::format("install {} for Slurm {}", package, facts.release)});
    };
    const auto wanted = [&](const std::string& name, const char* package) {
        const auto file = std::find_if(facts.plugins.begin(), facts.plugins.end(),
                                       [&](const doctor::PluginFile& each) { return each.name == name; });
        const bool there = file != facts.plugins.end();
        judge(there ? file->path : fmt::format("{}.so in {}", name, facts.plugin_dir),
              there ? file->built_for : "", package);
    };
    if (way == Way::shadow)
        judge(facts.shadow_dir + "/select_cons_tres.so", facts.shadow_release, "railyard-login");
    if (way == Way::select) wanted("select_rail", "railyard-login");
    if (way == Way::topology) wanted("topology_rail", "railyard-login");
    if (head) {
        wanted("job_submit_rail", "railyard-head");
        wanted("spank_rail", "railyard-login");
    }
    return found;
}

std::vector<std::string> controllers(const Facts& facts) {
    std::vector<std::string> hosts;
    const SlurmText text(facts.conf);
    for (const char* key : {"SlurmctldHost", "ControlMachine", "BackupController"})
        for (const auto& value : text.values(key)) {
            const auto name = value.substr(0, value.find('('));
            hosts.push_back(name.substr(0, name.find('.')));
        }
    return hosts;
}

std::vector<std::string> other_controllers(const Facts& facts) {
    auto hosts = controllers(facts);
    hosts.erase(std::remove(hosts.begin(), hosts.end(), facts.this_host), hosts.end());
    return hosts;
}

bool configless(const Facts& facts) {
    const auto parameters = SlurmText(facts.conf).value("SlurmctldParameters").value_or("");
    return parameters.find("enable_configless") != std::string::npos;
}

} // namespace restart::enable
