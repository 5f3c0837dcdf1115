#include "restart/ctl/enable/gather.hpp"

#include "base/child.hpp"
#include "base/file.hpp"
#include "restart/ctl/doctor/gather.hpp"
#include "restart/ctl/doctor/plugins.hpp"
#include "restart/ctl/enable/files.hpp"
#include "restart/ctl/enable/slurmds.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <unistd.h>

namespace restart::enable {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr base::Duration slurm_within = 60s; // a slurmctld that is away and its backup each take some time
constexpr const char* usual_conf = "/etc/slurm/slurm.conf";
constexpr const char* given_conf = "/run/slurm/conf/slurm.conf"; // by slurmctld, to a configless host
constexpr base::Duration slurmd_within = 15s;

std::string short_name() {
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    const std::string whole(name);
    return whole.substr(0, whole.find('.'));
}

std::optional<std::string> text_of(const fs::path& path) {
    auto text = base::read_file(path);
    if (!text) return {};
    return *std::move(text);
}

void read_files(const Ask& ask, Facts& into) {
    const char* named = ::getenv("SLURM_CONF");
    std::error_code none;
    const fs::path path = !ask.slurm_conf.empty()              ? ask.slurm_conf
                          : named != nullptr && *named != '\0' ? named
                          : fs::exists(usual_conf, none)       ? usual_conf
                                                               : given_conf;
    auto conf = read_slurm_conf(path);
    if (!conf) {
        into.conf_error = conf.error().text;
        return;
    }
    into.conf = *std::move(conf);
    const SlurmText text(into.conf);
    const fs::path main = into.conf.front().path;
    into.changed = last_kept(main, "select");
    if (const auto stamp = base::stamp_of(main); stamp.inode != 0)
        into.written = base::Time{std::chrono::seconds(stamp.seconds)};
    const auto owner = text.value("SlurmUser").value_or("root");
    into.plugstack = text.value("PlugStackConfig").value_or((main.parent_path() / "plugstack.conf").string());
    into.plugstack_text = text_of(into.plugstack);
    into.spank = doctor::spank_lines(into.plugstack);
    std::vector<std::string> ours{into.plugstack};
    for (const auto& file : into.conf)
        ours.push_back(file.path);
    for (const auto& file : ours)
        if (const auto safe = only_ours(file, owner); !safe && into.unsafe.empty())
            into.unsafe = safe.error().text;
    into.topology_conf = text_of(main.parent_path() / "topology.conf");
    std::error_code ignored;
    into.topology_yaml = std::filesystem::exists(main.parent_path() / "topology.yaml", ignored);
    into.plugin_dir = text.value("PluginDir").value_or(SLURM_PLUGIN_DIR);
    into.plugins = doctor::plugins_in(into.plugin_dir);
    if (auto hosts = hosts_of(into.conf))
        into.hosts = *std::move(hosts);
    else
        into.conf_error = hosts.error().text;
}

void read_railyard_conf(const Ask& ask, Facts& into) {
    std::error_code failed;
    fs::path path = base::conf_path(ask.config);
    if (const auto real = fs::canonical(path, failed); !failed) path = real;
    into.railyard_conf = path.string();
    into.railyard_text = text_of(path);
    if (const auto safe = only_ours(path, "root"); !safe) into.railyard_unsafe = safe.error().text;
}

// KEY=VALUE words of a line, as printed by scontrol -o; Reason= extends to the end.
std::string word(const std::string& line, const std::string& key) {
    const auto at = line.find(" " + key + "=");
    const auto begin = line.starts_with(key + "=") ? key.size() + 1
                       : at == std::string::npos   ? at
                                                   : at + key.size() + 2;
    if (begin == std::string::npos) return {};
    return line.substr(begin, key == "Reason" ? std::string::npos : line.find(' ', begin) - begin);
}

} // namespace

std::vector<std::string> up_in(std::string_view ping) {
    std::vector<std::string> up;
    std::istringstream lines{std::string(ping)};
    for (std::string line; std::getline(lines, line);) { // "Slurmctld(primary) at head is UP"
        const auto at = line.find(" at "), is = line.rfind(" is UP");
        if (line.starts_with("Slurmctld(") && at != std::string::npos && is != std::string::npos && is > at)
            up.push_back(line.substr(at + 4, is - at - 4));
    }
    return up;
}

void ask_controllers(Facts& facts) {
    facts.controller_up = false;
    facts.backups_up.clear();
    const auto ping = base::run_to_end({"scontrol", "ping"}, slurm_within);
    if (!ping) return;
    for (auto& host : up_in(ping->output)) {
        if (host == facts.this_host || host.starts_with(facts.this_host + "."))
            facts.controller_up = true;
        else
            facts.backups_up.push_back(std::move(host));
    }
}

void ask_nodes(Facts& facts) {
    if (!facts.controller_up) return;
    const auto nodes = base::run_to_end({"scontrol", "-o", "show", "nodes"}, slurm_within);
    if (nodes && nodes->status == 0) {
        std::map<std::string, std::string> by_name;
        std::istringstream lines(nodes->output);
        for (std::string line; std::getline(lines, line);)
            by_name[word(line, "NodeName")] = line;
        for (auto& host : facts.hosts) {
            const auto found = by_name.find(host.name);
            if (found == by_name.end()) continue;
            host.version = word(found->second, "Version");
            host.state = word(found->second, "State");
            host.reason = word(found->second, "Reason");
            host.registered = boot_time("Boot time = " + word(found->second, "SlurmdStartTime"));
        }
    }
    const auto jobs =
        base::output_of({"squeue", "-h", "-t", "R,CG,S", "-o", "%i"}, slurm_within, {"SQUEUE_"});
    if (!jobs) return;
    facts.jobs.clear();
    std::istringstream ids(*jobs);
    for (std::string id; ids >> id;)
        facts.jobs.push_back(id);
}

doctor::Facts gather_doctor(const Ask& ask) {
    return doctor::gather({ask.config, ask.url});
}

Facts gather(const Ask& ask) {
    Facts facts;
    facts.this_host = short_name();
    facts.root = ::geteuid() == 0;
    if (const auto version = base::output_of({"scontrol", "--version"}, slurm_within))
        facts.release = doctor::release_in(*version);
    facts.shadow_dir = ask.shadow_dir.empty() ? RAIL_SHADOW_DIR : ask.shadow_dir;
    facts.shadow_release = doctor::built_for(fs::path(facts.shadow_dir) / "select_cons_tres.so").value_or("");
    read_files(ask, facts);
    if (ask.this_host) return facts;
    facts.doctor = gather_doctor(ask);
    read_railyard_conf(ask, facts);
    if (!facts.conf.empty()) {
        ask_controllers(facts);
        ask_nodes(facts);
        // What cannot be asked counts as away.
        if (auto asked = ask_slurmds(facts.conf, facts.this_host, slurmd_within, facts.hosts); !asked)
            facts.conf_error = asked.error().text;
    }
    return facts;
}

} // namespace restart::enable
