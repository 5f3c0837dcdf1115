#include "restart/ctl/enable/settings.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace restart::enable {
namespace {

std::vector<std::string> words(const std::string& list, char between) {
    std::vector<std::string> found;
    std::istringstream rest(list);
    for (std::string word; std::getline(rest, word, between);)
        if (!word.empty()) found.push_back(word);
    return found;
}

bool is_ours(const std::string& submit_plugin) {
    return submit_plugin == "rail" || submit_plugin == "job_submit/rail";
}

Switched judge(const std::string& select, const std::string& topology, const std::string& plugins,
               const std::string& submit, const std::string& shadow_dir) {
    const auto dirs = words(plugins, ':');
    const auto checks = words(submit, ',');
    return {select == "select/rail", std::find(dirs.begin(), dirs.end(), shadow_dir) != dirs.end(),
            topology == "topology/rail", std::any_of(checks.begin(), checks.end(), is_ours)};
}

// The stock plugin that topology_rail wraps, determined by topology.conf: it does not change without us.
std::string stock_topology(const Facts& facts) {
    if (!facts.topology_conf) return "";
    const std::vector<TextFile> file{{"topology.conf", *facts.topology_conf}};
    if (!lines_of(file, "SwitchName").empty()) return "topology/tree";
    return lines_of(file, "BlockName").empty() ? "" : "topology/block";
}

} // namespace

Switched switched(const SlurmText& conf, const std::string& shadow_dir) {
    const auto value = [&](const char* key) { return conf.value(key).value_or(""); };
    return judge(value("SelectType"), value("TopologyPlugin"), value("PluginDir"), value("JobSubmitPlugins"),
                 shadow_dir);
}

Switched switched(const std::map<std::string, std::string>& running, const std::string& shadow_dir) {
    const auto value = [&](const char* key) {
        const auto found = running.find(key);
        return found == running.end() ? std::string() : found->second;
    };
    return judge(value("SelectType"), value("TopologyPlugin"), value("PluginDir"), value("JobSubmitPlugins"),
                 shadow_dir);
}

std::vector<std::pair<std::string, std::string>> wanted_settings(const Facts& facts, bool on, Way way) {
    const SlurmText conf(facts.conf);
    const auto have = switched(conf, facts.shadow_dir);
    std::vector<std::pair<std::string, std::string>> wanted;
    if (on && way == Way::select) wanted.emplace_back("SelectType", "select/rail");
    if (on && way == Way::topology) wanted.emplace_back("TopologyPlugin", "topology/rail");
    if (on && way == Way::shadow && !have.shadow)
        wanted.emplace_back("PluginDir", facts.shadow_dir + ":" + facts.plugin_dir);
    if (!on && have.select) wanted.emplace_back("SelectType", "select/cons_tres");
    if (!on && have.topology) wanted.emplace_back("TopologyPlugin", stock_topology(facts));
    if (!on && have.shadow) {
        auto dirs = words(facts.plugin_dir, ':');
        dirs.erase(std::remove(dirs.begin(), dirs.end(), facts.shadow_dir), dirs.end());
        wanted.emplace_back("PluginDir", fmt::format("{}", fmt::join(dirs, ":")));
    }
    if (on != have.submit) {
        auto checks = words(conf.value("JobSubmitPlugins").value_or(""), ',');
        checks.erase(std::remove_if(checks.begin(), checks.end(), is_ours), checks.end());
        if (on) checks.emplace_back("rail");
        wanted.emplace_back("JobSubmitPlugins", fmt::format("{}", fmt::join(checks, ",")));
    }
    return wanted;
}

Way usual_way(const Facts& facts, bool on) {
    const auto have = switched(SlurmText(facts.conf), facts.shadow_dir);
    const auto runs = switched(facts.doctor.slurm, facts.shadow_dir);
    if (!on && (have.shadow || runs.shadow)) return Way::shadow;
    if (!on && (have.select || runs.select)) return Way::select;
    return release_number(facts.release) >= 2405 ? Way::topology : Way::select;
}

int release_number(const std::string& release) {
    const auto dot = release.find('.');
    const auto second = release.find('.', dot + 1);
    const auto year = base::parse_count(release.substr(0, dot));
    const auto month =
        dot == std::string::npos ? year : base::parse_count(release.substr(dot + 1, second - dot - 1));
    return year && month && dot != std::string::npos ? static_cast<int>(*year * 100 + *month) : 0;
}

} // namespace restart::enable
