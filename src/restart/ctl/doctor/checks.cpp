#include "restart/ctl/doctor/checks.hpp"

#include "base/host_port.hpp"
#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/ctl/doctor/lsf.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/ranges.h>
#include <iterator>

namespace restart::doctor {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration old_fabric = 90 * 24h;
constexpr base::Duration skewed = 5s; // MUNGE's limit is five minutes; histories suffer much earlier
constexpr std::uint64_t scarce = std::uint64_t{256} << 20;
constexpr std::size_t most_hosts = 8; // listed one by one

std::string named(const std::vector<std::string>& hosts) {
    if (hosts.size() <= most_hosts) return base::fold_hostlist(hosts);
    return fmt::format("{} hosts, {} among them", hosts.size(), hosts.front());
}

std::vector<std::string> missing_from(const std::vector<std::string>& some,
                                      const std::vector<std::string>& all) {
    std::vector<std::string> missing;
    std::set_difference(some.begin(), some.end(), all.begin(), all.end(), std::back_inserter(missing));
    return missing;
}

class Checks {
public:
    Checks(const Facts& facts, bool this_host) : facts_(facts), this_host_(this_host) {}

    std::vector<Complaint> all() {
        configuration();
        munge();
        if (facts_.is_lsf()) {
            for (auto& complaint : lsf_complaints(facts_, this_host_))
                found_.push_back(std::move(complaint));
        } else {
            plugstack();
        }
        if (!facts_.is_lsf() && slurm()) {
            plugins();
            slurm_configuration();
            failover();
        }
        fabric();
        restartd();
        return std::move(found_);
    }

private:
    void add(std::string_view code, Weight weight, std::string text, std::string fix) {
        found_.push_back({std::string(code), weight, std::move(text), std::move(fix)});
    }

    std::string setting(const char* key) const {
        const auto found = facts_.slurm.find(key);
        return found == facts_.slurm.end() || found->second == "(null)" ? std::string() : found->second;
    }
    bool chooses() const {
        return setting("SelectType") == "select/rail" ||
               setting("TopologyPlugin").find("topology/rail") != std::string::npos;
    }
    bool submits() const {
        const auto words = "," + setting("JobSubmitPlugins") + ",";
        return words.find(",rail,") != std::string::npos ||
               words.find(",job_submit/rail,") != std::string::npos;
    }
    const PluginFile* plugin(std::string_view name) const {
        const auto found = std::find_if(facts_.plugins.begin(), facts_.plugins.end(),
                                        [&](const PluginFile& file) { return file.name == name; });
        return found == facts_.plugins.end() ? nullptr : &*found;
    }
    const char* manager() const { return facts_.is_lsf() ? "LSF" : "Slurm"; }
    bool several_hosts() const { return facts_.nodes.size() > 1; }

    void configuration() {
        if (!facts_.config_error.empty())
            add("config.wrong", Weight::error, facts_.config_error,
                "mend the line; restartd --check-config finds the next one");
        if (facts_.config_source.find("is not read") != std::string::npos)
            add("config.elsewhere", Weight::error, facts_.config_source,
                "move the file, or build with the prefix it is under");
        for (const auto& one : facts_.conf.restartd.url)
            if (const auto url = base::parse_url(one); url && url->is_loopback() && several_hosts())
                add("config.loopback", Weight::error,
                    fmt::format("[restartd] url is {}: agents on other hosts find no restartd there", one),
                    "give listen and url an address that all hosts reach, in railyard.conf on all hosts");
    }

    void munge() {
        if (!facts_.munge_error.empty())
            add("munge.away", Weight::error, facts_.munge_error,
                "systemctl enable --now munge; the key is the same on all hosts");
    }

    void plugstack() {
        if (facts_.spank.size() > 1) {
            std::vector<std::string> places;
            for (const auto& line : facts_.spank)
                places.push_back(line.place);
            add("spank.twice", Weight::error,
                fmt::format("spank_rail.so is loaded {} times: {}", places.size(), fmt::join(places, ", ")),
                "leave one of the lines");
        }
        for (const auto& line : facts_.spank)
            if (line.required)
                add("spank.required", Weight::warning,
                    fmt::format("{} has \"required\": when spank_rail.so cannot be loaded, no slurmd, sbatch "
                                "or srun starts",
                                line.place),
                    "write \"optional\"");
        if (facts_.spank.empty() && (chooses() || submits()))
            add("spank.missing", Weight::error,
                facts_.plugstack.empty()
                    ? "there is no plugstack.conf: sbatch does not know --rail-span here"
                    : fmt::format("{} does not load spank_rail.so: sbatch does not know --rail-span here",
                                  facts_.plugstack),
                "copy /usr/share/railyard/plugstack.conf.d to /etc/slurm, with \"include "
                "/etc/slurm/plugstack.conf.d/*.conf\" in plugstack.conf (spank_rail(8))");
    }

    bool slurm() {
        if (facts_.slurm_error.empty()) return true;
        add("slurm.away", Weight::error, facts_.slurm_error,
            "is slurmctld running, and slurm.conf the cluster's? scontrol ping");
        return false;
    }

    // Plugins are loaded by the Slurm installed here, whatever slurmctld's release.
    void plugins() {
        const auto here = facts_.local_release.empty() ? setting("SLURM_VERSION") : facts_.local_release;
        std::map<std::string, std::string> others; // paths by the release they are for
        for (const auto& file : facts_.plugins) {
            if (file.built_for.empty())
                add("plugin.broken", Weight::error, fmt::format("{} is no plugin of Slurm", file.path),
                    "install the railyard packages again");
            else if (!here.empty() && file.built_for != here)
                others[file.built_for] += (others[file.built_for].empty() ? "" : ", ") + file.path;
        }
        for (const auto& [other, paths] : others)
            add("plugin.release", Weight::error,
                fmt::format("built for Slurm {}, and this host has {}, so that they do not load: {}", other,
                            here, paths),
                chooses() ? "install the railyard packages for this release before slurmctld or a slurmd "
                            "starts again (railyard(7), TROUBLES)"
                          : "install the railyard packages for this release before anything is switched on");
        if (const auto controller = setting("SLURM_VERSION"); !controller.empty() && here != controller)
            add("slurm.release", Weight::warning,
                fmt::format(
                    "this host has Slurm {}, and slurmctld is {}: each host needs the railyard packages of "
                    "its own release",
                    here, controller),
                "bring this host to slurmctld's release");
        if (!this_host_) slurmd_releases();
        const auto wanted = [&](std::string_view name, bool needed, std::string_view setting_text) {
            if (needed && plugin(name) == nullptr)
                add("plugin.missing", Weight::error,
                    fmt::format("slurm.conf has {}, and there is no {}.so in {} on this host", setting_text,
                                name, setting("PluginDir")),
                    "install railyard-login here (job_submit_rail: railyard-head), or take the line out");
        };
        wanted("select_rail", setting("SelectType") == "select/rail", "SelectType=select/rail");
        wanted("topology_rail", setting("TopologyPlugin").find("topology/rail") != std::string::npos,
               "TopologyPlugin=topology/rail");
        wanted("spank_rail", !facts_.spank.empty(), "plugstack.conf with spank_rail.so");
    }

    void slurmd_releases() {
        const auto controller = setting("SLURM_VERSION");
        for (const auto& [release, hosts] : facts_.slurmd_releases)
            if (release != controller)
                add("slurmd.release", Weight::warning,
                    fmt::format("slurmd is {} on {}, and slurmctld is {}", release, named(hosts), controller),
                    "the railyard packages of that release there, or one release for all");
    }

    void slurm_configuration() {
        if (this_host_) return;
        if (chooses() && !submits())
            add("slurm.submit_missing", Weight::error,
                "placement is on, but JobSubmitPlugins lacks rail: wrong flags are not refused, and "
                "--restart=auto is "
                "not honoured",
                "JobSubmitPlugins=rail in slurm.conf, then restart slurmctld (job_submit_rail(8))");
        if (submits() && !chooses())
            add("slurm.select_missing", Weight::warning,
                "JobSubmitPlugins has rail, but neither SelectType=select/rail nor "
                "TopologyPlugin=topology/rail is set: "
                "flags are taken and nodes chosen as ever",
                "railctl enable prints the safe order; or take rail out");
        if (!chooses() && !submits())
            add("slurm.off", Weight::note, "placement is not switched on in slurm.conf",
                "railyard(7), INSTALLATION");
        const auto user = setting("SlurmUser");
        const auto name = user.substr(0, user.find('('));
        if (!name.empty() && name != facts_.conf.restartd.user && facts_.conf.restartd.user != "root")
            add("config.user", Weight::error,
                fmt::format(
                    "[restartd] user is {}, and SlurmUser is {}: Slurm would refuse its drains and requeues",
                    facts_.conf.restartd.user, name),
                fmt::format("leave [restartd] user out of railyard.conf, so that it is SlurmUser, and start "
                            "restartd as "
                            "{}: systemctl edit restartd, [Service] User={}",
                            name, name));
        if (setting("JobRequeue") == "0")
            add("slurm.no_requeue", Weight::note,
                "JobRequeue=0: only jobs submitted with --requeue can be started again",
                "JobRequeue=1, or tell users to say --requeue");
        if (setting("SlurmdTimeout") == "0 sec")
            add("slurm.never_down", Weight::warning, "SlurmdTimeout=0: Slurm never gives a silent host up",
                "SlurmdTimeout=300");
        // The default. 0: it never forgets.
        constexpr int enough = 300;
        int age = 0;
        const auto words = setting("MinJobAge");
        if (std::from_chars(words.data(), words.data() + words.size(), age).ec == std::errc() && age > 0 &&
            age < enough)
            add("slurm.forgets_jobs", Weight::warning,
                fmt::format("MinJobAge={}: a job that a fault ends while restartd is away for longer than "
                            "that is not started again",
                            age),
                fmt::format("MinJobAge={}", enough));
    }

    bool slurmctld_starts_it() const { return !setting("SlurmctldPrimaryOnProg").empty(); }

    void failover() {
        if (this_host_ || setting("SlurmctldHost[1]").empty()) return;
        const bool several = facts_.conf.restartd.url.size() > 1; // with a standby at each
        if (!slurmctld_starts_it() && !several)
            add("failover.no_program", Weight::warning,
                "there is a backup slurmctld, but no SlurmctldPrimaryOnProg: after a failover no restartd "
                "runs beside it",
                "railyard(7), FAILOVER");
        if (facts_.conf.restartd.journal.starts_with("/var/lib/"))
            add("failover.journal", Weight::warning,
                fmt::format("there is a backup slurmctld, but the journal is {}, on this host's own disk",
                            facts_.conf.restartd.journal),
                fmt::format("a [restartd] journal in shared storage, as StateSaveLocation ({}) is",
                            setting("StateSaveLocation")));
    }

    void fabric() {
        const auto& path = facts_.conf.placement.fabric;
        if (!facts_.fabric_error.empty()) {
            add("fabric.unreadable", chooses() ? Weight::error : Weight::warning, facts_.fabric_error,
                fmt::format(
                    "railtopo discover --live --out {} on a host with an HCA, then copy it to all hosts",
                    path));
            return;
        }
        if (facts_.fabric.age > old_fabric)
            add("fabric.old", Weight::note,
                fmt::format("{} was written {} ago", path, base::human_duration(facts_.fabric.age)),
                fmt::format("railtopo discover --live --out new.json && railtopo diff {} new.json", path));
        if (this_host_ || facts_.nodes.empty()) return;
        if (const auto unknown = missing_from(facts_.nodes, facts_.fabric.hosts); !unknown.empty())
            add("fabric.lacks_nodes", Weight::warning,
                fmt::format("{} that {} does not have: {}; gangs are not placed on them by rail",
                            facts_.is_lsf() ? "hosts of LSF" : "nodes of Slurm", path, named(unknown)),
                fmt::format("discover the fabric again with all hosts up; names must be those of {} "
                            "(railtopo discover)",
                            facts_.is_lsf() ? "bhosts" : "slurm.conf"));
        if (const auto extra = missing_from(facts_.fabric.hosts, facts_.nodes); !extra.empty())
            add("fabric.extra_hosts", Weight::note,
                fmt::format("hosts of {} that {} does not have: {}", path, manager(), named(extra)),
                "storage and management hosts are no matter; renamed nodes are");
    }

    void restartd() {
        if (facts_.restartd_impostor)
            add("restartd.user", Weight::error, facts_.restartd_error,
                "make [restartd] user the same on all hosts, and the user that restartd runs as");
        else if (!facts_.restartd_error.empty())
            add("restartd.away", Weight::error, facts_.restartd_error,
                fmt::format("systemctl enable --now restartd {} (journalctl -u restartd); on that host, is "
                            "the port open to this one? (ss -ltn, nft list ruleset)",
                            facts_.is_lsf() ? "on the management host" : "where slurmctld runs"));
        if (!facts_.status) return;
        const auto& status = *facts_.status;
        for (const auto& other : facts_.other_restartds)
            if (other.role == OtherRestartd::Role::acting)
                add("restartd.two", Weight::error,
                    fmt::format(
                        "a second restartd answers at {}, which does not stand by: its journal is another "
                        "one, or its release an older one",
                        other.url),
                    "give both the same [restartd] journal, in shared storage, and the same release");
            else if (other.role == OtherRestartd::Role::away && !this_host_)
                add("restartd.alone", slurmctld_starts_it() ? Weight::note : Weight::warning,
                    fmt::format("no restartd stands by at {}: {}", other.url, other.text),
                    "systemctl enable --now restartd there (railyard(7), FAILOVER)");
        if (std::chrono::abs(facts_.clock_ahead) > skewed)
            add("clock.skewed", Weight::error,
                fmt::format("restartd's clock is {} {} this host's",
                            base::human_duration(std::chrono::abs(facts_.clock_ahead)),
                            facts_.clock_ahead > base::Duration::zero() ? "ahead of" : "behind"),
                "run chrony or ntpd on both");
        if (this_host_) return;
        if (!status.journal.error.empty())
            add("restartd.journal", Weight::error,
                fmt::format("nothing is done until the journal can be written: {}", status.journal.error),
                "make room, or mend what the error names");
        if (facts_.journal && facts_.journal->in_memory)
            add("journal.memory", Weight::error,
                fmt::format(
                    "the journal, {}, is kept in memory: what restartd has drained is forgotten at the "
                    "next boot",
                    status.journal.file),
                "a [restartd] journal on a disk");
        if (facts_.journal && facts_.journal->total > 0 && facts_.journal->free < scarce)
            add("journal.space", Weight::warning,
                fmt::format("{} MiB are left where the journal is, {}", facts_.journal->free >> 20,
                            status.journal.file),
                "make room there, or a shorter [restartd] keep_history");
        if (!status.resource_manager.answers)
            add(facts_.is_lsf() ? "restartd.no_lsf" : "restartd.no_slurm", Weight::error,
                fmt::format("restartd cannot read {}", facts_.is_lsf() ? "LSF" : "slurmctld"),
                "journalctl -u restartd");
        if (!status.fabric.error.empty())
            add("restartd.fabric", Weight::warning,
                fmt::format("restartd has no fabric file: {}", status.fabric.error),
                "copy it to restartd's host");
        agents(status);
        if (!facts_.is_lsf() && facts_.slurm_error.empty()) slurmds(status);
        if (status.witnesses.slow)
            add("witness.slow", Weight::warning,
                fmt::format("the loss of a host is confirmed late: {}",
                            fmt::join(status.witnesses.sentences, "; ")),
                facts_.is_lsf() ? "run fabricwatchd on a host with an HCA"
                                : "run fabricwatchd on a host with an HCA, or lower SlurmdTimeout");
        if (status.observe_only)
            add("restartd.observes", Weight::note, "observe_only is set: nothing is drained or requeued",
                "after a week of railctl history: observe_only = false, systemctl reload restartd");
    }

    void agents(const Status& status) {
        std::vector<std::string> never, silent, sick, misnamed = status.unknown_hosts;
        std::map<std::string, std::vector<std::string>> blind; // hosts by what they do not watch
        for (const auto& host : status.hosts) {
            if (!host.state) continue; // a name only in the fabric file
            if (facts_.is_lsf() && !std::binary_search(facts_.nodes.begin(), facts_.nodes.end(), host.name))
                continue; // LSF's master, which need not run jobs
            if (!host.agent.last_report)
                never.push_back(host.name);
            else if (host.agent.silent)
                (host.lost || host.down ? sick : silent).push_back(host.name);
            for (const auto& sentence : host.agent.not_watching)
                blind[sentence].push_back(host.name);
        }
        for (const auto& host : status.hosts)
            if (!host.state && host.agent.last_report && !host.agent.silent) misnamed.push_back(host.name);
        if (!misnamed.empty())
            add("agent.name", Weight::error,
                fmt::format("nodewatchd reports by a name that {} does not have: {}",
                            facts_.is_lsf() ? "LSF" : "slurm.conf", named(misnamed)),
                facts_.is_lsf() ? "nodewatchd --host NAME there, as bhosts has it (systemctl edit nodewatchd)"
                                : "nodewatchd --host NODENAME there (systemctl edit nodewatchd), or "
                                  "NodeHostname in slurm.conf");
        if (!never.empty())
            add("agent.never", Weight::error,
                fmt::format("nodewatchd has never reported from {}", named(never)),
                "systemctl enable --now nodewatchd there; railctl doctor --host there says what keeps it");
        if (!silent.empty())
            add("agent.silent", Weight::warning, fmt::format("nodewatchd is silent on {}", named(silent)),
                "railctl explain HOST; journalctl -u nodewatchd there");
        if (!sick.empty())
            add("agent.lost", Weight::note,
                fmt::format("lost or down, which is no fault of the installation: {}", named(sick)),
                "railctl explain HOST");
        for (const auto& [sentence, hosts] : blind)
            add("agent.blind", Weight::warning, fmt::format("not watched on {}: {}", named(hosts), sentence),
                "nodewatchd(8); what a site does not have is switched off in [agent]");
    }

    // What slurmds run with, which is slurm.conf's content only after each was restarted. select/rail sends
    // them data about each job, topology/rail does not; but a slurmd that has either names it to each step
    // that it starts.
    void slurmds(const Status& status) {
        std::vector<std::string> lack, have, untold;
        const bool select = setting("SelectType") == "select/rail";
        const bool topology = setting("TopologyPlugin").find("topology/rail") != std::string::npos;
        for (const auto& host : status.hosts) {
            if (!host.state || !host.agent.last_report || host.agent.silent) continue;
            const auto& slurmd = host.agent.slurmd;
            if (!slurmd) {
                if (!host.down && !host.not_responding) untold.push_back(host.name);
                continue;
            }
            const auto loaded = [&](std::string_view name) {
                return std::find(slurmd->plugins.begin(), slurmd->plugins.end(), name) !=
                       slurmd->plugins.end();
            };
            if (select && !loaded("select_rail")) lack.push_back(host.name);
            if ((!select && loaded("select_rail")) || (!topology && loaded("topology_rail")))
                have.push_back(host.name);
        }
        const char* restart = "systemctl restart slurmd there; running jobs go on";
        if (!lack.empty())
            add("slurmd.lacks", Weight::error,
                fmt::format("slurmctld has select/rail, and slurmd on {} has not: launches there fail",
                            named(lack)),
                restart);
        if (!have.empty())
            add("slurmd.has", Weight::error,
                fmt::format("slurmd on {} has select/rail, and slurmctld has not: launches there fail",
                            named(have)),
                restart);
        if (!untold.empty() && select)
            add("slurmd.untold", Weight::warning,
                fmt::format("what slurmd has loaded is not known of {}", named(untold)),
                "its plugstack.conf loads spank_rail.so, then systemctl restart slurmd there "
                "(spank_rail(8))");
    }

    const Facts& facts_;
    bool this_host_;
    std::vector<Complaint> found_;
};

} // namespace

std::string_view to_string(Weight weight) {
    switch (weight) {
    case Weight::error: return "error";
    case Weight::warning: return "warning";
    case Weight::note: break;
    }
    return "note";
}

std::vector<Complaint> complaints(const Facts& facts, bool this_host) {
    return Checks(facts, this_host).all();
}

} // namespace restart::doctor
