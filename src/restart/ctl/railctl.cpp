// railctl: an operator's view of restartd, and the two things an operator asks of it.
#include "base/cli.hpp"
#include "base/conf.hpp"
#include "base/hostlist.hpp"
#include "base/json.hpp"
#include "base/units.hpp"
#include "restart/ctl/show.hpp"
#include "restart/wire/http_client.hpp"
#include "restart/wire/operator.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <thread>

namespace {

using namespace restart;
using namespace std::chrono_literals;
using base::Code;
using base::Error;
using base::Expected;

constexpr base::Duration patience = 10s;

struct Options {
    std::string config, url;
    bool json = false;
    bool all = false;                // status
    std::string hosts;               // drain, resume
    std::vector<std::string> reason; // drain
    bool no_wait = false;            // drain, resume
    std::string subject;             // explain
    std::string host, incident;      // history
    std::uint32_t job = 0;
    std::uint32_t last = 100;
};

struct Commands {
    base::Words *status, *drain, *resume, *explain, *history;
};

Commands declare(base::Cli& cli, Options& options) {
    cli->require_subcommand(1);
    cli->fallthrough(); // --json and the like may stand behind the command
    cli->add_option("--config", options.config, "Configuration file (railyard.conf(5))");
    cli->add_option("--url", options.url, "Where restartd is; overrides [restartd] url");
    cli->add_flag("--json", options.json, "Print restartd's answer as JSON");
    Commands commands{};
    const auto command = [&](const char* name, const char* about) { return cli->add_subcommand(name, about); };
    commands.status = command("status", "Hosts, incidents and jobs with something to tell");
    commands.status->add_flag("--all", options.all, "List every host and job");

    commands.drain = command("drain", "Keep new jobs away from hosts");
    commands.drain->add_option("HOST", options.hosts, "A host or a list such as n[001-004]")
        ->required();
    commands.drain->add_option("REASON", options.reason, "Why, for whoever finds them drained")->required();
    commands.drain->add_flag("--no-wait", options.no_wait, "Do not wait for the resource manager");

    commands.resume = command("resume", "Give hosts that Railyard drained back to jobs");
    commands.resume->add_option("HOST", options.hosts, "A host or a list such as n[001-004]")
        ->required();
    commands.resume->add_flag("--no-wait", options.no_wait, "Do not wait for the resource manager");

    commands.explain = command("explain", "What happened to a job or a host, and why");
    commands.explain
        ->add_option("SUBJECT", options.subject, "A job's number or name (12, 12_3, 12+1), or a host's name")
        ->required();

    commands.history = command("history", "What happened, newest last");
    commands.history->add_option("--host", options.host, "Only this host and its incidents");
    commands.history->add_option("--job", options.job, "Only this job and its incidents");
    commands.history->add_option("--incident", options.incident, "Only this incident, such as i-7");
    commands.history->add_option("--last", options.last, "At most so many lines (default 100)")
        ->range(1, 100'000);
    return commands;
}

// restartd, spoken to.
class Restartd {
public:
    static Expected<Restartd> find(const Options& options) {
        const auto conf = base::load_conf(options.config);
        if (!conf) return conf.error();
        const auto url = options.url.empty() ? conf->text("restartd", "url") : options.url;
        auto open = HttpClient::make(url);
        if (!open) return std::move(open).error().within(options.url.empty() ? "[restartd] url" : "--url");
        auto signing = HttpClient::make(url, MungeAuth(conf->text("munge", "socket")));
        return Restartd(*std::move(open), *std::move(signing));
    }

    // Reading is open on restartd's own machine; elsewhere it wants to know who asks.
    Expected<std::string> get(const std::string& target) {
        auto answer = open_.request("GET", target, "", patience);
        if (answer && answer->status == 401) answer = signing_.request("GET", target, "", patience);
        return judge(std::move(answer));
    }
    Expected<std::string> post(const std::string& target, const std::string& body) {
        return judge(signing_.request("POST", target, body, patience));
    }

private:
    Restartd(HttpClient open, HttpClient signing) : open_(std::move(open)), signing_(std::move(signing)) {}

    static Expected<std::string> judge(Expected<HttpResponse> answer) {
        if (!answer) {
            auto& error = answer.error();
            if (error.text.starts_with("http"))
                error.text += ": is restartd running there (--url, [restartd] url)?";
            return std::move(error);
        }
        if (answer->status < 300) return std::move(answer->body);
        const auto refused = Refused::from_json(answer->body);
        return Error{code_of(answer->status),
                     refused ? fmt::format("restartd: {}", refused->text)
                             : fmt::format("restartd: answered {} and no reason: does another server stand there?",
                                           answer->status)};
    }
    static Code code_of(unsigned status) {
        switch (status) {
        case 400: return Code::input;
        case 401:
        case 403: return Code::denied;
        case 404: return Code::not_found;
        case 409: return Code::unfit;
        default: return Code::unavailable;
        }
    }

    HttpClient open_;
    HttpClient signing_;
};

template <class Answer> Expected<Answer> read(const Expected<std::string>& answer) {
    if (!answer) return answer.error();
    auto read = Answer::from_json(*answer);
    if (!read) return std::move(read).error().within("restartd's answer");
    return read;
}

// Prints the answer: as it is with --json, else by `show`.
template <class Answer, class Show>
Expected<int> print(const Options& options, const Expected<std::string>& answer, Show show) {
    if (!answer) return answer.error();
    if (options.json) {
        const auto document = base::parse_json(*answer);
        if (!document) return Error(document.error()).within("restartd's answer");
        std::cout << base::to_pretty(*document);
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

// How an operator's wish ended, as far as it has.
Expected<Ending> ending_of(Restartd& restartd, const std::string& incident) {
    const auto history =
        read<History>(restartd.get("/v1/history?last=1&incident=" + percent_encode(incident)));
    if (!history) return history.error();
    if (history->actions.empty()) return Ending{};
    return Ending{history->actions.front().state, history->actions.front().error};
}

// Whether the incident is still open, as far as restartd can be asked.
bool open_incident(Restartd& restartd, const std::string& host, const std::string& incident) {
    const auto story = read<HostExplanation>(restartd.get("/v1/explain?host=" + percent_encode(host)));
    return story && std::any_of(story->incidents.begin(), story->incidents.end(),
                                [&](const IncidentStatus& open) { return open.id == incident; });
}

// Waits for the resource manager's answer, and then for restartd to have seen the change, so that the next
// command finds it.
Expected<Ending> wait_for(Restartd& restartd, const std::string& host, const std::string& incident) {
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
        auto ending = ending_of(restartd, incident);
        const bool over = !ending || ending->state == "failed" ||
                          (ending->state == "done" && !open_incident(restartd, host, incident));
        if (over || std::chrono::steady_clock::now() > until) return ending;
        std::this_thread::sleep_for(20ms);
    }
}

// One host's drain or resume; the result as JSON. `good` tells whether it was done (or need not be waited
// for).
Expected<boost::json::object> change_one(Restartd& restartd, const Options& options, bool drain,
                                         const std::string& host, const std::string& reason, bool& good) {
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

Expected<int> change(Restartd& restartd, const Options& options, bool drain) {
    const auto hosts = base::expand_hostlist(options.hosts);
    if (!hosts) return Error(hosts.error()).within("HOST");
    std::string reason;
    for (const auto& word : options.reason)
        reason += (reason.empty() ? "" : " ") + word;
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

Expected<int> explain(Restartd& restartd, const Options& options) {
    const bool job =
        names_part(options.subject) || std::all_of(options.subject.begin(), options.subject.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
    const auto target =
        fmt::format("/v1/explain?{}={}", job ? "job" : "host", percent_encode(options.subject));
    const auto shown = [](const auto& story) { return show(story); };
    return job ? print<JobExplanation>(options, restartd.get(target), shown)
               : print<HostExplanation>(options, restartd.get(target), shown);
}

Expected<int> history(Restartd& restartd, const Options& options) {
    auto target = fmt::format("/v1/history?last={}", options.last);
    if (!options.host.empty()) target += "&host=" + percent_encode(options.host);
    if (!options.incident.empty()) target += "&incident=" + percent_encode(options.incident);
    if (options.job != 0) target += fmt::format("&job={}", options.job);
    return print<History>(options, restartd.get(target), [](const History& history) { return show(history); });
}

Expected<int> run(const Commands& commands, const Options& options) {
    auto restartd = Restartd::find(options);
    if (!restartd) return restartd.error();
    if (*commands.status)
        return print<Status>(options, restartd->get("/v1/status"),
                             [&](const Status& status) { return show(status, options.all); });
    if (*commands.drain) return change(*restartd, options, true);
    if (*commands.resume) return change(*restartd, options, false);
    if (*commands.explain) return explain(*restartd, options);
    return history(*restartd, options);
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("railctl", "See what restartd knows and does; drain and resume hosts.", "railctl(1)");
    Options options;
    const auto commands = declare(cli, options);
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const auto done = run(commands, options);
    if (!done) return cli.fail(done.error());
    return base::finish_output(cli, *done);
}
