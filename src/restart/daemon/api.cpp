#include "restart/daemon/api.hpp"

#include "base/hostlist.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/units.hpp"
#include "restart/daemon/situation.hpp"
#include "restart/daemon/views.hpp"
#include "restart/wire/operator.hpp"

#include <algorithm>
#include <limits>

namespace restart {
namespace {

constexpr base::Duration rm_patience{3'000};
constexpr auto quiet = std::chrono::minutes(1);
constexpr std::uint64_t most_notes = 100'000;

HttpResponse json_text(std::string body) {
    return {200, std::move(body), "application/json"};
}

bool is_report(std::string_view path) {
    return path == "/v1/report" || path == "/v1/fabric";
}

// "12_3", "12+1": Slurm's names of a part of an array or of a heterogeneous job.
bool is_job_name(std::string_view text) {
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    return digits > 0 && digits + 1 < text.size() && (text[digits] == '_' || text[digits] == '+') &&
           text.find_first_not_of("0123456789", digits + 1) == std::string_view::npos;
}

// The id of the record that goes by this name, a component's own, or that of the tasks that wait together
// with this one; 0: there is none.
std::uint32_t find_named(const State& state, const std::string& name) {
    for (const auto& [id, job] : state.jobs) {
        if (job.rm.name == name) return id;
        for (const auto& component : job.rm.components)
            if (component.name == name) return component.id;
        const auto tasks = job.rm.name.find("_[");
        if (tasks == std::string::npos || job.rm.name.compare(0, tasks + 1, name, 0, tasks + 1) != 0)
            continue;
        auto waiting = job.rm.name;
        if (const auto limit = waiting.find('%'); limit != std::string::npos)
            waiting.erase(limit, waiting.size() - limit - 1);
        if (const auto names = base::expand_hostlist(waiting);
            names && std::find(names->begin(), names->end(), name) != names->end())
            return id;
    }
    return 0;
}

// A request's text in a log line: short and without control characters (the log removes those).
std::string shortened(std::string_view text) {
    constexpr std::size_t most = 200;
    return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "…";
}

} // namespace

Api::Api(Driver& driver, Metrics& metrics, Roles roles, MungeAuth auth) : driver_(driver), metrics_(metrics) {
    reload(std::move(roles), std::move(auth));
}

void Api::reload(Roles roles, MungeAuth auth) {
    const std::lock_guard lock(mutex_);
    access_ = std::make_shared<const Access>(Access{std::move(roles), std::move(auth)});
}

std::shared_ptr<const Api::Access> Api::access() {
    const std::lock_guard lock(mutex_);
    return access_;
}

HttpResponse Api::handle(const HttpRequest& request) {
    const auto held = access();
    auto made = answer(request, *held);
    if (auto* response = std::get_if<HttpResponse>(&made)) return std::move(*response);
    return refuse(request, std::get<Refusal>(made));
}

void Api::refused(std::string_view reason) {
    metrics_.add(Metric::requests_refused, {std::string(reason)});
    log_refusal(reason, "a connection was closed");
}

const Api::Route* Api::route_of(std::string_view path) {
    static constexpr Route routes[] = {
        {"/v1/report", "POST", Who::agents, Lane::reports, &Api::report},
        {"/v1/fabric", "POST", Who::agents, Lane::reports, &Api::sweep},
        {"/v1/drain", "POST", Who::operators, Lane::reading, &Api::drain},
        {"/v1/resume", "POST", Who::operators, Lane::reading, &Api::resume},
        {"/v1/status", "GET", Who::readers, Lane::reading, &Api::status},
        {"/v1/explain", "GET", Who::owners, Lane::reading, &Api::explain},
        {"/v1/history", "GET", Who::readers, Lane::reading, &Api::history},
        {"/metrics", "GET", Who::readers, Lane::health, &Api::metrics_page},
        {"/healthz", "GET", Who::anyone, Lane::health, &Api::health}};
    const auto* found = std::find_if(std::begin(routes), std::end(routes),
                                     [&](const Route& route) { return route.path == path; });
    return found == std::end(routes) ? nullptr : found;
}

std::size_t Api::lane(const HttpRequest& request) {
    const auto* route = route_of(request.path);
    return static_cast<std::size_t>(route == nullptr ? Lane::reading : route->lane);
}

std::vector<unsigned> Api::workers() {
    return {4, 4, 1}; // reports, reading, health
}

Api::Answer Api::answer(const HttpRequest& request, const Access& access) {
    const auto* route = route_of(request.path);
    if (route == nullptr)
        return Refusal{404, "not_found", fmt::format("there is no {}: see wire(7)", shortened(request.path))};
    if (route->method != request.method)
        return Refusal{405, "method", fmt::format("{} takes {}", route->path, route->method)};
    const auto asker = authenticate(request, access, route->who);
    if (const auto* refused = std::get_if<Refusal>(&asker)) return *refused;
    return (this->*route->run)(request, std::get<Asker>(asker));
}

std::variant<Caller, Api::Refusal> Api::caller_of(const HttpRequest& request, const Access& access) {
    const auto caller =
        request.credential
            ? MungeAuth::check(*request.credential, request.method, request.target, request.body)
            : access.auth.verify(request.authorization, request.method, request.target, request.body);
    if (caller) return *caller;
    if (caller.error().code == base::Code::denied)
        return Refusal{401, "unauthenticated", caller.error().text};
    return refusal_of(caller.error());
}

std::variant<Api::Asker, Api::Refusal> Api::authenticate(const HttpRequest& request, const Access& access,
                                                         Who who) {
    const bool reads = who == Who::readers || who == Who::owners;
    if (who == Who::anyone || (reads && (request.from_this_machine || access.roles.open_reading)))
        return Asker{{}, true};
    const auto caller = caller_of(request, access);
    if (const auto* refused = std::get_if<Refusal>(&caller)) return *refused;
    const auto uid = std::get<Caller>(caller).uid;
    if (who == Who::agents) {
        if (access.roles.is_agent(uid)) return Asker{uid, false};
        return Refusal{403, "forbidden",
                       fmt::format("{} is not the agents' user (restartd.agent_uid)", user_name(uid))};
    }
    if (access.roles.is_operator(uid, driver_.rm_owner())) return Asker{uid, true};
    if (who == Who::owners) return Asker{uid, false};
    if (who == Who::readers) return may_not_read(uid);
    return Refusal{403, "forbidden",
                   fmt::format("{} is not an operator (restartd.operators, restartd.operator_groups)",
                               user_name(uid))};
}

Api::Refusal Api::may_not_read(uid_t uid) {
    return {403, "forbidden",
            fmt::format("{} may not read this from another machine: operators and the job's owner may "
                        "(restartd.operators, restartd.open_reading)",
                        user_name(uid))};
}

bool Api::admits(HttpRequest& request) {
    const auto held = access();
    auto credential = held->auth.open(request.authorization);
    if (!credential) return false;
    request.credential = *std::move(credential);
    return held->roles.is_agent(request.credential->uid);
}

Api::Answer Api::report(const HttpRequest& request, const Asker&) {
    const auto read = Report::from_json(request.body);
    if (!read) return refusal_of(read.error());
    const auto reply = driver_.report(*read);
    if (!reply && reply.error().code == base::Code::denied)
        return Refusal{403, "unknown_host", reply.error().text};
    if (!reply) return refusal_of(reply.error());
    metrics_.add(Metric::reports, {"nodewatchd"});
    return json_text(reply->to_json());
}

Api::Answer Api::sweep(const HttpRequest& request, const Asker&) {
    const auto read = FabricReport::from_json(request.body);
    if (!read) return refusal_of(read.error());
    driver_.sweep(*read);
    metrics_.add(Metric::reports, {"fabricwatchd"});
    return json_text("{\"v\":1}");
}

Api::Answer Api::drain(const HttpRequest& request, const Asker& asker) {
    const auto wish = DrainRequest::from_json(request.body);
    if (!wish) return refusal_of(wish.error());
    if (wish->reason.find_first_not_of(' ') == std::string::npos)
        return Refusal{400, "input", "reason: say why, for whoever finds the host drained"};
    return accepted(driver_.drain(wish->host, wish->reason, user_name(*asker.uid)));
}

Api::Answer Api::resume(const HttpRequest& request, const Asker& asker) {
    const auto wish = ResumeRequest::from_json(request.body);
    if (!wish) return refusal_of(wish.error());
    return accepted(driver_.resume(wish->host, user_name(*asker.uid)));
}

Api::Answer Api::accepted(const base::Expected<std::string>& incident) {
    if (!incident) return refusal_of(incident.error());
    return HttpResponse{202, Accepted{*incident}.to_json(), "application/json"};
}

Api::Answer Api::status(const HttpRequest&, const Asker&) {
    const auto view = driver_.look(
        [](const State& state, const DriverStatus& status) { return status_of(state, status); });
    return json_text(view.to_json()); // put into words while nobody waits for the state
}

Api::Answer Api::metrics_page(const HttpRequest&, const Asker&) {
    driver_.update_gauges();
    return HttpResponse{200, metrics_.print(), "text/plain; version=0.0.4; charset=utf-8"};
}

Api::Answer Api::explain(const HttpRequest& request, const Asker& asker) {
    const auto job = request.query.find("job");
    const auto host = request.query.find("host");
    if ((job == request.query.end()) == (host == request.query.end()))
        return Refusal{400, "input", "give either job=NUMBER or host=NAME"};
    NoteFilter filter;
    bool fresh = false;
    std::uint32_t placed = 0; // a heterogeneous job's components are placed one by one
    if (job != request.query.end()) {
        const auto number = base::parse_count(job->second);
        if (number ? *number == 0 || *number > std::numeric_limits<std::uint32_t>::max()
                   : !is_job_name(job->second))
            return Refusal{400, "input", "job: a job's number or name (12, 12_3, 12+1) is wanted"};
        fresh = driver_.refresh(rm_patience); // a job that was submitted just now is known
        std::optional<std::uint32_t> owner;
        driver_.look([&](const State& state, const DriverStatus&) {
            placed = number ? static_cast<std::uint32_t>(*number) : find_named(state, job->second);
            filter.job = placed;
            if (const auto* found = state.find_job(placed)) {
                filter.job = found->rm.id;
                owner = found->rm.uid;
            }
        });
        if (!asker.reads_all && asker.uid != owner) return may_not_read(*asker.uid);
        if (filter.job == 0)
            return Refusal{
                404, "not_found",
                fmt::format("no job {} is in the queue: of one that has ended, give its own number, "
                            "which squeue -o %A and sacct -o JobIDRaw tell",
                            shortened(job->second))};
    } else {
        if (host->second.empty()) return Refusal{400, "input", "host: a host's name is wanted"};
        filter.host = host->second;
        if (!asker.reads_all) return may_not_read(*asker.uid);
    }
    const auto notes = driver_.notes(filter);
    if (!notes) return refusal_of(notes.error());
    if (filter.job == 0) {
        const auto story = driver_.look([&](const State& state, const DriverStatus& status) {
            return explain_host(state, status, filter.host, *notes);
        });
        if (story.host || !notes->empty()) return json_text(story.to_json());
        return Refusal{404, "not_found",
                       fmt::format("host {} is neither in the resource manager nor in the journal",
                                   shortened(filter.host))};
    }
    auto placement = placement_of(placed, fresh);
    const auto story = driver_.look([&](const State& state, const DriverStatus& status) {
        return explain_job(state, status, filter.job, std::move(placement), *notes);
    });
    if (story.job || !notes->empty()) return json_text(story.to_json());
    if (!fresh)
        return Refusal{503, "unavailable",
                       fmt::format("job {} is not in the journal, and the resource manager does not answer",
                                   filter.job)};
    return Refusal{404, "not_found",
                   fmt::format("job {} is neither in this cluster's queue nor in the journal", filter.job)};
}

// Why the job sits where it does or waits, worked out for this answer.
boost::json::object Api::placement_of(std::uint32_t job, bool rm_answers) {
    if (!rm_answers)
        return placement_unknown(
            "why it waits or sits where it does cannot be told: the resource manager does not answer");
    const auto placing = driver_.placing();
    if (!placing)
        return placement_unknown("why it waits or sits where it does cannot be told without a fabric file "
                                 "([placement] fabric, railtopo discover)");
    const auto queue = driver_.queue(rm_patience);
    if (!queue) return placement_unknown(queue.error().text);
    const auto situation = situation_of(*queue, *placing, job);
    if (!situation) return placement_unknown("it neither waits for hosts nor holds any");
    return placement_json(*situation, *placing);
}

Api::Answer Api::history(const HttpRequest& request, const Asker&) {
    NoteFilter filter;
    for (const auto& [name, value] : request.query) {
        const auto number = base::parse_count(value);
        if (name == "host") {
            filter.host = value;
        } else if (name == "incident") {
            filter.incident = value;
        } else if (name == "job" && number && *number <= std::numeric_limits<std::uint32_t>::max()) {
            filter.job = static_cast<std::uint32_t>(*number);
        } else if (name == "last" && number && *number <= most_notes) {
            filter.most = *number;
        } else {
            return Refusal{
                400, "input",
                fmt::format(
                    "{}: only host=NAME, job=NUMBER, incident=ID and last=NUMBER (at most {}) are known",
                    shortened(name), most_notes)};
        }
    }
    const auto notes = driver_.notes(filter);
    if (!notes) return refusal_of(notes.error());
    auto actions = driver_.intents(filter.incident);
    if (!actions) return refusal_of(actions.error());
    return json_text(driver_
                         .look([&](const State& state, const DriverStatus&) {
                             return history_of(state, *notes, *std::move(actions));
                         })
                         .to_json());
}

// For load balancers and systemd: 200 while restartd can act, 503 with the reason otherwise.
Api::Answer Api::health(const HttpRequest&, const Asker&) {
    return driver_.look([](const State& state, const DriverStatus& status) -> Answer {
        if (!status.journal_error.empty()) return Refusal{503, "unavailable", status.journal_error};
        if (!state.rm_answers || !state.rm_read)
            return Refusal{503, "unavailable", "the resource manager does not answer"};
        return json_text("{\"v\":1,\"ok\":true}");
    });
}

Api::Refusal Api::refusal_of(const base::Error& error) {
    const auto status = [&]() -> unsigned {
        switch (error.code) {
        case base::Code::usage:
        case base::Code::input: return 400;
        case base::Code::denied: return 403;
        case base::Code::not_found: return 404;
        case base::Code::unfit: return 409;
        case base::Code::unavailable: return 503;
        case base::Code::io:
        case base::Code::internal: break;
        }
        return 500;
    }();
    return {status, base::to_string(error.code), error.text};
}

HttpResponse Api::refuse(const HttpRequest& request, const Refusal& refusal) {
    if (request.path != "/healthz") {
        metrics_.add(Metric::requests_refused, {std::string(refusal.code)});
        if (is_report(request.path)) metrics_.add(Metric::reports_refused, {std::string(refusal.code)});
        // Reports that are lost and people who may not are an administrator's business, a mistyped name is
        // not.
        if (is_report(request.path) || refusal.status == 401 || refusal.status == 403)
            log_refusal(refusal.code,
                        fmt::format("{} {} from {}: {}", request.method, shortened(request.path),
                                    request.peer, shortened(refusal.text)));
    }
    return {refusal.status, Refused{std::string(refusal.code), refusal.text}.to_json(), "application/json"};
}

void Api::log_refusal(std::string_view reason, std::string_view text) {
    const auto now = std::chrono::steady_clock::now();
    std::uint64_t silent = 0;
    {
        const std::lock_guard lock(mutex_);
        const auto [told, first] = told_.try_emplace(std::string(reason));
        if (!first && now - told->second.last < quiet) {
            ++told->second.silent;
            return;
        }
        told->second.last = now;
        silent = std::exchange(told->second.silent, 0);
    }
    const auto more =
        silent == 0 ? std::string() : fmt::format(" ({} more of these in the last minutes)", silent);
    base::log::warning("refused ({}): {}{}", reason, text, more);
}

} // namespace restart
