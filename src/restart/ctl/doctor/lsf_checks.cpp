#include "restart/ctl/doctor/lsf.hpp"

#include "base/hostlist.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace restart::doctor {
namespace {

constexpr const char* queues_file =
    "railtopo export FABRIC --format lsf-queues, into lsb.queues, then badmin "
    "reconfig (railyard-lsf(7), INSTALLATION)";

// What railyard-lsf(7) recommends: with larger values the loss of a host is known, or a requeue done, later.
// Set B of its table.
struct Timing {
    const char *key, *file;
    double recommended;
};
constexpr std::array<Timing, 9> timings{{{"MBD_SLEEP_TIME", "lsb.params", 2},
                                         {"SBD_SLEEP_TIME", "lsb.params", 2},
                                         {"MAX_SBD_FAIL", "lsb.params", 3},
                                         {"RETRY_INTERVAL", "lsb.params", 1},
                                         {"LSB_MBD_CONNTIMEOUT", "lsf.conf", 2},
                                         {"EXINTERVAL", "lsf.cluster", 5},
                                         {"ELIM_POLL_INTERVAL", "lsf.cluster", 5},
                                         {"HOST_INACTIVITY_LIMIT", "lsf.cluster", 2},
                                         {"RETRY_LIMIT", "lsf.cluster", 1}}};

// From when LSF marks a host unavail until its jobs are UNKWN, in seconds; also from its table.
constexpr double unavail_to_unknown = 12;

class LsfChecks {
public:
    LsfChecks(const Facts& facts, bool this_host) : facts_(facts), lsf_(facts.lsf), this_host_(this_host) {}

    std::vector<Complaint> all() {
        user();
        esub();
        if (!lsf_.error.empty()) {
            add("lsf.away", Weight::error, lsf_.error,
                "is LSF up, and its environment this one's (. CONF/profile.lsf)? [lsf] bindir names the "
                "folder "
                "of its commands");
            return std::move(found_);
        }
        if (this_host_) return std::move(found_);
        parking();
        run_queue();
        planned();
        timing();
        cut_off();
        return std::move(found_);
    }

private:
    void add(std::string_view code, Weight weight, std::string text, std::string fix) {
        found_.push_back({std::string(code), weight, std::move(text), std::move(fix)});
    }

    void user() {
        if (facts_.conf.restartd.user.empty())
            add("config.user", Weight::error,
                "[restartd] user is empty: under LSF restartd does not start without it, and agents obey "
                "nobody",
                "[restartd] user = \"lsfadmin\", or who LSF's administrator is, in railyard.conf on all "
                "hosts");
    }

    void esub() {
        if (!lsf_.esub.empty() && !lsf_.esub_runs)
            add("lsf.esub_missing", Weight::error,
                fmt::format(
                    "{} is not there, or cannot be executed: LSF takes bsub -a rail without a word and "
                    "starts the job unplaced",
                    lsf_.esub),
                fmt::format("ln -s $(command -v esub.rail) {} (esub.rail(8))", lsf_.esub));
        if (!lsf_.conf_error.empty()) {
            add("lsf.conf_unread", Weight::note,
                fmt::format("{}: it is not known whether esubs see a job's command", lsf_.conf_error),
                "LSF_ENVDIR names the folder of lsf.conf: . CONF/profile.lsf");
            return;
        }
        const auto found = lsf_.conf.find("LSB_SUB_COMMANDNAME");
        const auto value = found == lsf_.conf.end() ? std::string() : found->second;
        if (value != "Y" && value != "y")
            add("lsf.no_commandname", Weight::error,
                fmt::format("{} lacks LSB_SUB_COMMANDNAME=Y: esub.rail is not shown the command that it must "
                            "rewrite",
                            lsf_.conf_path),
                "railtopo export FABRIC --format lsf-conf, into lsf.conf, then badmin reconfig");
    }

    void parking() {
        for (const auto& name : facts_.conf.lsf.parking_queues) {
            const auto found = lsf_.queues.find(name);
            if (found == lsf_.queues.end()) continue;
            const auto& queue = found->second;
            if (!queue.error.empty())
                add("lsf.no_parking", Weight::error,
                    fmt::format("the queue {}, in which gangs wait ([lsf] parking_queues): {}", name,
                                queue.error),
                    queues_file);
            else if (queue.res_req.find("planned>0") == std::string::npos &&
                     queue.res_req.find("planned > 0") == std::string::npos)
                add("lsf.parking_starts", Weight::error,
                    fmt::format("the queue {} has {}: LSF starts gangs from it where it likes", name,
                                queue.res_req.empty() ? "no RES_REQ" : "RES_REQ " + queue.res_req),
                    fmt::format("RES_REQ = select[planned>0] in it: {}", queues_file));
            else if (!queue.rerunnable)
                add("lsf.not_rerunnable", Weight::note,
                    fmt::format(
                        "the queue {} is not RERUNNABLE: a job that loses its first host ends, unless "
                        "esub.rail was told restart=auto or bsub -r",
                        name),
                    "RERUNNABLE = yes in it");
        }
    }

    void run_queue() {
        const auto& name = facts_.conf.lsf.run_queue;
        const auto found = lsf_.queues.find(name);
        if (found == lsf_.queues.end()) return;
        const auto& queue = found->second;
        if (!queue.error.empty()) {
            add("lsf.no_run_queue", Weight::error,
                fmt::format("the queue {}, from which gangs start ([lsf] run_queue): {}", name, queue.error),
                queues_file);
            return;
        }
        std::vector<std::string> others;
        std::istringstream users(queue.users);
        bool admits = false;
        for (std::string user; users >> user;)
            if (user == facts_.conf.restartd.user)
                admits = true;
            else
                others.push_back(user);
        if (others.empty() && admits) return;
        if (queue.users.empty() || queue.users.find("all") == 0)
            add("lsf.run_queue_open", Weight::error,
                fmt::format("the queue {} takes jobs of all users: a gang that its owner moves there starts "
                            "unplanned",
                            name),
                fmt::format("USERS = {} in it: {}", facts_.conf.restartd.user, queues_file));
        else if (!admits)
            add("lsf.run_queue_closed", Weight::error,
                fmt::format("the queue {} takes jobs of {} and not of [restartd] user {}: no gang starts",
                            name, fmt::join(others, " "), facts_.conf.restartd.user),
                fmt::format("USERS = {} in it: {}", facts_.conf.restartd.user, queues_file));
        else
            add("lsf.run_queue_shared", Weight::warning,
                fmt::format("the queue {} also takes jobs of {}, which start unplanned", name,
                            fmt::join(others, " ")),
                fmt::format("USERS = {} in it", facts_.conf.restartd.user));
    }

    void planned() {
        if (!lsf_.has_planned) {
            add("lsf.no_planned", Weight::error,
                "LSF has no index \"planned\", which keeps gangs waiting until they have their hosts",
                "railtopo export FABRIC --format lsf-shared and lsf-cluster, and elim.rail(8) on every host "
                "(railyard-lsf(7), INSTALLATION)");
            return;
        }
        std::vector<std::string> silent, set;
        for (const auto& host : facts_.nodes) {
            const auto found = lsf_.planned.find(host);
            if (found == lsf_.planned.end() || found->second.empty()) continue; // it is down
            const auto value = base::parse_number(found->second);
            if (!value)
                silent.push_back(host);
            else if (*value > 0)
                set.push_back(host);
        }
        if (!set.empty())
            add("lsf.planned_set", Weight::error,
                fmt::format("\"planned\" is above 0 on {}: gangs start there unplaced",
                            base::fold_hostlist(set)),
                "it is elim.rail's alone, and 0 everywhere: does another elim report it? (lsload -l)");
        if (!silent.empty())
            add("lsf.elim_silent", Weight::warning,
                fmt::format("nothing reports \"planned\" and \"health\" on {}", base::fold_hostlist(silent)),
                "link elim.rail(8) into LSF_SERVERDIR there, then lsadmin limrestart");
    }

    void timing() {
        std::vector<std::string> slow;
        for (const auto& [key, file, recommended] : timings) {
            const auto found = lsf_.timing.find(key);
            if (found == lsf_.timing.end()) continue;
            const auto value = base::parse_number(found->second);
            if (value && *value > recommended)
                slow.push_back(fmt::format("{} = {} ({}: {:g})", key, found->second, file, recommended));
        }
        if (!slow.empty())
            add("lsf.slow", Weight::warning,
                fmt::format("LSF sees lost hosts, or ends jobs, later than recommended: {}",
                            fmt::join(slow, ", ")),
                "railyard-lsf(7), TIMING, says what each costs; then lsadmin reconfig and badmin reconfig");
        const auto poll = lsf_.timing.find("ELIM_POLL_INTERVAL");
        const auto seconds =
            poll == lsf_.timing.end() ? base::Expected<double>(5.0) : base::parse_number(poll->second);
        if (seconds && *seconds < 5)
            add("lsf.poll", Weight::warning,
                fmt::format("ELIM_POLL_INTERVAL = {}: below 5 LSF sees lost hosts later, not sooner",
                            poll->second),
                "ELIM_POLL_INTERVAL = 5 in lsf.cluster, then lsadmin reconfig");
        if (!lsf_.cluster_error.empty())
            add("lsf.cluster_unread", Weight::note,
                fmt::format("{}: the timing of lim is not known", lsf_.cluster_error),
                "run it on the management host, with LSF_ENVDIR set");
    }

    double setting(const char* key, double otherwise) const {
        const auto found = lsf_.timing.find(key);
        const auto value = found == lsf_.timing.end() ? base::Expected<double>(otherwise)
                                                      : base::parse_number(found->second);
        return value ? *value : otherwise;
    }

    void cut_off() {
        const auto after = base::to_seconds(facts_.conf.agent.cut_off_after);
        const auto ends_within = base::to_seconds(base::cut_off_ends);
        if (after == 0) {
            add("lsf.no_cut_off", Weight::warning,
                "[agent] cut_off_after is 0: a host that is cut off ends nothing, and its jobs run there "
                "and elsewhere at once",
                "cut_off_after = \"20s\" in railyard.conf on all hosts");
            return;
        }
        if (!lsf_.cluster_error.empty()) return;
        const auto unknown =
            setting("EXINTERVAL", 15) * (setting("HOST_INACTIVITY_LIMIT", 5) + setting("RETRY_LIMIT", 2)) +
            unavail_to_unknown;
        if (after + ends_within > unknown)
            add("lsf.cut_off_late", Weight::note,
                fmt::format(
                    "[agent] cut_off_after is {:g} s: LSF starts a job whose first host is lost again "
                    "after some {:g} s, but a gang waits until {:g} s, as a host that was cut off "
                    "ends its processes then",
                    after, unknown, after + ends_within),
                fmt::format(
                    "cut_off_after = \"{:g}s\" in railyard.conf on all hosts (railyard-lsf(7), TIMING)",
                    std::max(unknown - ends_within, 1.0)));
    }

    const Facts& facts_;
    const LsfFacts& lsf_;
    bool this_host_;
    std::vector<Complaint> found_;
};

} // namespace

std::vector<Complaint> lsf_complaints(const Facts& facts, bool this_host) {
    return LsfChecks(facts, this_host).all();
}

} // namespace restart::doctor
