// railckpt: the checkpoint contract for shell scripts. Manual: railckpt(1).
#include "base/cli.hpp"
#include "base/json.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"
#include "restart/ckpt/asking.hpp"
#include "restart/ckpt/doctor.hpp"
#include "restart/ckpt/foreign.hpp"
#include "restart/ckpt/import.hpp"
#include "restart/ckpt/session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <thread>

namespace {

using namespace restart::ckpt;
using restart::Seconds;

struct Arguments {
    std::string dir, socket, job, take_over, interval, mtbf, timeout, cost, blocked, step, from, kind,
        directory, pid, signal;
    std::vector<std::string> files;
    std::optional<std::int64_t> restart;
    std::optional<std::uint64_t> keep;
    bool json = false, verify = false, move = false, furthest = false;
};

void add_common(base::Words* command, Arguments& given) {
    command->add_option("--dir", given.dir, "Checkpoint directory [RAIL_CKPT_DIR]")->type_name("DIR");
    command->add_option("--socket", given.socket, "nodewatchd's job socket [RAIL_CKPT_SOCKET]")
        ->type_name("PATH");
    command->add_option("--job", given.job, "Job number [SLURM_JOB_ID]")->type_name("N");
    command->add_option("--restart", given.restart, "How often the job was restarted [SLURM_RESTART_COUNT]")
        ->type_name("N");
    command
        ->add_option("--take-over", given.take_over,
                     "Fence off this job, which owns the directory so far [RAIL_CKPT_TAKE_OVER]")
        ->type_name("N");
    command->add_flag("--json", given.json, "Print JSON");
}

void add_kind(base::Words* command, Arguments& given) {
    command
        ->add_option("--kind", given.kind, "Whose checkpoints these are: auto, megatron, … [RAIL_CKPT_KIND]")
        ->type_name("KIND");
}

void add_signal(base::Words* command, Arguments& given) {
    command
        ->add_option("--signal", given.signal,
                     "How its program is asked to save: SIG@ranks, file:PATH, none, … [RAIL_CKPT_SIGNAL]")
        ->type_name("WAY");
}

void add_interval(base::Words* command, Arguments& given) {
    command->add_option("--interval", given.interval, "Interval without an agent [RAIL_CKPT_INTERVAL]")
        ->type_name("TIME");
    command
        ->add_option("--mtbf", given.mtbf,
                     "Mean time between failures of the job without an agent [RAIL_CKPT_MTBF]")
        ->type_name("TIME");
}

base::Expected<std::optional<Work>> work_option(const char* name, const std::string& text) {
    auto work = parse_work(text);
    if (!work && !text.empty())
        return base::Error{
            base::Code::usage,
            fmt::format("{}={}: a job's number is wanted, or 0 outside of any job", name, text)};
    return work;
}

base::Expected<std::optional<Seconds>> time_option(const char* name, const std::string& text) {
    if (text.empty()) return std::optional<Seconds>{};
    const auto time = parse_time(text);
    if (!time) return base::Error(time.error()).within(name);
    return std::optional<Seconds>(*time);
}

void warn(const std::string& text) {
    fmt::print(stderr, "railckpt: {}\n", text);
}

base::Expected<Options> options_of(const Arguments& arguments) {
    Given given;
    if (!arguments.dir.empty()) given.dir = arguments.dir;
    if (!arguments.socket.empty()) given.socket = arguments.socket;
    const auto job = work_option("--job", arguments.job),
               take_over = work_option("--take-over", arguments.take_over);
    if (!job) return job.error();
    if (!take_over) return take_over.error();
    given.job = *job;
    given.restart = arguments.restart;
    given.take_over = *take_over;
    given.keep = arguments.keep;
    const auto interval = time_option("--interval", arguments.interval),
               mtbf = time_option("--mtbf", arguments.mtbf);
    if (!interval) return interval.error();
    if (!mtbf) return mtbf.error();
    given.interval = *interval;
    given.mtbf = *mtbf;
    return resolve(given, [](const char* name) -> const char* { return std::getenv(name); });
}

// A command with --dir only reads, unless it writes: it may be run from outside the job. A directory of
// another program is only read, too.
base::Expected<Session> open_session(const Arguments& arguments, bool writes, bool foreign = false) {
    auto options = options_of(arguments);
    if (!options) return std::move(options).error();
    options->read_only = foreign || (!writes && (!options->job || !arguments.dir.empty()));
    auto session = Session::open(*options);
    if (session && !session->notice().empty()) warn(session->notice());
    return session;
}

// Exit status 1 is for scripts: none there, not yet, does not match. Fenced off or no answer is 2.
int fail(const base::Cli& cli, const base::Error& error) {
    const int status = cli.fail(error);
    const bool fits_not = error.code == base::Code::unfit || error.code == base::Code::internal;
    return fits_not ? status : static_cast<int>(base::exit_usage);
}

std::string moment(double seconds) {
    return base::iso_time(base::time_from_seconds(seconds));
}

boost::json::object to_json(const Published& published) {
    const auto& manifest = published.manifest;
    return {{"path", published.path.string()}, {"step", manifest.id.step},
            {"epoch", manifest.id.epoch},      {"job", base::to_json(manifest.job.job)},
            {"time", moment(manifest.time_s)}, {"cost_s", manifest.cost_s},
            {"files", manifest.files.size()},  {"bytes", manifest.bytes()}};
}

boost::json::object to_json(const Verdict& verdict) {
    boost::json::object object{{"due", verdict.due()},
                               {"reason", to_string(verdict.reason)},
                               {"interval_s", verdict.interval.length.count()},
                               {"interval_from", to_string(verdict.interval.source)},
                               {"left_s", verdict.left.count()}};
    object["save_by"] =
        verdict.agent.save_by_s ? boost::json::value(moment(*verdict.agent.save_by_s)) : boost::json::value();
    object["incident"] =
        verdict.agent.incident.empty() ? boost::json::value() : boost::json::value(verdict.agent.incident);
    return object;
}

// What is in the directory by another program's rules; nothing is searched for railckpt's own directory, or
// one that does not exist yet.
base::Expected<kinds::Found> look(const Arguments& arguments) {
    const auto kind = kind_given(arguments.kind);
    if (!kind) return kind.error();
    if (kind->known == kinds::Known::railckpt) return kinds::Found{*kind};
    const auto options = options_of(arguments);
    if (!options) return options.error();
    auto found = look_at(options->dir, *kind);
    const bool untold = kind->known == kinds::Known::automatic;
    if (!found && untold && found.error().code == base::Code::not_found) return kinds::Found{*kind};
    return found;
}

void count(Session& session, const kinds::Found& found) {
    if (found.newest)
        session.count_from(found.newest->done);
    else if (is_foreign(found.kind))
        session.count_from(start_of_job(base::now()));
    else
        session.count_from_files();
}

int print_verdict(const base::Cli& cli, const Arguments& arguments, const Session& session,
                  const Verdict& verdict) {
    if (!session.agent_trouble().empty()) warn(session.agent_trouble());
    if (arguments.json)
        fmt::print("{}\n", base::to_text(to_json(verdict)));
    else
        fmt::print("{}\n", to_sentence(verdict));
    return base::finish_output(cli, verdict.due() ? base::exit_done : base::exit_finding);
}

int run_due(const base::Cli& cli, const Arguments& arguments) {
    const auto found = look(arguments);
    if (!found) return fail(cli, found.error());
    auto session = open_session(arguments, false, is_foreign(found->kind));
    if (!session) return fail(cli, session.error());
    count(*session, *found);
    const auto verdict = session->due();
    return print_verdict(cli, arguments, *session, verdict);
}

int run_wait(const base::Cli& cli, const Arguments& arguments) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds pause{200}, look_pause{2'000};
    const auto timeout = time_option("--timeout", arguments.timeout);
    if (!timeout) return fail(cli, timeout.error());
    auto found = look(arguments);
    if (!found) return fail(cli, found.error());
    auto session = open_session(arguments, false, is_foreign(found->kind));
    if (!session) return fail(cli, session.error());
    const auto start = Clock::now();
    auto looked = start;
    for (;;) {
        count(*session, *found); // another process may have committed in the meantime
        const auto verdict = session->due();
        const Seconds waited = Clock::now() - start;
        if (verdict.due() || (*timeout && waited >= **timeout))
            return print_verdict(cli, arguments, *session, verdict);
        std::this_thread::sleep_for(pause);
        if (found->kind.known == kinds::Known::railckpt || Clock::now() - looked < look_pause) continue;
        looked = Clock::now();
        // If a look fails, the earlier result is used.
        if (auto again = look(arguments)) found = std::move(again);
    }
}

// For another program: what it resumes from.
int print_newest(const base::Cli& cli, const Arguments& arguments, const kinds::Found& found) {
    const auto options = options_of(arguments);
    if (!options) return fail(cli, options.error());
    const auto dir = absolute(options->dir), shown = base::printable(dir, 300);
    if (arguments.verify || arguments.furthest)
        return fail(cli, {base::Code::usage, fmt::format("--verify and --furthest are for railckpt's own "
                                                         "checkpoints: those in {} are of kind {}",
                                                         shown, base::printable(to_string(found.kind)))});
    for (const auto& why : found.passed_over)
        warn(fmt::format("{}/{}", shown, why));
    if (!found.newest) {
        warn(
            fmt::format("{}: no whole checkpoint of kind {}", shown, base::printable(to_string(found.kind))));
        if (arguments.json) fmt::print("null\n");
        return base::finish_output(cli, base::exit_finding);
    }
    const auto path = found.newest->name.empty() ? dir : dir + '/' + found.newest->name;
    if (arguments.json) {
        auto object = whole_to_json(*found.newest, found.kind, path);
        object["skipped"] = boost::json::array(found.passed_over.begin(), found.passed_over.end());
        fmt::print("{}\n", base::to_text(object));
    } else {
        fmt::print("{}\n", path);
    }
    return base::finish_output(cli, base::exit_done);
}

int run_latest(const base::Cli& cli, const Arguments& arguments) {
    const auto found = look(arguments);
    if (!found) return fail(cli, found.error());
    if (is_foreign(found->kind)) return print_newest(cli, arguments, *found);
    auto session = open_session(arguments, false);
    if (!session) return fail(cli, session.error());
    const auto latest = session->latest(arguments.verify ? Depth::checksums : Depth::sizes,
                                        arguments.furthest ? Wanted::furthest : Wanted::newest);
    if (!latest) return fail(cli, latest.error());
    for (const auto& damage : latest->skipped)
        warn(damage + ": passed over");
    if (const auto ahead = ahead_sentence(*latest); !ahead.empty()) warn(ahead);
    if (!latest->newest) {
        warn(session->dir().string() +
             (found->others
                  ? ": no valid checkpoint of railckpt's own, and the checkpoints of what else is there "
                    "are not known to Railyard: name their kind with --kind"
                  : ": no valid checkpoint"));
        if (arguments.json) fmt::print("null\n");
        return base::finish_output(cli, base::exit_finding);
    }
    if (arguments.json) {
        auto object = to_json(*latest->newest);
        boost::json::array skipped(latest->skipped.begin(), latest->skipped.end());
        object["skipped"] = std::move(skipped);
        boost::json::array ahead;
        for (const auto& further : latest->ahead)
            ahead.push_back(boost::json::value(further.path.string()));
        object["ahead"] = std::move(ahead);
        fmt::print("{}\n", base::to_text(object));
    } else {
        fmt::print("{}\n", latest->newest->path.string());
    }
    return base::finish_output(cli, base::exit_done);
}

// What watch and doctor are given alike.
base::Expected<WatchOptions> watch_options(const Arguments& arguments) {
    const auto kind = kind_given(arguments.kind);
    if (!kind) return kind.error();
    const auto signal = signal_given(arguments.signal);
    if (!signal) return signal.error();
    auto options = options_of(arguments);
    if (!options) return std::move(options).error();
    std::optional<pid_t> beside;
    if (!arguments.pid.empty()) {
        const auto pid = base::parse_count(arguments.pid);
        if (!pid || *pid == 0 || *pid > std::numeric_limits<pid_t>::max())
            return base::Error{base::Code::usage, fmt::format("--pid={}: the number of a process is wanted",
                                                              base::printable(arguments.pid, 100))};
        beside = static_cast<pid_t>(*pid);
    }
    auto marks = job_marks([](const char* name) -> const char* { return std::getenv(name); });
    return WatchOptions{*std::move(options), *kind, {}, beside, *signal, std::move(marks), arguments.json};
}

int run_watch(const base::Cli& cli, Arguments& arguments) {
    const auto blocked = time_option("--blocked", arguments.blocked);
    if (!blocked) return fail(cli, blocked.error());
    if (!arguments.directory.empty() && !arguments.dir.empty())
        return fail(cli, {base::Code::usage, "watch: --dir and DIR name the directory: give one"});
    if (!arguments.directory.empty()) arguments.dir = arguments.directory;
    auto options = watch_options(arguments);
    if (!options) return fail(cli, options.error());
    options->blocked = *blocked;
    return watch(cli, *options);
}

int run_doctor(const base::Cli& cli, const Arguments& arguments) {
    const auto options = watch_options(arguments);
    return options ? doctor(cli, *options) : fail(cli, options.error());
}

int run_commit(const base::Cli& cli, const Arguments& arguments) {
    const auto cost = time_option("--cost", arguments.cost);
    if (!cost) return fail(cli, cost.error());
    const auto blocked = time_option("--blocked", arguments.blocked);
    if (!blocked) return fail(cli, blocked.error());
    if (*cost && *blocked)
        return fail(cli, {base::Code::usage, "--cost and --blocked: --blocked is the time in all; give one"});
    if (arguments.from.empty() == arguments.files.empty())
        return fail(cli, {base::Code::usage,
                          "commit: name the files to publish, or their directory with --from DIR"});
    const auto step = base::parse_count(arguments.step);
    if (!step) return fail(cli, base::Error(step.error()).within("--step"));
    const auto kind = kind_given({});
    if (!kind) return fail(cli, kind.error());
    if (is_foreign(*kind))
        return fail(cli,
                    {base::Code::usage,
                     fmt::format("environment variable RAIL_CKPT_KIND={}: commit publishes railckpt's own "
                                 "checkpoints: unset it, or let railckpt watch report the program's",
                                 base::printable(to_string(*kind)))});
    auto session = open_session(arguments, true);
    if (!session) return fail(cli, session.error());
    const auto stage = session->begin(*step);
    if (!stage) return fail(cli, stage.error());
    const auto how = arguments.move ? Import::link : Import::copy;
    auto imported = arguments.from.empty() ? import_files(arguments.files, *stage, how)
                                           : import_tree(arguments.from, *stage, how);
    if (!imported) return fail(cli, imported.error());
    const auto published = session->commit({cost->value_or(Seconds{0}), *blocked}, imported->linked());
    if (!published) return fail(cli, published.error());
    if (arguments.move)
        for (const auto& trouble : remove_sources(*imported))
            warn(trouble);
    for (const auto& trouble : session->commit_troubles())
        warn(trouble);
    if (arguments.json)
        fmt::print("{}\n", base::to_text(to_json(*published)));
    else
        fmt::print("{}\n", published->path.string());
    return base::finish_output(cli, base::exit_done);
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("railckpt",
                  "Asks when a job's checkpoint is due, publishes checkpoints and finds the last one.",
                  "railckpt(1)");
    Arguments arguments;
    cli->require_subcommand(1);

    auto* due = cli->add_subcommand("due", "Exit 0 if a checkpoint is due, 1 if not yet; prints why");
    add_common(due, arguments);
    add_kind(due, arguments);
    add_interval(due, arguments);

    auto* wait = cli->add_subcommand("wait", "Wait until a checkpoint is due");
    add_common(wait, arguments);
    add_kind(wait, arguments);
    add_interval(wait, arguments);
    wait->add_option("--timeout", arguments.timeout, "Exit 1 when none is due by then")->type_name("TIME");

    auto* commit =
        cli->add_subcommand("commit", "Publish files as the checkpoint of a step; prints its path");
    add_common(commit, arguments);
    commit->add_option("--step", arguments.step, "The step the files belong to")->required()->type_name("N");
    commit->add_option("--from", arguments.from, "Publish all that stands in this directory")
        ->type_name("DIR");
    commit->add_option("files", arguments.files, "Files and directories to publish")->type_name("FILE");
    commit->add_flag("--move", arguments.move,
                     "Take the files instead of copying them (same file system: at once)");
    commit->add_option("--cost", arguments.cost, "Time the program was blocked to write the files")
        ->type_name("TIME");
    commit
        ->add_option("--blocked", arguments.blocked,
                     "Time the program was blocked in all: this command runs beside its work")
        ->type_name("TIME");
    commit->add_option("--keep", arguments.keep, "Committed checkpoints to keep [RAIL_CKPT_KEEP, 2]")
        ->type_name("N");

    auto* latest = cli->add_subcommand(
        "latest", "Print the path of the newest valid checkpoint; exit 1 if there is none");
    add_common(latest, arguments);
    add_kind(latest, arguments);
    latest->add_flag("--furthest", arguments.furthest,
                     "Take the one with the most steps, not the newest of this line of the job");
    latest->add_flag("--verify", arguments.verify, "Read every file and check its checksum");

    auto* watched = cli->add_subcommand(
        "watch", "Report each whole checkpoint that the job's own program writes, until a signal ends it");
    add_common(watched, arguments);
    add_kind(watched, arguments);
    watched
        ->add_option("--blocked", arguments.blocked,
                     "Time the program is blocked by each save, the rest of which goes on beside its work")
        ->type_name("TIME");
    watched->add_option("--pid", arguments.pid, "End when this process has ended")->type_name("PID");
    add_signal(watched, arguments);
    watched->add_option("directory", arguments.directory, "Checkpoint directory, as --dir")->type_name("DIR");

    auto* examined = cli->add_subcommand(
        "doctor", "Show what this job's checkpoints depend on: folder, claim, socket, interval, request");
    add_common(examined, arguments);
    add_kind(examined, arguments);
    add_interval(examined, arguments);
    examined->add_option("--pid", arguments.pid, "The job's script")->type_name("PID");
    add_signal(examined, arguments);

    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    if (*due) return run_due(cli, arguments);
    if (*wait) return run_wait(cli, arguments);
    if (*commit) return run_commit(cli, arguments);
    if (*watched) return run_watch(cli, arguments);
    if (*examined) return run_doctor(cli, arguments);
    return run_latest(cli, arguments);
}
