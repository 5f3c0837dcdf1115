#include "restart/ctl/show_rates.hpp"

#include "base/table.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace restart {
namespace {

using base::Duration;
using base::human_duration;
using base::Table;

std::string percent(double share) {
    return fmt::format("{:.2f} %", 100 * share);
}

std::string seconds(double s) {
    return s < 10 ? fmt::format("{:.2f} s", s) : human_duration(base::duration_from_seconds(s));
}

std::string plural(std::uint64_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string of(const FormulaStatus& formula) {
    return fmt::format("{} ({})", human_duration(formula.interval), percent(formula.efficiency));
}

std::string times_text(const TimesStatus& times) {
    if (times.count == 0) return "none seen yet";
    return fmt::format("{} seen: median {}, 9 of 10 within {}", times.count, human_duration(times.median),
                       human_duration(times.p90));
}

std::string mean_of(const TimesStatus& times) {
    return times.count == 0 ? "?" : human_duration(times.mean);
}

std::string bound_text(const IntervalStatus& job) {
    if (job.bound.empty()) return {};
    if (job.bound == "safe") return "the next begins when the last is safe";
    return fmt::format("held by {}", job.bound);
}

std::string failures_text(const FailureStatus& failures) {
    auto out =
        fmt::format("{} in {:.0f} host-hours; {} to {} with 80 %; {} was believed, as much as {:g} {}",
                    plural(failures.faults, "fault"), failures.host_hours, human_duration(failures.low),
                    human_duration(failures.high), human_duration(failures.prior), failures.prior_faults,
                    failures.prior_faults == 1 ? "fault" : "faults");
    if (failures.dispersion >= 1.1)
        out += fmt::format("; they come in bursts and say as much as {:.1f}",
                           static_cast<double>(failures.faults) / failures.dispersion);
    if (failures.shared_faults > 0)
        out += fmt::format("; {} of what hosts share not counted",
                           failures.shared_faults == 1 ? "1 fault" : plural(failures.shared_faults, "fault"));
    return out;
}

std::string mean_repair_text(const RepairStatus& repairs) {
    auto out = times_text(repairs.seen);
    if (repairs.ongoing > 0) out += fmt::format("; {} under way", repairs.ongoing);
    return out + fmt::format("; {} was believed", human_duration(repairs.prior));
}

std::string spares_text(const SpareStatus& spares) {
    if (spares.risk <= 0) return "none are wanted (placement.spare_risk = 0)";
    return fmt::format("more are in repair with less than {:g}; {}", spares.risk,
                       !spares.learned ? "by the configuration, as observe_only is set"
                                       : fmt::format("{} by the configuration alone", spares.configured));
}

// What keeps a host that has failed out of use, and what happens to it.
std::string use_text(const LemonStatus& host) {
    if (!host.repair) return host.in_use ? "" : "out of use";
    const auto& repair = *host.repair;
    if (repair.stage == "hands") return "out of use: a person is to see to it";
    if (repair.stage == "waiting") return fmt::format("in repair: waits for {}", repair.rung);
    return fmt::format("in repair: {}, attempt {} of {}", repair.rung, repair.attempts, repair.most_attempts);
}

std::string programs_text(const ProgramsStatus& programs) {
    if (programs.names == 0) return "[restart] restart_time: no job has made step marks (railckpt_mark)";
    return fmt::format(
        "restarts: {}; first starts: {}; of {}; {} by [restart] restart_time where none is known",
        times_text(programs.again), times_text(programs.first), plural(programs.names, "job name"),
        human_duration(programs.configured));
}

std::string started_text(const ProgramStatus& program) {
    if (program.count == 0) return "as configured";
    return plural(program.count, program.again ? "restart" : "first start");
}

} // namespace

std::string show(const ProgramStatus& program) {
    if (program.count == 0)
        return fmt::format("works {} after a start: [restart] restart_time, as no job of this user and name "
                           "({}) has made step marks\n",
                           human_duration(program.time), program.name);
    return fmt::format("works {} after a start: mean of {} measured of this user's jobs {}\n",
                       human_duration(program.time), started_text(program), program.name);
}

std::string show(const IntervalStatus& job) {
    auto out = fmt::format("checkpoints: one every {}", human_duration(job.interval));
    if (const auto bound = bound_text(job); !bound.empty()) out += fmt::format(" ({})", bound);
    out += fmt::format(", for {} each{} and a failure of the job each {} ({}, one of which fails each {})\n",
                       seconds(job.cost_s),
                       job.beside_s > 0 ? fmt::format(" (safe {} later)", seconds(job.beside_s)) : "",
                       human_duration(job.mtbf), plural(job.hosts, "host"), human_duration(job.host_mtbf));
    return out +
           fmt::format("  exact optimum {}, Young {}, Daly {}: in brackets the share of the time that is "
                       "work, with {} to detect a failure, {} to run again and {} until the program works\n",
                       of(job.exact), of(job.young), of(job.daly), human_duration(job.detection),
                       human_duration(job.restart), human_duration(job.program.time));
}

std::string show(const Rates& rates, const base::Look& look) {
    std::string out;
    const auto add = [&](std::string_view name, const std::string& value, const std::string& evidence,
                         std::string_view use) {
        out += fmt::format("{} {}\n  {}\n  used for {}\n", name, value, evidence, use);
    };
    add("a host fails once in", human_duration(rates.failures.mtbf), failures_text(rates.failures),
        "checkpoint intervals and spare hosts");
    add("a repair takes", human_duration(rates.repairs.mean), mean_repair_text(rates.repairs), "spare hosts");
    add("a fault is decided on after", mean_of(rates.detections), times_text(rates.detections),
        "what an interval is worth");
    add("a job runs again after", mean_of(rates.restarts), times_text(rates.restarts),
        "what an interval is worth");
    add("a program works after",
        human_duration(rates.programs.again.count > 0   ? rates.programs.again.mean
                       : rates.programs.first.count > 0 ? rates.programs.first.mean
                                                        : rates.programs.configured),
        programs_text(rates.programs),
        "what a move costs and what an interval is worth, each by its own name");
    if (rates.spares)
        add("hosts kept free:", fmt::format("{} of {}", rates.spares->floor, rates.spares->hosts),
            spares_text(*rates.spares), "placement, when a job starts for the first time");
    Table jobs(
        {"JOB", "HOSTS", "FAILS EACH", "STANDS STILL", "SAFE AFTER", "EVERY", "WORK", "WORKS AFTER", ""});
    for (const auto& job : rates.jobs)
        jobs.add({job.name, std::to_string(job.hosts), human_duration(job.mtbf), seconds(job.cost_s),
                  seconds(job.cost_s + job.beside_s), human_duration(job.interval),
                  percent(job.exact.efficiency),
                  fmt::format("{} ({})", human_duration(job.program.time), started_text(job.program)),
                  bound_text(job)});
    if (!jobs.empty()) out += "\n" + jobs.print(look);
    return out;
}

std::string show(const Top& top, const base::Look& look) {
    Table hosts({"HOST", "SCORE", "FAULTS", "LAST", "WHAT", ""});
    for (const auto& host : top.hosts) {
        const auto& last = host.faults.back();
        hosts.add({host.name, fmt::format("{:.2f}", host.score), std::to_string(host.faults.size()),
                   human_duration(std::max(top.time - last.time, Duration::zero())) + " ago", last.what,
                   use_text(host)});
        for (auto fault = std::next(host.faults.rbegin()); fault != host.faults.rend(); ++fault)
            hosts.add({"", "", "",
                       human_duration(std::max(top.time - fault->time, Duration::zero())) + " ago",
                       fault->what, ""});
    }
    Table jobs({"JOB", "HOSTS", "LOST HOST-HOURS", "REQUEUES"});
    for (const auto& job : top.jobs)
        jobs.add({job.name, std::to_string(job.hosts), fmt::format("{:.2f}", job.host_hours),
                  std::to_string(job.requeues)});
    auto out = hosts.empty()
                   ? std::string("no host has failed lately\n")
                   : fmt::format("lemon score: faults of a host, each worth half as much after {}\n{}",
                                 human_duration(top.half_life), hosts.print(look));
    if (!jobs.empty()) out += "\n" + jobs.print(look);
    return out;
}

} // namespace restart
