#include "restart/ctl/enable/command.hpp"

#include "base/conf.hpp"
#include "base/units.hpp"
#include "restart/ctl/enable/apply.hpp"
#include "restart/ctl/enable/gather.hpp"
#include "restart/ctl/enable/obstacles.hpp"
#include "restart/ctl/enable/settings.hpp"
#include "restart/ctl/enable/show.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <iostream>
#include <sstream>
#include <vector>

namespace restart::enable {

using base::Code;
using base::Error;
using base::Expected;

struct Command::Typed {
    base::Words *enable, *disable;
    std::string part = "placement", by, slurm_conf, service, run_on_hosts, copy_to_hosts, wait, shadow_dir,
                expect;
    bool apply = false, hosts_checked = false, check_host = false;
};

namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream rest(text);
    for (std::string word; rest >> word;)
        words.push_back(word);
    return words;
}

// On any host: whether the plugin would load here.
int check_host(const Facts& facts, Way way, const std::string& expect) {
    auto found = plugin_obstacles(facts, way, false);
    const auto have = switched(SlurmText(facts.conf), facts.shadow_dir);
    if (!expect.empty() && have.chooses() != (expect == "on"))
        found.push_back(
            {"conf.former",
             fmt::format("{} has placement {}", facts.conf.front().path, have.chooses() ? "on" : "off"),
             "bring the head's file here"});
    for (const auto& obstacle : found)
        fmt::print("{}: {}: {}\n", facts.this_host, obstacle.text, obstacle.fix);
    if (found.empty()) fmt::print("{}: {} can be switched on here\n", facts.this_host, to_string(way));
    return found.empty() ? base::exit_done : base::exit_finding;
}

} // namespace

Command::Command(base::Cli& cli) : typed_(std::make_unique<Typed>()) {
    auto& t = *typed_;
    const auto common = [&](base::Words* words) {
        words->add_option("PART", t.part, "placement; flags: those of jobs alone; acting: restartd's")
            ->one_of({"placement", "flags", "acting"});
        words->add_flag("--apply", t.apply,
                        "Do it, on the head of the cluster; otherwise only say what to do");
        words->add_option("--slurm-conf", t.slurm_conf, "The cluster's slurm.conf");
        words->add_option("--run-on-hosts", t.run_on_hosts,
                          "A program that is run as PROGRAM HOSTS COMMAND ..., such as \"clush -S -w\"");
        words->add_option("--copy-to-hosts", t.copy_to_hosts,
                          "A program that is run as PROGRAM HOSTS FILE ...");
        words->add_option("--service", t.service, "Used in place of systemctl, with the same words");
        words->add_option("--wait", t.wait, "For slurmds to restart (default 10m)");
        words->add_option("--shadow-dir", t.shadow_dir, "Where the plugin under the stock one's name is");
    };
    t.enable = cli->add_subcommand("enable", "Switch placement on, in the safe order");
    common(t.enable);
    t.enable->add_option("--by", t.by, "select, shadow or topology (default: as the release of Slurm has it)")
        ->one_of({"select", "shadow", "topology"});
    t.enable->add_flag("--hosts-checked", t.hosts_checked, "enable --check-host was run on every host");
    t.enable->add_flag("--check-host", t.check_host, "Only tell whether the plugin loads on this host");
    t.enable
        ->add_option("--expect", t.expect, "on or off: --check-host also looks for that in slurm.conf here")
        ->one_of({"on", "off"});
    t.disable = cli->add_subcommand("disable", "Switch placement off, in the safe order");
    common(t.disable);
}

Command::~Command() = default;

bool Command::given() const {
    return static_cast<bool>(*typed_->enable) || static_cast<bool>(*typed_->disable);
}

Expected<int> Command::run(const std::string& config, const std::string& url, bool json) const {
    const auto& t = *typed_;
    if (const auto conf = base::load_conf(config, {base::ConfTable::restartd});
        conf && conf->restartd.resource_manager == "lsf")
        return Error{
            Code::usage,
            "[restartd] resource_manager is \"lsf\", and this is about Slurm: under LSF placement is "
            "switched on by files that railtopo export writes, and restartd acts when observe_only "
            "is false in railyard.conf and it has read that: see railyard-lsf(7)"};
    Limits limits;
    if (!t.wait.empty()) {
        const auto wait = base::parse_duration(t.wait);
        if (!wait) return Error(wait.error()).within("--wait");
        limits.hosts = *wait;
    }
    limits.hosts_checked = t.hosts_checked;
    Wish wish;
    wish.on = static_cast<bool>(*t.enable);
    wish.part = part_of(t.part).value_or(Part::placement);
    wish.way = way_of(t.by);
    wish.run_on_hosts = t.run_on_hosts;
    wish.copy_to_hosts = t.copy_to_hosts;
    const Ask ask{config, url, t.slurm_conf, t.shadow_dir, t.check_host};
    auto facts = gather(ask);
    if (t.check_host) {
        if (!facts.conf_error.empty()) return Error{Code::io, facts.conf_error};
        return check_host(facts, wish.way.value_or(usual_way(facts, true)), t.expect);
    }
    if (!t.apply) {
        const auto plan = make_plan(facts, wish);
        std::cout << (json ? to_json(plan) : show(plan));
        return plan.obstacles.empty() ? base::exit_done : base::exit_finding;
    }
    Means::Words words;
    if (!t.service.empty()) words.service = words_of(t.service);
    words.run_on_hosts = words_of(t.run_on_hosts);
    words.copy_to_hosts = words_of(t.copy_to_hosts);
    const Means means(words, [](const std::string& line) { std::fputs((line + "\n").c_str(), stderr); });
    const auto whole = apply(ask, wish, std::move(facts), means, limits);
    if (!whole) return whole.error();
    if (json) std::cout << to_json(make_plan(gather(ask), wish));
    return *whole ? base::exit_done : base::exit_finding;
}

} // namespace restart::enable
