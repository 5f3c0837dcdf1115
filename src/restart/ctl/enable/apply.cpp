#include "restart/ctl/enable/apply.hpp"

#include "base/hostlist.hpp"
#include "restart/ctl/enable/commands.hpp"
#include "restart/ctl/enable/files.hpp"
#include "restart/ctl/enable/obstacles.hpp"
#include "restart/ctl/enable/settings.hpp"
#include "restart/ctl/enable/steadfast.hpp"
#include "restart/ctl/enable/wait.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace restart::enable {
namespace {

using namespace std::chrono_literals;
using base::Code;
using base::Error;
using base::Expected;

constexpr base::Duration report_patience = 20s;
constexpr base::Duration registration = 1min; // of nodes with a restarted slurmctld

class Order {
public:
    Order(const Ask& ask, const Wish& wish, Facts facts, const Means& means, const Limits& limits)
        : ask_(ask), wish_(wish), facts_(std::move(facts)), means_(means), limits_(limits),
          plan_(make_plan(facts_, wish_)), jobs_(facts_.jobs) {
        wish_.way = plan_.way; // after the change the usual one would be another
    }

    Expected<bool> carry_out() {
        if (auto able = check(); !able) return std::move(able).error();
        if (plan_.nothing_to_do()) {
            means_.say("nothing to do: it is so already");
            return true;
        }
        if (wish_.part == Part::acting) return change_acting();
        if (wish_.part == Part::flags || plan_.due("flags") != nullptr)
            if (auto done = write(flags_only()); !done) return std::move(done).error();
        if (wish_.part == Part::flags) return tell_hosts("hosts.copy", plan_.shared);
        const Steadfast to_the_end;
        if (plan_.due("slurmctld.start") != nullptr)
            if (auto done = change_controller(); !done) return std::move(done).error();
        return settle_hosts();
    }

private:
    Expected<void> check() {
        if (!plan_.obstacles.empty()) {
            std::vector<std::string> texts;
            for (const auto& obstacle : plan_.obstacles)
                texts.push_back(fmt::format("{}: {}", obstacle.text, obstacle.fix));
            return Error{Code::unfit,
                         fmt::format("nothing has been changed: {}", fmt::join(texts, "\n    "))};
        }
        const auto* due = plan_.due("hosts.check");
        if (due == nullptr || limits_.hosts_checked) return {};
        std::vector<std::string> names = answering();
        if (names.empty() || (names.size() == 1 && names.front() == facts_.this_host)) return {};
        if (!means_.reaches_hosts())
            return Error{
                Code::unfit,
                fmt::format("nothing has been changed: whether the plugins load on all hosts is not known. "
                            "Run on them:\n    {}\nand then this with --hosts-checked, or give "
                            "--run-on-hosts",
                            fmt::join(due->commands, "\n    "))};
        means_.say(fmt::format("asking {} hosts whether the plugins load there", names.size()));
        if (auto done = means_.run_on(names, check_host_words(facts_, plan_.way)); !done)
            return std::move(done).error().within("nothing has been changed: a host lacks what it needs");
        return {};
    }

    std::vector<std::string> answering() const {
        std::vector<std::string> names;
        for (const auto& host : facts_.hosts)
            if (host.answers) names.push_back(host.name);
        return names;
    }

    std::vector<FileChange> flags_only() const {
        std::vector<FileChange> changes;
        for (const auto& change : plan_.files)
            if (change.path == facts_.plugstack) changes.push_back(change);
        return changes;
    }
    std::vector<FileChange> settings_only() const {
        std::vector<FileChange> changes;
        for (const auto& change : plan_.files)
            if (change.path != facts_.plugstack) changes.push_back(change);
        return changes;
    }

    // All of them or none.
    Expected<void> write(const std::vector<FileChange>& changes) {
        for (std::size_t i = 0; i < changes.size(); ++i) {
            auto done = replace_file(changes[i].path, changes[i].before, changes[i].after);
            if (!done) {
                for (; i > 0; --i)
                    take_back(changes[i - 1]);
                return done;
            }
            means_.say(fmt::format("{} is changed", changes[i].path));
        }
        return {};
    }

    void take_back(const FileChange& change) {
        if (auto done = replace_file(change.path, change.after, change.before); !done)
            means_.say(fmt::format("the former text could not be put back: {}", done.error().text));
        else
            means_.say(fmt::format("{} is as it was", change.path));
    }

    Expected<void> keep_each(const std::vector<FileChange>& changes, std::string_view kind) {
        for (const auto& change : changes) {
            if (!change.before) continue;
            auto kept = keep_copy(change.path, kind, base::now());
            if (!kept) return kept.error();
            means_.say(fmt::format("the former {} is kept as {}", change.path, kept->string()));
        }
        return {};
    }

    // Keeps copies of what is to be changed; always of slurm.conf, whose copy shows the time of the change.
    Expected<void> keep(const std::vector<FileChange>& changes, base::Time now) {
        std::vector<std::string> paths;
        if (!changes.empty()) paths.push_back(facts_.conf.front().path);
        for (const auto& change : changes)
            if (change.path != facts_.conf.front().path) paths.push_back(change.path);
        for (const auto& path : paths) {
            auto kept = keep_copy(path, to_string(plan_.way), now);
            if (!kept) return kept.error();
            means_.say(fmt::format("the former {} is kept as {}", path, kept->string()));
        }
        return {};
    }

    // What restartd does not accept is reverted, so that its next start does not act unexpectedly.
    Expected<bool> change_acting() {
        if (auto done = keep_each(plan_.files, wish_.on ? "acting" : "observing"); !done)
            return std::move(done).error();
        if (auto done = write(plan_.files); !done) return std::move(done).error();
        auto done = means_.reload_restartd();
        const auto so = [&] {
            facts_.doctor = gather_doctor(ask_);
            return facts_.doctor.status && facts_.doctor.status->observe_only != wish_.on;
        };
        if (done && !wait_until(15s, so))
            done = Error{Code::unavailable, "restartd does not take it up: journalctl -u restartd"};
        if (!done && wish_.on) {
            for (const auto& change : plan_.files)
                take_back(change);
            return std::move(done).error();
        }
        if (!done) // a setting that stops it from acting stays
            return std::move(done).error().within("railyard.conf is changed: restart restartd");
        means_.say(wish_.on ? "restartd acts" : "restartd observes only");
        return true;
    }

    Expected<void> change_controller() {
        if (auto done = stop(); !done) return done;
        const auto changes = settings_only();
        const auto now = std::chrono::floor<std::chrono::seconds>(base::now());
        if (!changes.empty()) plan_.changed = now;
        if (!plan_.changed) plan_.changed = facts_.written.value_or(now);
        auto changed = keep(changes, now);
        if (changed) changed = write(changes);
        if (!changed) return start_as_before(std::move(changed).error());
        if (plan_.hosts_first)
            if (auto done = restart_hosts(); !done) return roll_back(changes, std::move(done).error());
        if (auto done = start(); !done) return roll_back(changes, std::move(done).error());
        if (!plan_.hosts_first) return {};
        std::vector<std::string> late; // before the first job is started there
        for (const auto* host : late_hosts(facts_, *plan_.changed))
            late.push_back(host->name);
        restarted_ = facts_.hosts;
        return hold_back(late);
    }

    Expected<void> stop() {
        if (plan_.due("slurmctld.stop") == nullptr) return {};
        means_.say("stopping slurmctld; jobs run on");
        if (auto done = means_.stop_controller(); !done) {
            ask_controllers(facts_);
            if (!facts_.controller_up) return start_as_before(std::move(done).error());
            return std::move(done).error().within("nothing has been changed");
        }
        const bool gone = wait_until(30s, [&] {
            ask_controllers(facts_);
            return !facts_.controller_up;
        });
        if (!gone)
            return Error{Code::unavailable,
                         "slurmctld still answers after it was stopped: nothing has been changed"};
        if (!facts_.backups_up.empty())
            return start_as_before({Code::unfit, fmt::format("slurmctld answers on {}: stop it first",
                                                             fmt::join(facts_.backups_up, ", "))});
        return {};
    }

    Expected<void> start_as_before(Error why) {
        if (plan_.due("slurmctld.stop") != nullptr)
            if (auto done = means_.start_controller(); !done)
                return std::move(why).within(
                    fmt::format("{}; slurmctld is not started again", done.error().text));
        return std::move(why).within("nothing has been changed");
    }

    // With the site's program, or by an administrator who is shown what to run.
    Expected<void> restart_hosts() {
        const auto names = answering();
        if (plan_.due("hosts.restart") == nullptr || names.empty()) return {};
        if (!configless(facts_))
            if (auto done = bring(names, plan_.shared); !done) return done;
        if (means_.reaches_hosts()) {
            // A host that the copying missed would come back with the former file.
            if (auto done =
                    means_.run_on(names, check_host_words(facts_, plan_.way, wish_.on ? "on" : "off"));
                !done)
                return std::move(done).error().within("a host does not have the new slurm.conf");
            means_.say(fmt::format("restarting slurmd on {}", base::fold_hostlist(names)));
            if (auto done = means_.run_on(names, {"systemctl", "restart", wish_.node_unit}); !done)
                means_.say(done.error().text); // which of them did not is checked now
        } else {
            means_.say(fmt::format(
                "now run, on all hosts:\n    {}",
                fmt::join(run_lines(wish_, names, {"systemctl", "restart", wish_.node_unit}), "\n    ")));
        }
        const auto restarted = wait_for_restarts(facts_, *plan_.changed, limits_.hosts, means_);
        if (2 * restarted < names.size()) // fewer hosts are without jobs if the others are reverted
            return Error{Code::unavailable,
                         restarted == 0
                             ? std::string("no slurmd has restarted")
                             : fmt::format("only {} of {} slurmds have restarted", restarted, names.size())};
        return {};
    }

    Expected<void> bring(const std::vector<std::string>& names, const std::vector<std::string>& files) {
        if (means_.copies()) {
            means_.say(fmt::format("copying {} to {}", fmt::join(files, ", "), base::fold_hostlist(names)));
            return means_.copy_to(names, files);
        }
        means_.say(fmt::format("now bring {} to all hosts, unless they share it:\n    {}",
                               fmt::join(files, ", "), fmt::join(copy_lines(wish_, names, files), "\n    ")));
        return {};
    }

    Expected<void> start() {
        means_.say("starting slurmctld");
        if (auto done = means_.start_controller(); !done) return done;
        int tries = 0;
        const bool up = wait_until(limits_.controller, [&] {
            ask_controllers(facts_);
            return facts_.controller_up || (++tries > 3 && means_.controller_failed());
        });
        if (!up || !facts_.controller_up)
            return Error{Code::unavailable, "slurmctld does not answer: journalctl -u " + wish_.unit};
        return {};
    }

    // Nothing may be left half done: restores the former files, and slurmctld with them.
    Expected<void> roll_back(std::vector<FileChange> changes, Error why) {
        if (changes.empty()) changes = changes_before();
        means_.say(why.text);
        if (auto done = means_.stop_controller(); !done) means_.say(done.error().text);
        for (const auto& change : changes)
            take_back(change);
        std::string hosts;
        if (plan_.hosts_first) {
            ask_slurmds_again(facts_);
            std::vector<std::string> names;
            for (const auto& host : facts_.hosts)
                if (host.since && *host.since >= *plan_.changed) names.push_back(host.name);
            if (!names.empty()) {
                auto done = bring(names, plan_.shared);
                if (done && means_.reaches_hosts())
                    done = means_.run_on(names, {"systemctl", "restart", wish_.node_unit});
                if (!done || !means_.reaches_hosts())
                    hosts = fmt::format(
                        "; restart slurmd on {} with the former slurm.conf before jobs start there",
                        base::fold_hostlist(names));
            }
        }
        if (changes.empty())
            return std::move(why).within(
                "slurmctld is stopped, and slurm.conf was changed by somebody else: there is "
                "no former one to put back");
        // They are the same again, so the recorded change no longer counts.
        for (const auto& change : changes)
            forget_copy(change.path, to_string(plan_.way), *plan_.changed);
        if (auto done = start(); !done)
            return std::move(why).within(
                fmt::format("the former slurm.conf is back, and slurmctld does not start with "
                            "it either ({})",
                            done.error().text));
        wait_for_nodes(facts_, registration, means_);
        count_jobs();
        return std::move(why).within(fmt::format("slurmctld runs with the former slurm.conf again{}", hosts));
    }

    // Those of an earlier run, by the copies that it kept.
    std::vector<FileChange> changes_before() const {
        std::vector<FileChange> changes;
        if (!facts_.changed) return changes;
        for (const auto& file : facts_.conf)
            if (auto text = kept_text(file.path, to_string(plan_.way), *facts_.changed);
                text && *text != file.text)
                changes.push_back({file.path, *std::move(text), file.text});
        return changes;
    }

    // What remains to be done on hosts once slurmctld runs as wanted.
    Expected<bool> settle_hosts() {
        facts_ = gather(ask_);
        for (const auto& seen : restarted_) // by a clock that is behind
            for (auto& host : facts_.hosts)
                if (host.name == seen.name && host.since && seen.since)
                    host.since = std::max(*host.since, *seen.since);
        const auto copies = plan_.hosts_first ? nullptr : plan_.due("hosts.copy");
        plan_ = make_plan(facts_, wish_);
        if (const auto* due = plan_.due("slurmctld.start"))
            return Error{Code::unavailable, fmt::format("not so yet: {}", due->text)};
        if (plan_.hosts_first) await_reports();
        bool whole = true;
        if (!plan_.late.empty()) {
            whole = false;
            const auto names = base::fold_hostlist(plan_.late);
            if (2 * plan_.late.size() > facts_.hosts.size()) {
                means_.say(
                    fmt::format("{}: slurmd has not restarted with the new slurm.conf there, it seems; not "
                                "drained, for they are more than half of all",
                                names));
            } else {
                if (auto done = hold_back(plan_.late); !done) return std::move(done).error();
                means_.say(
                    fmt::format("{}: drained until slurmd has restarted there; then run this again", names));
            }
        }
        if (!plan_.back.empty()) {
            if (auto done = means_.resume(plan_.back); !done) return std::move(done).error();
            means_.say(fmt::format("{} can have jobs again", base::fold_hostlist(plan_.back)));
        }
        wait_for_nodes(facts_, registration, means_);
        count_jobs();
        if (copies != nullptr && !configless(facts_))
            return bring(answering(), plan_.shared).has_value() && whole;
        return whole;
    }

    // Drains them; those already drained stay as they are.
    Expected<void> hold_back(const std::vector<std::string>& late) const {
        std::vector<std::string> names;
        for (const auto& host : facts_.hosts)
            if (std::find(late.begin(), late.end(), host.name) != late.end() &&
                host.state.find("DRAIN") == std::string::npos)
                names.push_back(host.name);
        return means_.drain(names, std::string(drain_reason));
    }

    // What slurmds have loaded is reported some seconds after they start.
    void await_reports() {
        const auto told = [&] { return hosts_with_other_plugins(facts_.doctor, wish_.on).empty(); };
        if (told()) return;
        wait_until(report_patience, [&] {
            facts_.doctor = gather_doctor(ask_);
            return told();
        });
        plan_ = make_plan(facts_, wish_);
    }

    void count_jobs() {
        if (jobs_.empty()) return;
        ask_nodes(facts_);
        std::vector<std::string> ended;
        for (const auto& job : jobs_)
            if (std::find(facts_.jobs.begin(), facts_.jobs.end(), job) == facts_.jobs.end())
                ended.push_back(job);
        means_.say(ended.empty()
                       ? fmt::format("all {} jobs run on", jobs_.size())
                       : fmt::format("{} of {} jobs run on; ended meanwhile: {}", jobs_.size() - ended.size(),
                                     jobs_.size(), fmt::join(ended, ", ")));
    }

    Expected<bool> tell_hosts(const char* step, const std::vector<std::string>& files) {
        if (plan_.due(step) == nullptr || configless(facts_)) return true;
        if (auto done = bring(answering(), files); !done) return std::move(done).error();
        return true;
    }

    const Ask& ask_;
    Wish wish_;
    Facts facts_;
    const Means& means_;
    const Limits& limits_;
    Plan plan_;
    std::vector<Host> restarted_;   // all hosts, once slurmds were waited for
    std::vector<std::string> jobs_; // that ran initially
};

} // namespace

Expected<bool> apply(const Ask& ask, const Wish& wish, Facts facts, const Means& means,
                     const Limits& limits) {
    return Order(ask, wish, std::move(facts), means, limits).carry_out();
}

} // namespace restart::enable
