#include "restart/ctl/enable/plan.hpp"

#include "base/hostlist.hpp"
#include "restart/ctl/doctor/checks.hpp"
#include "restart/ctl/enable/acting.hpp"
#include "restart/ctl/enable/commands.hpp"
#include "restart/ctl/enable/obstacles.hpp"
#include "restart/ctl/enable/settings.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace restart::enable {
namespace {

constexpr const char* flags_line = "optional spank_rail.so";

std::vector<std::string> names_of(const std::vector<Host>& hosts) {
    std::vector<std::string> names;
    for (const auto& host : hosts)
        names.push_back(host.name);
    return names;
}

class Planner {
public:
    Planner(const Facts& facts, const Wish& wish) : facts_(facts), wish_(wish) {
        plan_.on = wish.on;
        plan_.part = wish.part;
        plan_.way = wish.way.value_or(usual_way(facts, wish.on));
        plan_.hosts_first = wish.part == Part::placement && plan_.way == Way::select;
    }

    Plan plan() {
        if (!facts_.conf_error.empty()) {
            plan_.obstacles.push_back({"conf.unreadable", facts_.conf_error,
                                       "name the cluster's file with --slurm-conf, and run this as root"});
            return std::move(plan_);
        }
        if (wish_.part == Part::placement) change_settings();
        if (select_stays()) plan_.hosts_first = false;
        if (wish_.part == Part::flags || wish_.on) change_flags();
        note_shared();
        wish_.part == Part::placement ? order_of_placement() : order_of_flags();
        for (auto& obstacle : find_obstacles(facts_, plan_))
            plan_.obstacles.push_back(std::move(obstacle));
        return std::move(plan_);
    }

private:
    void change_settings() {
        SlurmText text(facts_.conf);
        for (const auto& [key, value] : wanted_settings(facts_, wish_.on, plan_.way)) {
            auto change = text.set(key, value);
            if (!change)
                plan_.obstacles.push_back({"conf.unclear", change.error().text, "then run this again"});
            else if (*change)
                plan_.settings.push_back(**change);
        }
        for (std::size_t i = 0; i < facts_.conf.size(); ++i)
            if (text.files()[i].text != facts_.conf[i].text)
                plan_.files.push_back({facts_.conf[i].path, facts_.conf[i].text, text.files()[i].text});
    }

    void change_flags() {
        const auto before = facts_.plugstack_text;
        auto after = before.value_or("");
        if (wish_.on && facts_.spank.empty()) {
            if (!after.empty() && after.back() != '\n') after += '\n';
            after += std::string(flags_line) + "\n";
        } else if (!wish_.on) {
            after = without_flags(after);
        }
        if (after == before.value_or("")) return;
        plan_.files.push_back({facts_.plugstack, before, after});
        flags_change_ = true;
    }

    // Lines of plugstack.conf itself; those of a file that it includes are only reported.
    std::string without_flags(const std::string& text) {
        std::string kept;
        std::istringstream lines(text);
        std::size_t number = 1;
        for (std::string line; std::getline(lines, line); ++number) {
            const auto place = fmt::format("{}:{}", facts_.plugstack, number);
            if (std::none_of(facts_.spank.begin(), facts_.spank.end(),
                             [&](const doctor::PlugstackLine& found) { return found.place == place; }))
                kept += line + "\n";
        }
        for (const auto& found : facts_.spank)
            if (!found.place.starts_with(facts_.plugstack + ":"))
                plan_.obstacles.push_back({"flags.included", found.place + " loads spank_rail.so",
                                           "take that line out, or remove its file, on all hosts"});
        return kept;
    }

    void note_shared() {
        for (const auto& file : facts_.conf)
            plan_.shared.push_back(file.path);
        if (wish_.on || wish_.part == Part::flags) plan_.shared.push_back(facts_.plugstack);
        if (wish_.part == Part::flags) plan_.shared = {facts_.plugstack};
    }

    // JobSubmitPlugins alone does not affect slurmds.
    bool select_stays() const {
        return facts_.controller_up && !plan_.settings.empty() &&
               switched(facts_.doctor.slurm, facts_.shadow_dir).select == wish_.on &&
               std::none_of(plan_.settings.begin(), plan_.settings.end(),
                            [](const SettingChange& change) { return change.key == "SelectType"; });
    }

    bool settings_done() const { return plan_.settings.empty(); }
    // Whether the running slurmctld is as wanted.
    bool runs_so() const {
        if (!facts_.controller_up) return false;
        const auto have = switched(facts_.doctor.slurm, facts_.shadow_dir);
        if (!wish_.on) return !have.chooses() && !have.submit;
        return have.submit && (plan_.way == Way::select   ? have.select
                               : plan_.way == Way::shadow ? have.shadow
                                                          : have.topology);
    }

    void add(std::string id, Where where, bool done, std::string text,
             std::vector<std::string> commands = {}) {
        plan_.steps.push_back({std::move(id), where, done, std::move(text), std::move(commands)});
    }

    void flags_step() {
        add("flags", Where::head, !flags_change_,
            fmt::format("{} {}: in force at once, and harmless alone", facts_.plugstack,
                        wish_.on ? "loads spank_rail.so" : "does not load spank_rail.so"));
    }

    void order_of_flags() {
        flags_step();
        add("hosts.copy", Where::hosts, !flags_change_, "every host has the same plugstack.conf",
            copy_lines(wish_, all_hosts(), plan_.shared));
    }

    void order_of_placement() {
        const bool done = settings_done() && runs_so();
        find_late(done);
        const bool restarted = done || (settings_done() && plan_.changed && !facts_.controller_up &&
                                        stale_hosts(facts_, *plan_.changed).empty());
        if (wish_.on) {
            flags_step();
            add("hosts.check", Where::hosts, done || restarted,
                "the plugins are on every host, and load there",
                run_lines(wish_, all_hosts(), check_host_words(facts_, plan_.way)));
        }
        const auto backups = other_controllers(facts_);
        if (!backups.empty())
            add("backup.stop", Where::backup, done || facts_.backups_up.empty(),
                fmt::format("slurmctld is stopped on {}, or it would take over", fmt::join(backups, ", ")),
                {fmt::format("systemctl stop {}", wish_.unit)});
        add("slurmctld.stop", Where::head, done || !facts_.controller_up,
            "slurmctld is stopped; jobs run on, and commands wait for it", {"systemctl stop " + wish_.unit});
        add("conf.head", Where::head, settings_done(), settings_text());
        if (plan_.hosts_first) hosts_step(done || restarted);
        add("slurmctld.start", Where::head, done, "slurmctld runs again", {"systemctl start " + wish_.unit});
        add("verify", Where::head, done, verify_text(),
            {"scontrol show config", "sinfo -R", "squeue -t running"});
        if (!plan_.hosts_first) hosts_step(done);
        if (!plan_.late.empty())
            add("hosts.late", Where::hosts, false,
                fmt::format("{} {}: no job is started there before slurmd has restarted; then run this again",
                            base::fold_hostlist(plan_.late),
                            plan_.late.size() == 1 ? "runs with the former slurm.conf or is away"
                                                   : "run with the former slurm.conf or are away"),
                run_lines(wish_, plan_.late, {"systemctl", "restart", wish_.node_unit}));
        if (!plan_.back.empty())
            add("hosts.back", Where::head, false,
                fmt::format("{} can have jobs again", base::fold_hostlist(plan_.back)),
                {fmt::format("scontrol update nodename={} state=resume", base::fold_hostlist(plan_.back))});
        if (!backups.empty())
            add("backup.start", Where::backup, done,
                fmt::format("slurmctld runs on {}, with the same slurm.conf", fmt::join(backups, ", ")),
                {fmt::format("systemctl start {}", wish_.unit)});
        notes();
    }

    void hosts_step(bool done) {
        if (configless(facts_)) {
            add("hosts.copy", Where::hosts, true, "hosts get slurm.conf from slurmctld");
            return;
        }
        if (!plan_.hosts_first) {
            add("hosts.copy", Where::hosts, done,
                "every host has the same slurm.conf; its slurmd may restart at any later time",
                copy_lines(wish_, all_hosts(), plan_.shared));
            return;
        }
        add("hosts.copy", Where::hosts, done, "every host has the same slurm.conf, login hosts too",
            copy_lines(wish_, all_hosts(), plan_.shared));
        add("hosts.restart", Where::hosts, done,
            "every slurmd has restarted with it: one that has not can start nothing for this slurmctld",
            run_lines(wish_, all_hosts(), {"systemctl", "restart", wish_.node_unit}));
    }

    // Hosts whose slurmd does not match this slurmctld yet, once it runs as wanted.
    void find_late(bool done) {
        plan_.changed = facts_.changed;
        if (!plan_.changed && settings_done() && !done) plan_.changed = facts_.written;
        if (!plan_.hosts_first || !done || !facts_.changed) return;
        const auto late = late_hosts(facts_, *facts_.changed);
        const auto other = hosts_with_other_plugins(facts_.doctor, wish_.on);
        for (const auto& host : facts_.hosts) {
            if (std::find(late.begin(), late.end(), &host) != late.end() ||
                std::find(other.begin(), other.end(), host.name) != other.end())
                plan_.late.push_back(host.name);
            else if (host.reason.starts_with(drain_reason))
                plan_.back.push_back(host.name);
        }
    }

    std::string settings_text() const {
        if (plan_.settings.empty()) return "slurm.conf is as it is to be";
        std::vector<std::string> words;
        for (const auto& change : plan_.settings)
            words.push_back(change.after.empty() ? fmt::format("no {}", change.key)
                                                 : fmt::format("{}={}", change.key, change.after));
        return fmt::format("{} has {}; the former file is kept beside it", plan_.settings.front().file,
                           fmt::join(words, ", "));
    }

    std::string verify_text() const {
        const auto& chooser = plan_.way == Way::topology ? "TopologyPlugin"
                              : plan_.way == Way::shadow ? "PluginDir"
                                                         : "SelectType";
        return fmt::format("slurmctld says so ({}), every node is registered, and the same jobs run",
                           chooser);
    }

    void notes() {
        if (!wish_.on && plan_.way == Way::topology)
            plan_.notes.emplace_back(
                "before railyard-login is removed from a host its slurmd restarts: until then it names "
                "topology/rail to each step that it starts");
        if (plan_.way == Way::select && wish_.on && plan_.hosts_first)
            plan_.notes.emplace_back("--by shadow does without restarting slurmds (select_rail(8))");
        if (plan_.way == Way::select)
            plan_.notes.emplace_back(
                "the emergency line, on all hosts, then restart every slurmd, then slurmctld: "
                "SelectType=select/cons_tres. select_rail.so stays installed until slurmctld "
                "has run with it: the saved jobs name it. Never start slurmctld with -c or -i: "
                "that loses the jobs");
        if (plan_.way == Way::shadow)
            plan_.notes.push_back(fmt::format("the emergency line, for slurmctld alone: PluginDir without {}",
                                              facts_.shadow_dir));
        if (plan_.way == Way::topology)
            plan_.notes.emplace_back(
                "the emergency line, for slurmctld alone: TopologyPlugin=topology/default");
    }

    std::vector<std::string> all_hosts() const { return names_of(facts_.hosts); }

    const Facts& facts_;
    const Wish& wish_;
    Plan plan_;
    bool flags_change_ = false;
};

} // namespace

bool Plan::nothing_to_do() const {
    return std::all_of(steps.begin(), steps.end(), [](const Step& step) { return step.done; });
}

const Step* Plan::due(std::string_view id) const {
    const auto found = std::find_if(steps.begin(), steps.end(),
                                    [&](const Step& step) { return step.id == id && !step.done; });
    return found == steps.end() ? nullptr : &*found;
}

Plan make_plan(const Facts& facts, const Wish& wish) {
    return wish.part == Part::acting ? plan_acting(facts, wish) : Planner(facts, wish).plan();
}

std::vector<std::string> stale_hosts(const Facts& facts, base::Time changed) {
    std::vector<std::string> stale;
    for (const auto& host : facts.hosts)
        if (host.since && *host.since < changed) stale.push_back(host.name);
    return stale;
}

std::vector<const Host*> late_hosts(const Facts& facts, base::Time changed) {
    std::vector<const Host*> late;
    for (const auto& host : facts.hosts) {
        const auto& started = host.answers ? host.since : host.registered;
        if (!started || *started < changed) late.push_back(&host);
    }
    return late;
}

std::vector<std::string> hosts_with_other_plugins(const doctor::Facts& facts, bool on) {
    std::vector<std::string> other;
    if (!facts.status) return other;
    for (const auto& host : facts.status->hosts) {
        const auto& slurmd = host.agent.slurmd;
        if (!slurmd) continue;
        const bool has =
            std::find(slurmd->plugins.begin(), slurmd->plugins.end(), "select_rail") != slurmd->plugins.end();
        if (has != on) other.push_back(host.name);
    }
    return other;
}

std::vector<std::string> check_host_words(const Facts& facts, Way way, std::string_view conf) {
    std::vector<std::string> words{"railctl", "enable", "--check-host", "--by", std::string(to_string(way))};
    if (way == Way::shadow) words.insert(words.end(), {"--shadow-dir", facts.shadow_dir});
    if (!conf.empty()) words.insert(words.end(), {"--expect", std::string(conf)});
    return words;
}

std::string_view to_string(Where where) {
    return where == Where::head ? "head" : where == Where::backup ? "backup" : "hosts";
}
std::string_view to_string(Way way) {
    return way == Way::select ? "select" : way == Way::shadow ? "shadow" : "topology";
}
std::string_view to_string(Part part) {
    return part == Part::placement ? "placement" : part == Part::flags ? "flags" : "acting";
}
std::optional<Part> part_of(std::string_view word) {
    for (const auto part : {Part::placement, Part::flags, Part::acting})
        if (to_string(part) == word) return part;
    return {};
}
std::optional<Way> way_of(std::string_view word) {
    for (const auto way : {Way::select, Way::shadow, Way::topology})
        if (to_string(way) == word) return way;
    return {};
}

} // namespace restart::enable
