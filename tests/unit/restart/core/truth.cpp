#include "truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

using restart::JobPhase;

Truth::Truth(std::size_t count, unsigned seed) : world(count, 8), random(seed) {
    world.policy.max_drained_percent = 20;
    auto& repair = world.policy.repair;
    repair.max_at_once = 2;
    repair.resets_gpus = repair.cycles_power = repair.checks = true;
    repair.clean_window = std::chrono::minutes(1);
    repair.rung_limit = std::chrono::minutes(5);
    world.config.emplace().reboots = true;
    std::vector<std::string> names;
    for (std::size_t i = 1; i <= count; ++i) {
        names.push_back(fmt::format("n{:03}", i));
        hosts[names.back()];
    }
    for (std::size_t first = 0; first < 2 * count / 3;) {
        const auto size = std::min<std::size_t>(1 + roll(8), 2 * count / 3 - first);
        const auto begin = names.begin() + static_cast<std::ptrdiff_t>(first);
        jobs.push_back(world.submit({begin, begin + static_cast<std::ptrdiff_t>(size)}));
        first += size;
    }
    world.carrier = [this](const restart::Report& report) {
        if (restartd_cut) return;
        for (unsigned copies = duplicates ? 1 + roll(2) : 1; copies > 0; --copies)
            under_way_.emplace(world.now() + base::Duration(most_delay_ms == 0 ? 0 : roll(most_delay_ms)),
                               report);
        deliver_due();
    };
    world.peers_look = true;
    world.sees = [this](const std::string& peer, const std::string& host) { return seen_by(peer, host); };
    world.done = [this](const restart::Action& action) { look_at(action); };
    run(5);
}

const std::string& Truth::any_host() {
    return std::next(hosts.begin(), roll(static_cast<unsigned>(hosts.size())))->first;
}

std::string Truth::host_in_use() {
    for (unsigned tries = 0; tries < 100; ++tries) {
        const auto job = jobs[roll(static_cast<unsigned>(jobs.size()))];
        const auto& rm = world.job(job);
        if (rm.phase != JobPhase::running) continue;
        const auto& host = rm.nodes[roll(static_cast<unsigned>(rm.nodes.size()))];
        if (hosts.at(host).works()) return host;
    }
    return {};
}

base::JobId Truth::job_on(const std::string& host) const {
    for (const auto job : jobs) {
        const auto& nodes = const_cast<World&>(world).job(job).nodes;
        if (std::find(nodes.begin(), nodes.end(), host) != nodes.end()) return job;
    }
    return {};
}

bool Truth::runs_without(base::JobId job, const std::string& host) {
    const auto& rm = world.job(job);
    return rm.phase == JobPhase::running &&
           std::find(rm.nodes.begin(), rm.nodes.end(), host) == rm.nodes.end();
}

void Truth::power_off(const std::string& name) {
    auto& host = hosts.at(name);
    if (!host.power) return;
    host.power = false;
    ++host.fault;
}

void Truth::hang(const std::string& name) {
    auto& host = hosts.at(name);
    if (!host.works()) return;
    host.hung = true;
    ++host.fault;
}

void Truth::cut(const std::vector<std::string>& list) {
    for (const auto& name : list) {
        auto& host = hosts.at(name);
        if (host.cut) continue;
        host.cut = true;
        host.cut_at = world.now();
        ++host.fault;
    }
}

void Truth::cut_from_ctl(const std::string& name) {
    auto& host = hosts.at(name);
    if (!host.ctl_cut) ++host.fault;
    host.ctl_cut = true;
}

base::Knocked Truth::seen_by(const std::string& peer, const std::string& name) {
    using base::Knocked;
    const auto& host = hosts.at(name);
    if (hosts.at(peer).lies) {
        constexpr std::array lies{Knocked::unreached, Knocked::answers, Knocked::refused, Knocked::mute};
        return lies.at(roll(lies.size()));
    }
    if (hosts.at(peer).blind || !host.power || host.booting || host.cut) return Knocked::unreached;
    if (host.hung) return Knocked::mute;
    return roll(8) == 0 ? Knocked::refused : Knocked::answers;
}

void Truth::darken(const std::string& name) {
    auto& host = hosts.at(name);
    if (!host.dark) ++host.fault;
    host.dark = true;
}

void Truth::kill_agent(const std::string& name) {
    hosts.at(name).agent = false;
}

void Truth::breaks(const std::string& name, restart::Severity severity) {
    auto& host = hosts.at(name);
    if (host.broken || !host.works()) return;
    host.broken = true;
    ++host.fault;
    constexpr std::array classes{"gpu_gone", "gpu_error", "gpu_slow", ""};
    world.find(name, severity, "gpu.throttle.hw_power_brake", classes.at(roll(classes.size())));
}

void Truth::mend(const std::string& name) {
    const auto fault = hosts.at(name).fault;
    world.end_boot(name);
    hosts.at(name) = Host();
    hosts.at(name).fault = fault;
    world.clear(name);
    world.set_heard(name, true, true);
    world.person_resumes(name);
}

void Truth::mend_all() {
    fabricwatchd = true;
    restartd_cut = false;
    most_delay_ms = 0;
    duplicates = false;
    world.rm_answers = true;
    for (const auto& [name, host] : hosts)
        mend(name);
}

std::size_t Truth::cut_with(const std::string& name) const {
    const auto at = hosts.at(name).cut_at;
    return static_cast<std::size_t>(std::count_if(
               hosts.begin(), hosts.end(),
               [&](const auto& entry) { return entry.second.cut && entry.second.cut_at == at; })) -
           1;
}

// The resource manager pings every 5 s or so, and gives up after `gives_up`.
void Truth::follow(const std::string& name, Host& host) {
    if (host.booting && world.now() >= host.boots_at) {
        world.end_boot(name);
        host.booting = false;
    }
    const bool answers = host.works() && !host.cut && !host.ctl_cut;
    if (answers) {
        host.heard = true;
        host.unheard = {};
    } else if (host.unheard == base::Time{}) {
        host.unheard = world.now() + base::Duration(roll(5'000));
    }
    if (!answers && world.now() >= host.unheard) host.heard = false;
    world.set_heard(name, answers && host.agent, host.heard);
    if (!host.heard && !world.node(name).down && !world.node(name).away &&
        world.now() - host.unheard >= gives_up)
        world.rm_sets_down(name);
}

void Truth::sweep() {
    if (!fabricwatchd || world.now() - swept_ < base::Duration(5'000)) return;
    swept_ = world.now();
    restart::FabricReport report;
    report.complete = true;
    for (const auto& [name, host] : hosts) {
        restart::HostLinks links;
        links.links_total = 8;
        links.links_up = host.power && !host.dark ? 8 : 0;
        report.hosts[name] = links;
    }
    world.send(restart::FabricSwept{report});
}

// A job that runs on hosts that work commits every minute, over the fabric.
void Truth::save() {
    if (world.now() - saved_ < base::Duration(60'000)) return;
    saved_ = world.now();
    for (const auto id : jobs) {
        const auto& rm = world.job(id);
        if (rm.phase == JobPhase::running &&
            std::all_of(rm.nodes.begin(), rm.nodes.end(),
                        [&](const auto& name) { return hosts.at(name).works() && !hosts.at(name).dark; }))
            world.commit(id, static_cast<std::uint64_t>(world.seconds()));
    }
}

void Truth::deliver_due() {
    while (!under_way_.empty() && under_way_.begin()->first <= world.now()) {
        const auto report = under_way_.begin()->second;
        under_way_.erase(under_way_.begin());
        world.deliver(report);
    }
}

void Truth::run(double seconds) {
    const auto end = world.now() + base::duration_from_seconds(seconds);
    while (world.now() < end) {
        for (auto& [name, host] : hosts)
            follow(name, host);
        sweep();
        save();
        deliver_due();
        world.run(base::to_seconds(world.beat));
    }
}

void Truth::look_at_repair(const restart::RepairHost& repair) {
    const auto& name = repair.host;
    auto& host = hosts.at(name);
    if (!world.node(name).drain) return; // a person was quicker, and it is refused
    const auto what = fmt::format("{} of {}", to_string(repair.rung), name);
    if (job_on(name) != base::JobId()) wrongs.push_back(what + " while a job is on it");
    if (repair.rung == restart::Rung::check) return;
    const bool alone = (host.cut && cut_with(name) < 2) || host.ctl_cut;
    if (host.works() && !host.broken && !host.dark && !alone)
        wrongs.push_back(what + ", with which nothing is wrong");
    const auto booting = static_cast<std::uint64_t>(
        std::count_if(hosts.begin(), hosts.end(), [](const auto& entry) { return entry.second.booting; }));
    if (booting >= world.policy.repair.max_at_once)
        wrongs.push_back(fmt::format("{} while {} others boot", what, booting));
    if (roll(2) == 0) { // it helps
        host.broken = host.hung = host.dark = false;
        world.clear(name);
    }
    if (!restart::boots(repair.rung)) return;
    host.power = true;
    host.booting = true;
    host.boots_at = world.now() + base::Duration(45'000);
}

void Truth::look_at(const restart::Action& action) {
    const auto& name = host_of(action);
    if (const auto* repair = restart::as<restart::RepairHost>(action)) return look_at_repair(*repair);
    if (const auto* requeue = restart::as<restart::RequeueJob>(action)) {
        const auto key =
            fmt::format("job {} for fault {} of {}", to_string(requeue->job.id), hosts.at(name).fault, name);
        if (++requeued_[key] > 1) wrongs.push_back(key + " was requeued twice");
    }
    if (restart::as<restart::DownHost>(action) == nullptr) return;
    const auto& host = hosts.at(name);
    // One host that is cut off alone from all cannot be told from one that hangs, unless other hosts reach
    // it; of many the resource manager's own judgement counts, in the end.
    const bool alone = (host.cut && cut_with(name) < 2) || (host.ctl_cut && !peers_save);
    if (host.works() && !host.dark && !alone && !world.node(name).automatic)
        wrongs.push_back(name + " works and was set down");
}
