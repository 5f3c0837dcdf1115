// railctl: an operator's view of restartd, and the commands it accepts.
#include "base/cli.hpp"
#include "base/hostlist.hpp"
#include "base/json.hpp"
#include "base/terminal.hpp"
#include "base/time_text.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"
#include "restart/ctl/doctor/gather.hpp"
#include "restart/ctl/doctor/show.hpp"
#include "restart/ctl/enable/command.hpp"
#include "restart/ctl/follow.hpp"
#include "restart/ctl/moments.hpp"
#include "restart/ctl/restartd_connection.hpp"
#include "restart/ctl/show.hpp"
#include "restart/ctl/show_checks.hpp"
#include "restart/ctl/show_rates.hpp"
#include "restart/ctl/show_signals.hpp"
#include "restart/wire/checks.hpp"
#include "restart/wire/http.hpp"
#include "restart/wire/operator.hpp"
#include "restart/wire/text_times.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>

namespace {

using namespace restart;
using namespace std::chrono_literals;
using base::Code;
using base::Error;
using base::Expected;

constexpr auto patience = RestartdConnection::patience;
constexpr std::size_t most_lines = 100'000; // of a history

struct Options {
    std::string config, url;
    bool json = false;
    std::string colour = "auto";
    bool all = false;                // status, signals, checks
    std::string hosts;               // drain, resume
    std::vector<std::string> reason; // drain
    bool no_wait = false;            // drain, resume
    bool force = false;              // resume
    std::string lasts;               // pause
    std::string some;                // pause, go
    std::string subject;             // explain
    std::string host, incident;      // history
    std::string job;
    std::optional<std::size_t> last;
    std::string since, until;
    bool follow = false;
    bool this_host = false; // doctor
    std::string signals_of; // signals
    std::string checks_of;  // checks; empty: all hosts
    SignalFilter signals;
};

struct Commands {
    base::Words *status, *plan, *drain, *resume, *pause, *go, *explain, *history, *rates, *top, *signals,
        *checks, *doctor;
};

Commands declare(base::Cli& cli, Options& options) {
    cli->require_subcommand(1);
    cli->fallthrough(); // --json and similar may follow the command
    cli->add_option("--config", options.config, "Configuration file (railyard.conf(5))");
    cli->add_option("--url", options.url, "Where restartd is; overrides [restartd] url");
    cli->add_flag("--json", options.json, "Print the answer as JSON");
    cli->add_option("--color", options.colour,
                    "Colours: auto (on a terminal, without NO_COLOR), always, never")
        ->one_of({"auto", "always", "never"});
    Commands commands{};
    const auto command = [&](const char* name, const char* about) {
        return cli->add_subcommand(name, about);
    };
    commands.status = command("status", "Hosts, incidents and jobs with something to report");
    commands.status->add_flag("--all", options.all, "List every host and job");

    commands.plan = command("plan", "What restartd would do now: under way, awaited, withheld");

    commands.drain = command("drain", "Keep new jobs away from hosts");
    commands.drain->add_option("HOST", options.hosts, "A host or a list such as n[001-004]")->required();
    commands.drain->add_option("REASON", options.reason, "Why, for whoever finds them drained")->required();
    commands.drain->add_flag("--no-wait", options.no_wait, "Do not wait for the resource manager");

    commands.resume = command("resume", "Give hosts that Railyard drained back to jobs");
    commands.resume->add_option("HOST", options.hosts, "A host or a list such as n[001-004]")->required();
    commands.resume->add_flag("--no-wait", options.no_wait, "Do not wait for the resource manager");
    commands.resume->add_flag("--force", options.force, "Also while a fault of theirs still holds");

    commands.pause = command("pause", "Let restartd do nothing by itself for a time");
    commands.pause->add_option("REASON", options.reason, "Why, for whoever finds it paused")->required();
    commands.pause->add_option("--for", options.lasts, "How long, such as 2h or 1d (default 8h)");
    commands.pause->add_option("--hosts", options.some, "Only about these hosts, such as n[001-032]");

    commands.go = command("go", "End pauses: restartd acts again");
    commands.go->add_option("--hosts", options.some, "Only for these hosts");

    commands.explain = command("explain", "What happened to a job or a host, and why");
    commands.explain
        ->add_option("SUBJECT", options.subject,
                     "A job's number or name (12, 12_3, 12+1, 12[3]), or a host's name")
        ->required();

    commands.history = command("history", "What happened, newest last");
    commands.history->add_option("--host", options.host, "Only this host and its incidents");
    commands.history->add_option("--job", options.job, "Only this job and its incidents");
    commands.history->add_option("--incident", options.incident, "Only this incident, such as i-7");
    commands.history->add_option("--last", options.last, "At most so many lines (default 100)")
        ->range(std::size_t{1}, most_lines);
    commands.history->add_option("--since", options.since,
                                 "Only from then on: 2h (ago), or 2026-03-01T14:20");
    auto* until = commands.history->add_option("--until", options.until, "Only until then, likewise");
    commands.history->add_flag("--follow", options.follow, "Go on with what happens, until it is ended")
        ->excludes(until);

    commands.rates = command("rates", "How often hosts fail, how long repairs take, what follows from it");
    commands.top = command("top", "Hosts that fail again and again, and jobs that lost most by it");

    commands.signals = command("signals", "What a host measures, beside the rules that judge it");
    commands.signals->add_option("HOST", options.signals_of, "A host's name")->required();
    commands.signals->add_flag("--all", options.all, "List every rule, and where its numbers come from");
    commands.signals->add_option("--component", options.signals.component,
                                 "Only this GPU, port or HCA, such as gpu3");
    commands.signals->add_option("--rule", options.signals.rule,
                                 "Only this rule or signal, or all below it, such as gpu.throttle");

    commands.checks = command("checks", "What checks of hosts found, and what stands out by it");
    commands.checks->add_option("HOST", options.checks_of, "Only this host");
    commands.checks->add_flag("--all", options.all, "List every result");

    commands.doctor = command("doctor", "What is wrong with the installation, and what mends it");
    commands.doctor->add_flag("--host", options.this_host, "Only this host, nothing of the whole cluster");
    return commands;
}

template <class Answer> Expected<Answer> read(const Expected<std::string>& answer) {
    if (!answer) return answer.error();
    auto read = Answer::from_json(*answer);
    if (!read) return std::move(read).error().within("restartd's answer");
    return read;
}

// The answer as JSON, with times as text.
template <class Answer> Expected<std::string> dated(const std::string& answer) {
    const auto held = read<Answer>(answer);
    if (!held) return held.error();
    const codec::TextTimes text;
    auto printed = with_moments(answer, held->to_json());
    if (!printed) return std::move(printed).error().within("restartd's answer");
    return printed;
}

base::Look look_of(const Options& options) {
    return base::look_of(STDOUT_FILENO, options.colour);
}

// Prints the answer: as JSON, or by `show`.
template <class Answer, class Show>
Expected<int> print(const Options& options, const Expected<std::string>& answer, Show show) {
    if (!answer) return answer.error();
    if (options.json) {
        const auto document = dated<Answer>(*answer);
        if (!document) return document.error();
        std::cout << *document;
        return base::exit_done;
    }
    const auto held = read<Answer>(answer);
    if (!held) return held.error();
    const Expected<std::string> text = show(*held);
    if (!text) return Error(text.error()).within("restartd's answer");
    std::cout << *text;
    return base::exit_done;
}

struct Ending {
    std::string state = "pending"; // "done", "failed"
    std::string error;
};

// How far an operator's request has come.
Expected<Ending> ending_of(RestartdConnection& restartd, const std::string& incident) {
    const auto history =
        read<History>(restartd.get("/v1/history?last=1&incident=" + percent_encode(incident)));
    if (!history) return history.error();
    const auto last = std::max_element( // an older restartd lists the newest first
        history->actions.begin(), history->actions.end(),
        [](const StoredAction& a, const StoredAction& b) { return a.created < b.created; });
    return last == history->actions.end() ? Ending{} : Ending{last->state, last->error};
}

// Whether the incident is still open, as far as restartd can be asked.
bool open_incident(RestartdConnection& restartd, const std::string& host, const std::string& incident) {
    const auto story = read<HostExplanation>(restartd.get("/v1/explain?host=" + percent_encode(host)));
    return story && std::any_of(story->incidents.begin(), story->incidents.end(),
                                [&](const IncidentStatus& open) { return open.id == incident; });
}

// Waits for the resource manager's answer, and then for restartd to have seen the change, so that the next
// command finds it.
Expected<Ending> wait_for(RestartdConnection& restartd, const std::string& host,
                          const std::string& incident) {
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
        auto ending = ending_of(restartd, incident);
        const bool over = !ending || ending->state == "failed" ||
                          (ending->state == "done" && !open_incident(restartd, host, incident));
        if (over || std::chrono::steady_clock::now() > until) return ending;
        std::this_thread::sleep_for(20ms);
    }
}

// Why the host should not be given back to jobs; none: it may be, as far as restartd can be asked.
std::optional<std::string> fault_of(RestartdConnection& restartd, const std::string& host) {
    const auto story = read<HostExplanation>(restartd.get("/v1/explain?host=" + percent_encode(host)));
    if (!story || !story->host) return std::nullopt;
    for (const auto& finding : story->host->findings)
        if (finding.severity >= Severity::evict)
            return fmt::format("{} {}: {}", finding.component, finding.rule, finding.evidence);
    return std::nullopt;
}

// One host's drain or resume; the result as JSON. `good`: whether it was done (or need not be waited for).
Expected<boost::json::object> change_one(RestartdConnection& restartd, const Options& options, bool drain,
                                         const std::string& host, const std::string& reason, bool& good) {
    if (!drain && !options.force)
        if (const auto fault = fault_of(restartd, host))
            return Error{Code::unfit,
                         fmt::format("{} is not resumed, as a fault of it holds: {}; --force resumes it all "
                                     "the same",
                                     host, *fault)};
    const auto accepted =
        read<Accepted>(drain ? restartd.post("/v1/drain", DrainRequest{host, reason}.to_json())
                             : restartd.post("/v1/resume", ResumeRequest{host}.to_json()));
    if (!accepted) return accepted.error();
    Ending ending;
    if (!options.no_wait) {
        auto ended = wait_for(restartd, host, accepted->incident);
        if (!ended) return ended.error();
        ending = *std::move(ended);
    }
    good = options.no_wait || ending.state == "done";
    return boost::json::object{
        {"host", host}, {"incident", accepted->incident}, {"state", ending.state}, {"error", ending.error}};
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

// Prints what would be done from now on.
Expected<int> pause(RestartdConnection& restartd, const Options& options) {
    PauseRequest request{options.some, {}, joined(options.reason)};
    if (!options.lasts.empty()) {
        const auto lasts = base::parse_duration(options.lasts);
        if (!lasts) return Error(Code::usage, lasts.error().text).within("--for");
        request.lasts = *lasts;
    }
    return print<RecoveryPlan>(options, restartd.post("/v1/pause", request.to_json()),
                               [&](const RecoveryPlan& plan) { return show(plan, look_of(options)); });
}

Expected<int> go(RestartdConnection& restartd, const Options& options) {
    return print<RecoveryPlan>(options, restartd.post("/v1/go", GoRequest{options.some}.to_json()),
                               [&](const RecoveryPlan& plan) { return show(plan, look_of(options)); });
}

Expected<int> change(RestartdConnection& restartd, const Options& options, bool drain) {
    const auto hosts = base::expand_hostlist(options.hosts);
    if (!hosts) return Error(hosts.error()).within("HOST");
    const auto reason = joined(options.reason);
    boost::json::array results;
    int status = base::exit_done;
    for (const auto& host : *hosts) {
        bool good = false;
        const auto result = change_one(restartd, options, drain, host, reason, good);
        if (!result) {
            if (hosts->size() == 1) return result.error();
            fmt::print(stderr, "railctl: {}: {}\n", host, result.error().text);
            results.push_back({{"host", host}, {"state", "failed"}, {"error", result.error().text}});
            status = base::exit_finding;
            continue;
        }
        if (!good) status = base::exit_finding;
        if (!options.json) {
            const auto text = [&](const char* key) { return std::string(result->at(key).as_string()); };
            const auto done = drain ? "drained" : "resumed";
            if (text("state") == "done")
                fmt::print("{}: {} ({})\n", host, done, text("incident"));
            else if (text("state") == "failed")
                fmt::print("{}: not {}: {} ({})\n", host, done, text("error"), text("incident"));
            else
                fmt::print("{}: will be {} when the resource manager answers ({})\n", host, done,
                           text("incident"));
        }
        results.push_back(*result);
    }
    if (options.json)
        std::cout << base::to_pretty(boost::json::object{{"v", 1}, {"hosts", std::move(results)}});
    return status;
}

// "12_3", "12+1": Slurm's names of a part of an array or of a heterogeneous job.
bool names_part(std::string_view subject) {
    const auto digits = std::min(subject.find_first_not_of("0123456789"), subject.size());
    return digits > 0 && digits + 1 < subject.size() && (subject[digits] == '_' || subject[digits] == '+') &&
           subject.find_first_not_of("0123456789", digits + 1) == std::string_view::npos;
}

Expected<int> explain(RestartdConnection& restartd, const Options& options) {
    const bool job = names_part(options.subject) || base::JobId::parse(options.subject) ||
                     std::all_of(options.subject.begin(), options.subject.end(),
                                 [](char c) { return c >= '0' && c <= '9'; });
    const auto target =
        fmt::format("/v1/explain?{}={}", job ? "job" : "host", percent_encode(options.subject));
    const auto shown = [&](const auto& story) { return show(story, look_of(options)); };
    return job ? print<JobExplanation>(options, restartd.get(target), shown)
               : print<HostExplanation>(options, restartd.get(target), shown);
}

// "2h" (ago) or a time; empty: `otherwise`.
Expected<base::Time> moment_of(std::string_view option, const std::string& text, base::Time otherwise) {
    if (text.empty()) return otherwise;
    if (const auto before = base::parse_duration(text)) return base::now() - *before;
    auto time = base::parse_time(text);
    if (time) return time;
    return Error{
        Code::usage,
        fmt::format("{}: \"{}\" is neither a time that has passed, such as 2h, nor a moment, such as "
                    "2026-03-01T14:20",
                    option, base::printable(text, 60))};
}

// Prints what is in the later of two histories, but not in the earlier; `first`: with a heading.
void print_added(const Options& options, const History& added, bool first) {
    if (options.json) {
        const codec::TextTimes text;
        for (const auto& entry : added.timeline)
            std::cout << entry.to_json() << '\n';
    } else {
        std::cout << (first ? show_first(added, look_of(options)) : show_more(added, look_of(options)));
    }
    std::cout.flush();
}

// Repeats the request each second, across restarts of restartd, until the output is no longer read.
Expected<int> follow(RestartdConnection& restartd, const Options& options, const std::string& filter,
                     std::size_t last, base::Time since) {
    constexpr std::size_t most_at_once = 1000;
    std::optional<std::vector<TimelineEntry>> earlier;
    for (bool away = false; std::cout; std::this_thread::sleep_for(1s)) {
        const auto most = earlier ? most_at_once : last;
        auto later = read<History>(restartd.get(fmt::format("/v1/history?last={}{}", most, filter)));
        if (!later) {
            if (!earlier || later.error().code != Code::unavailable) return later.error();
            if (!std::exchange(away, true)) fmt::print(stderr, "railctl: {}\n", later.error().text);
            continue;
        }
        away = false;
        std::erase_if(later->timeline, [&](const TimelineEntry& entry) { return entry.time < since; });
        auto added = added_since(earlier.value_or(std::vector<TimelineEntry>()), later->timeline);
        if (!added)
            fmt::print(stderr, "railctl: more happened than was asked for at once: lines may be missing\n");
        const bool first = !earlier;
        earlier = later->timeline;
        if (added) later->timeline = *std::move(added);
        if (first || !later->timeline.empty()) print_added(options, *later, first);
    }
    return base::exit_done;
}

Expected<int> history(RestartdConnection& restartd, const Options& options) {
    const auto since = moment_of("--since", options.since, base::Time::min());
    if (!since) return since.error();
    const auto until = moment_of("--until", options.until, base::Time::max());
    if (!until) return until.error();
    const bool bounded = !options.since.empty() || !options.until.empty();
    const auto last = options.last.value_or(bounded ? most_lines : 100);
    std::string filter;
    if (!options.host.empty()) filter += "&host=" + percent_encode(options.host);
    if (!options.incident.empty()) filter += "&incident=" + percent_encode(options.incident);
    if (!options.job.empty()) {
        const auto job = base::JobId::parse(options.job);
        if (!job)
            return base::Error{base::Code::usage,
                               fmt::format("--job {}: must be a job's number, as 12 or 12[3]", options.job)};
        filter += "&job=" + percent_encode(to_string(*job));
    }
    const auto shown = [&](const History& some) { return show(some, look_of(options)); };
    if (options.follow) return follow(restartd, options, filter, last, *since);
    const auto target = fmt::format("/v1/history?last={}{}", last, filter);
    if (!bounded) return print<History>(options, restartd.get(target), shown);
    auto history = read<History>(restartd.get(target));
    if (!history) return history.error();
    std::erase_if(history->timeline,
                  [&](const TimelineEntry& entry) { return entry.time < *since || entry.time > *until; });
    return print<History>(options, history->to_json(), shown);
}

// Repeats the request until the agent has answered, or cannot. Status 1 also for outdated values.
Expected<int> signals(RestartdConnection& restartd, const Options& options) {
    const auto target = "/v1/signals?host=" + percent_encode(options.signals_of);
    Expected<SignalsAnswer> answer = SignalsAnswer{};
    for (const auto until = std::chrono::steady_clock::now() + patience;;) {
        answer = read<SignalsAnswer>(restartd.get(target));
        if (!answer) return answer.error();
        const bool comes = answer->state == SignalsState::asked || answer->state == SignalsState::busy;
        if (!comes || std::chrono::steady_clock::now() > until) break;
        std::this_thread::sleep_for(200ms);
    }
    const auto why = why_not(*answer);
    if (!answer->signals) return Error{Code::unavailable, why};
    auto fitting = only(*answer->signals, options.signals);
    if (!fitting) return std::move(fitting).error();
    answer->signals = *std::move(fitting);
    if (!why.empty()) fmt::print(stderr, "railctl: {}; what follows is old\n", why);
    if (options.json) {
        const auto document = dated<SignalsAnswer>(answer->to_json());
        if (!document) return document.error();
        std::cout << *document;
    } else {
        const auto look = look_of(options);
        const bool narrowed = !options.signals.component.empty() || !options.signals.rule.empty();
        std::cout << (options.all || narrowed ? show(*answer, look) : show_notable(*answer, look));
    }
    return why.empty() && !holds_any(*answer->signals) ? base::exit_done : base::exit_finding;
}

int examine(const Options& options) {
    const auto found = doctor::complaints(doctor::gather({options.config, options.url}), options.this_host);
    std::cout << (options.json ? doctor::to_json(found) : doctor::show(found, look_of(options)));
    const bool ill = std::any_of(found.begin(), found.end(), [](const doctor::Complaint& complaint) {
        return complaint.weight != doctor::Weight::note;
    });
    return ill ? base::exit_finding : base::exit_done;
}

Expected<int> run(const Commands& commands, const Options& options) {
    if (*commands.doctor) return examine(options);
    auto restartd = RestartdConnection::find(options.config, options.url);
    if (!restartd) return restartd.error();
    if (*commands.status)
        return print<Status>(options, restartd->get("/v1/status"), [&](const Status& status) {
            return show(status, options.all, look_of(options));
        });
    if (*commands.plan)
        return print<RecoveryPlan>(options, restartd->get("/v1/plan"),
                                   [&](const RecoveryPlan& plan) { return show(plan, look_of(options)); });
    if (*commands.pause) return pause(*restartd, options);
    if (*commands.go) return go(*restartd, options);
    if (*commands.drain) return change(*restartd, options, true);
    if (*commands.resume) return change(*restartd, options, false);
    if (*commands.explain) return explain(*restartd, options);
    if (*commands.rates)
        return print<Rates>(options, restartd->get("/v1/rates"),
                            [&](const Rates& rates) { return show(rates, look_of(options)); });
    if (*commands.top)
        return print<Top>(options, restartd->get("/v1/top"),
                          [&](const Top& top) { return show(top, look_of(options)); });
    if (*commands.signals) return signals(*restartd, options);
    if (*commands.checks)
        return print<Checks>(
            options,
            restartd->get("/v1/checks" + (options.checks_of.empty()
                                              ? std::string()
                                              : "?host=" + percent_encode(options.checks_of))),
            [&](const Checks& checks) { return show(checks, options.all, look_of(options)); });
    return history(*restartd, options);
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli(
        "railctl",
        "See what restartd knows and does; drain and resume hosts; pause it; switch placement on and off.",
        "railctl(1)");
    Options options;
    const auto commands = declare(cli, options);
    const enable::Command enable(cli);
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const auto done =
        enable.given() ? enable.run(options.config, options.url, options.json) : run(commands, options);
    if (!done) return cli.fail(done.error());
    return base::finish_output(cli, *done);
}
