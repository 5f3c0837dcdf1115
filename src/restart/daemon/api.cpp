#include "restart/daemon/api.hpp"

#include "base/hostlist.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/units.hpp"
#include "restart/daemon/situation.hpp"
#include "restart/daemon/views.hpp"

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
    auto answer = route(request, *held);
    if (auto* response = std::get_if<HttpResponse>(&answer)) return std::move(*response);
    return refuse(request, std::get<Refusal>(answer));
}

void Api::refused(std::string_view reason) {
    metrics_.add(Metric::requests_refused, {std::string(reason)});
    log_refusal(reason, "a connection was closed");
}

Api::Answer Api::route(const HttpRequest& request, const Access& access) {
    struct Route {
        std::string_view path;
        std::string_view method;
    };
    constexpr Route routes[] = {{"/v1/report", "POST"}, {"/v1/fabric", "POST"}, {"/v1/drain", "POST"},
                                {"/v1/resume", "POST"}, {"/v1/status", "GET"},  {"/v1/explain", "GET"},
                                {"/v1/history", "GET"}, {"/metrics", "GET"},    {"/healthz", "GET"}};
    const auto* found = std::find_if(std::begin(routes), std::end(routes),
                                     [&](const Route& route) { return route.path == request.path; });
    if (found == std::end(routes))
        return Refusal{404, "not_found",
                       fmt::format("there is no {}: see restartd(8)", shortened(request.path))};
    if (found->method != request.method)
        return Refusal{405, "method", fmt::format("{} takes {}", found->path, found->method)};

    if (request.path == "/v1/report") return report(request, access);
    if (request.path == "/v1/fabric") return sweep(request, access);
    if (request.path == "/v1/drain") return change(request, access, true);
    if (request.path == "/v1/resume") return change(request, access, false);
    if (request.path == "/v1/explain") return explain(request, access);
    if (request.path == "/v1/history") return history(request, access);
    if (request.path == "/healthz") return health();
    if (auto refused = may_read(request, access)) return *std::move(refused);
    if (request.path == "/v1/status")
        return json_text(driver_.look(
            [](const State& state, const DriverStatus& status) { return status_json(state, status); }));
    driver_.update_gauges();
    return HttpResponse{200, metrics_.print(), "text/plain; version=0.0.4; charset=utf-8"};
}

std::variant<Caller, Api::Refusal> Api::caller_of(const HttpRequest& request, const Access& access) {
    auto caller = access.auth.verify(request.authorization, request.method, request.target, request.body);
    if (caller) return *caller;
    if (caller.error().code == base::Code::denied)
        return Refusal{401, "unauthenticated", caller.error().text};
    return refusal_of(caller.error());
}

std::optional<Api::Refusal> Api::may_read(const HttpRequest& request, const Access& access,
                                          std::optional<std::uint32_t> owner) {
    if (request.from_this_machine || access.roles.open_reading) return {};
    const auto caller = caller_of(request, access);
    if (const auto* refused = std::get_if<Refusal>(&caller)) return *refused;
    const auto uid = std::get<Caller>(caller).uid;
    if (uid == owner || access.roles.is_operator(uid, driver_.rm_owner())) return {};
    return Refusal{403, "forbidden",
                   fmt::format("{} may not read this from another machine: operators and the job's owner may "
                               "(restartd.operators, restartd.open_reading)",
                               user_name(uid))};
}

Api::Answer Api::report(const HttpRequest& request, const Access& access) {
    const auto caller = caller_of(request, access);
    if (const auto* refused = std::get_if<Refusal>(&caller)) return *refused;
    if (const auto uid = std::get<Caller>(caller).uid; !access.roles.is_agent(uid))
        return Refusal{403, "forbidden",
                       fmt::format("{} is not the agents' user (restartd.agent_uid)", user_name(uid))};
    const auto read = Report::from_json(request.body);
    if (!read) return refusal_of(read.error());
    const auto reply = driver_.report(*read);
    if (!reply && reply.error().code == base::Code::denied)
        return Refusal{403, "unknown_host", reply.error().text};
    if (!reply) return refusal_of(reply.error());
    metrics_.add(Metric::reports, {"nodewatchd"});
    return json_text(reply->to_json());
}

Api::Answer Api::sweep(const HttpRequest& request, const Access& access) {
    const auto caller = caller_of(request, access);
    if (const auto* refused = std::get_if<Refusal>(&caller)) return *refused;
    if (const auto uid = std::get<Caller>(caller).uid; !access.roles.is_agent(uid))
        return Refusal{403, "forbidden",
                       fmt::format("{} is not the agents' user (restartd.agent_uid)", user_name(uid))};
    const auto read = FabricReport::from_json(request.body);
    if (!read) return refusal_of(read.error());
    driver_.sweep(*read);
    metrics_.add(Metric::reports, {"fabricwatchd"});
    return json_text("{\"v\":1}");
}

Api::Answer Api::change(const HttpRequest& request, const Access& access, bool drain) {
    const auto caller = caller_of(request, access);
    if (const auto* refused = std::get_if<Refusal>(&caller)) return *refused;
    const auto uid = std::get<Caller>(caller).uid;
    if (!access.roles.is_operator(uid, driver_.rm_owner()))
        return Refusal{403, "forbidden",
                       fmt::format("{} is not an operator (restartd.operators, restartd.operator_groups)",
                                   user_name(uid))};
    const auto document = base::parse_json(request.body);
    if (!document) return refusal_of(document.error());
    const base::Reader body(*document);
    const auto host = body.text("host");
    if (!host) return refusal_of(host.error());
    std::string reason;
    if (drain) {
        auto given = body.text("reason");
        if (!given) return refusal_of(given.error());
        if (given->find_first_not_of(' ') == std::string::npos)
            return Refusal{400, "input", "reason: say why, for whoever finds the host drained"};
        reason = *std::move(given);
    }
    const auto user = user_name(uid);
    const auto incident = drain ? driver_.drain(*host, reason, user) : driver_.resume(*host, user);
    if (!incident) return refusal_of(incident.error());
    return HttpResponse{202, base::to_text({{"v", 1}, {"incident", *incident}}), "application/json"};
}

Api::Answer Api::explain(const HttpRequest& request, const Access& access) {
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
        if (auto refused = may_read(request, access, owner)) return *std::move(refused);
        if (filter.job == 0)
            return Refusal{
                404, "not_found",
                fmt::format("no job {} is in the queue: of one that has ended, give its own number, "
                            "which squeue -o %A and sacct -o JobIDRaw tell",
                            shortened(job->second))};
    } else {
        if (host->second.empty()) return Refusal{400, "input", "host: a host's name is wanted"};
        filter.host = host->second;
        if (auto refused = may_read(request, access)) return *std::move(refused);
    }
    const auto notes = driver_.notes(filter);
    if (!notes) return refusal_of(notes.error());
    auto placement = filter.job != 0 ? placement_of(placed, fresh) : boost::json::object();
    const auto [known, body] = driver_.look([&](const State& state, const DriverStatus& status) {
        if (filter.job != 0)
            return std::pair(state.jobs.contains(filter.job),
                             explain_job_json(state, status, filter.job, std::move(placement), *notes));
        return std::pair(state.hosts.contains(filter.host),
                         explain_host_json(state, status, filter.host, *notes));
    });
    if (!known && notes->empty() && filter.job != 0 && !fresh)
        return Refusal{503, "unavailable",
                       fmt::format("job {} is not in the journal, and the resource manager does not answer",
                                   filter.job)};
    if (!known && notes->empty())
        return Refusal{
            404, "not_found",
            filter.job != 0
                ? fmt::format("job {} is neither in this cluster's queue nor in the journal", filter.job)
                : fmt::format("host {} is neither in the resource manager nor in the journal",
                              shortened(filter.host))};
    return json_text(body);
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

Api::Answer Api::history(const HttpRequest& request, const Access& access) {
    if (auto refused = may_read(request, access)) return *std::move(refused);
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
    const auto intents = driver_.intents(filter.incident);
    if (!intents) return refusal_of(intents.error());
    return json_text(driver_.look(
        [&](const State& state, const DriverStatus&) { return history_json(state, *notes, *intents); }));
}

// For load balancers and systemd: 200 while restartd can act, 503 with the reason otherwise.
Api::Answer Api::health() {
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
    return {refusal.status, base::to_text({{"error", {{"code", refusal.code}, {"text", refusal.text}}}}),
            "application/json"};
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
