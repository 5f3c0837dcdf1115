#include "restart/daemon/api.hpp"

#include "base/hostlist.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/units.hpp"
#include "base/user.hpp"
#include "restart/daemon/plan.hpp"
#include "restart/daemon/rate_views.hpp"
#include "restart/daemon/views.hpp"
#include "restart/wire/channel.hpp"
#include "restart/wire/operator.hpp"

#include <algorithm>
#include <limits>

namespace restart {
namespace {

constexpr base::Duration watcher_patience{200}; // for requests that must not delay others of their lane
constexpr auto quiet = std::chrono::minutes(1);
constexpr std::uint64_t most_notes = 100'000;
constexpr std::string_view bearer = "Bearer ";

HttpResponse json_text(std::string body) {
    return {200, std::move(body), "application/json"};
}

bool is_report(std::string_view path) {
    return path == "/v1/report" || path == "/v1/report/signals" || path == "/v1/fabric";
}

} // namespace

Api::Api(Driver& driver, Metrics& metrics, Roles roles, MungeAuth auth, MetricsTokens tokens, PageFiles page)
    : driver_(driver), metrics_(metrics) {
    reload(std::move(roles), std::move(auth), std::move(tokens), std::move(page));
}

void Api::reload(Roles roles, MungeAuth auth, MetricsTokens tokens, PageFiles page) {
    const std::lock_guard lock(mutex_);
    access_ = std::make_shared<const Access>(
        Access{std::move(roles), std::move(auth), std::move(tokens), std::move(page)});
}

std::shared_ptr<const Api::Access> Api::access() {
    const std::lock_guard lock(mutex_);
    return access_;
}

std::string Api::shortened(std::string_view text) {
    constexpr std::size_t most = 200;
    return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "…";
}

HttpResponse Api::handle(const HttpRequest& request) {
    const auto held = access();
    auto made = answer(request, *held);
    auto* answered = std::get_if<HttpResponse>(&made);
    auto response = answered != nullptr ? std::move(*answered) : refuse(request, std::get<Refusal>(made));
    if (request.channel != nullptr) response.proof = request.channel->proof(response.status, response.body);
    return response;
}

void Api::refused(std::string_view reason) {
    metrics_.add(Metric::requests_refused, {std::string(reason)});
    log_refusal(reason, "a connection was closed");
}

const Api::Route* Api::route_of(std::string_view path) {
    static constexpr Route routes[] = {
        {"/v1/report", "POST", Who::agents, Wish::change, Lane::reports, &Api::report},
        {"/v1/report/signals", "POST", Who::agents, Wish::change, Lane::reports, &Api::tell},
        {"/v1/fabric", "POST", Who::agents, Wish::change, Lane::reports, &Api::sweep},
        {"/v1/drain", "POST", Who::by_rule, Wish::change, Lane::operators, &Api::drain},
        {"/v1/resume", "POST", Who::by_rule, Wish::change, Lane::operators, &Api::resume},
        {"/v1/pause", "POST", Who::by_rule, Wish::change, Lane::operators, &Api::pause},
        {"/v1/go", "POST", Who::by_rule, Wish::change, Lane::operators, &Api::go},
        {"/v1/status", "GET", Who::by_rule, Wish::status, Lane::reading, &Api::status},
        {"/v1/plan", "GET", Who::by_rule, Wish::status, Lane::reading, &Api::plan},
        {"/v1/explain", "GET", Who::by_rule, Wish::explain_job, Lane::reading, &Api::explain},
        {"/v1/history", "GET", Who::by_rule, Wish::history, Lane::reading, &Api::history},
        {"/v1/rates", "GET", Who::by_rule, Wish::rates, Lane::reading, &Api::rates},
        {"/v1/signals", "GET", Who::by_rule, Wish::explain_host, Lane::reading, &Api::signals},
        {"/v1/checks", "GET", Who::by_rule, Wish::explain_host, Lane::reading, &Api::checks},
        {"/v1/top", "GET", Who::by_rule, Wish::rates, Lane::reading, &Api::top},
        {"/v1/map", "GET", Who::by_rule, Wish::explain_host, Lane::reading, &Api::map},
        {"/metrics", "GET", Who::by_rule, Wish::metrics, Lane::health, &Api::metrics_page},
        {"/healthz", "GET", Who::anyone, Wish::status, Lane::health, &Api::health}};
    const auto* found = std::find_if(std::begin(routes), std::end(routes),
                                     [&](const Route& route) { return route.path == path; });
    return found == std::end(routes) ? nullptr : found;
}

std::size_t Api::lane(const HttpRequest& request) {
    const auto* route = route_of(request.path);
    return static_cast<std::size_t>(route == nullptr ? Lane::reading : route->lane);
}

std::vector<unsigned> Api::workers() {
    return {4, 4, 1, 2}; // reports, reading, health, operators
}

Api::Answer Api::answer(const HttpRequest& request, const Access& access) {
    const auto* route = route_of(request.path);
    // The page has nothing of the cluster in it: what it shows it asks for by the routes below.
    if (const auto* file = access.page.find(request.path); file != nullptr && request.method == "GET")
        return *file;
    if (route == nullptr)
        return Refusal{404, "not_found", fmt::format("there is no {}: see wire(7)", shortened(request.path))};
    if (route->method != request.method)
        return Refusal{405, "method", fmt::format("{} takes {}", route->path, route->method)};
    const auto asker = authenticate(request, access, *route);
    if (const auto* refused = std::get_if<Refusal>(&asker)) return *refused;
    return (this->*route->run)(request, std::get<Asker>(asker));
}

std::variant<Caller, Api::Refusal> Api::caller_of(const HttpRequest& request, const Access& access) {
    const auto caller = restart::authenticate(request, access.auth, std::chrono::steady_clock::now());
    if (caller) return *caller;
    if (caller.error().code == base::Code::denied)
        return Refusal{401, "unauthenticated", caller.error().text};
    return refusal_of(caller.error());
}

std::variant<Api::Asker, Api::Refusal> Api::authenticate(const HttpRequest& request, const Access& access,
                                                         const Route& route) {
    if (route.who == Who::anyone) return Asker{};
    if (route.who == Who::by_rule) {
        const bool of_host = route.wish == Wish::explain_job && request.query.contains("host");
        return by_rule(request, access, of_host ? Wish::explain_host : route.wish);
    }
    const auto caller = caller_of(request, access);
    if (const auto* refused = std::get_if<Refusal>(&caller)) return *refused;
    const auto uid = std::get<Caller>(caller).uid;
    if (access.roles.is_agent(uid)) return Asker{base::user_name(uid)};
    return Refusal{403, "forbidden",
                   fmt::format("{} is not the agents' user (restartd.agent_uid)", base::user_name(uid))};
}

// Accounting is asked only if the ruling depends on it, and with less patience for those who watch.
std::variant<Api::Asker, Api::Refusal> Api::by_rule(const HttpRequest& request, const Access& access,
                                                    Wish wish) {
    Standing who;
    who.open = wish != Wish::change && (request.from_this_machine || access.roles.open_reading);
    if (wish == Wish::metrics && request.authorization.starts_with(bearer)) {
        who.metrics_token = access.tokens.hold(std::string_view(request.authorization).substr(bearer.size()));
        if (!who.metrics_token)
            return Refusal{401, "unauthenticated", "the token is none of restartd.metrics_token"};
    } else if (!request.authorization.empty()) {
        const auto caller = caller_of(request, access);
        if (const auto* refused = std::get_if<Refusal>(&caller)) return *refused;
        who.uid = std::get<Caller>(caller).uid;
        who.name = base::user_name(*who.uid);
        who.named_operator = access.roles.is_operator(*who.uid, driver_.rm_owner());
    }
    const bool by_place = who.open && !access.roles.open_reading && request.authorization.empty();
    if (by_place && wish != Wish::metrics && !access.roles.is_own_name(request.host))
        return Refusal{403, "forbidden",
                       fmt::format("{} is not a name of restartd: use 127.0.0.1, or one of restartd.url",
                                   shortened(request.host))};
    const auto hides = driver_.privacy();
    if (asks_accounting(wish, who, hides))
        who.rm = driver_.rm_user(*who.uid, who.name, wish == Wish::metrics ? watcher_patience : rm_patience);
    auto ruling = rule(wish, who, hides, words());
    switch (ruling.answer) {
    case Ruling::Answer::yes: return Asker{std::move(who.name), std::move(ruling.view)};
    case Ruling::Answer::who: return Refusal{401, "unauthenticated", std::move(ruling.text)};
    case Ruling::Answer::not_yet: return Refusal{503, "unavailable", std::move(ruling.text)};
    case Ruling::Answer::no: break;
    }
    return Refusal{403, "forbidden", std::move(ruling.text)};
}

RmWords Api::words() {
    return driver_.look([](const State&, const DriverStatus& status) { return status.policy.words; });
}

bool Api::admits(HttpRequest& request) {
    const auto held = access();
    if (request.channel != nullptr && request.authorization.starts_with(channel_scheme)) {
        const auto caller = request.channel->caller(); // the proof covers the body, which has not come yet
        return caller && held->roles.is_agent(caller->uid);
    }
    auto credential = held->auth.open(request.authorization);
    if (!credential) return false;
    request.credential = *std::move(credential);
    return held->roles.is_agent(request.credential->uid);
}

Api::Answer Api::report(const HttpRequest& request, const Asker&) {
    auto* const channel = request.channel;
    std::shared_ptr<const Report> said;
    if (request.body == report_as_before) {
        if (channel != nullptr) said = channel->reported;
        if (said == nullptr)
            return Refusal{409, "unfit", "as_before: no report came before on this connection"};
    } else {
        auto read = Report::from_json(request.body);
        if (!read) return refusal_of(read.error());
        said = std::make_shared<const Report>(*std::move(read));
    }
    if (channel != nullptr) channel->reported.reset();
    auto reply = driver_.report(*said);
    if (!reply && reply.error().code == base::Code::denied)
        return Refusal{403, "unknown_host", reply.error().text};
    if (!reply) return refusal_of(reply.error());
    reply->tell = signal_book_.reported(said->host, said->tells, std::chrono::steady_clock::now());
    if (channel != nullptr) channel->reported = std::move(said);
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
    return accepted(driver_.drain(wish->host, wish->reason, asker.name));
}

Api::Answer Api::resume(const HttpRequest& request, const Asker& asker) {
    const auto wish = ResumeRequest::from_json(request.body);
    if (!wish) return refusal_of(wish.error());
    return accepted(driver_.resume(wish->host, asker.name));
}

Api::Answer Api::pause(const HttpRequest& request, const Asker& asker) {
    const auto wish = PauseRequest::from_json(request.body);
    if (!wish) return refusal_of(wish.error());
    if (wish->reason.find_first_not_of(' ') == std::string::npos)
        return Refusal{400, "input", "reason: say why, for whoever finds restartd paused"};
    auto hosts = base::expand_hostlist(wish->hosts);
    if (!hosts) return refusal_of(std::move(hosts).error().within("hosts"));
    const auto done =
        driver_.pause({*std::move(hosts), wish->lasts.value_or(default_pause), wish->reason, asker.name});
    if (!done) return refusal_of(done.error());
    return plan(request, asker);
}

Api::Answer Api::go(const HttpRequest& request, const Asker& asker) {
    const auto wish = GoRequest::from_json(request.body);
    if (!wish) return refusal_of(wish.error());
    auto hosts = base::expand_hostlist(wish->hosts);
    if (!hosts) return refusal_of(std::move(hosts).error().within("hosts"));
    const auto done = driver_.go({*std::move(hosts), asker.name});
    if (!done) return refusal_of(done.error());
    return plan(request, asker);
}

Api::Answer Api::accepted(const base::Expected<std::string>& incident) {
    if (!incident) return refusal_of(incident.error());
    return HttpResponse{202, Accepted{*incident}.to_json(), "application/json"};
}

Api::Answer Api::status(const HttpRequest&, const Asker& asker) {
    const auto shown = driver_.look(
        [&](const State& state, const DriverStatus& status) { return status_of(state, status, asker.view); });
    return json_text(shown.to_json()); // formatted without holding the state
}

Api::Answer Api::plan(const HttpRequest&, const Asker& asker) {
    const auto made = driver_.look(
        [&](const State& state, const DriverStatus& status) { return plan_of(state, status, asker.view); });
    return json_text(made.to_json());
}

Api::Answer Api::rates(const HttpRequest&, const Asker& asker) {
    const auto shown = driver_.look(
        [&](const State& state, const DriverStatus& status) { return rates_of(state, status, asker.view); });
    return json_text(shown.to_json());
}

Api::Answer Api::top(const HttpRequest&, const Asker& asker) {
    const auto shown = driver_.look(
        [&](const State& state, const DriverStatus& status) { return top_of(state, status, asker.view); });
    return json_text(shown.to_json());
}

Api::Answer Api::map(const HttpRequest&, const Asker&) {
    const auto map = driver_.fabric_map();
    if (map == nullptr)
        return Refusal{404, "not_found",
                       "no fabric file has been read (placement.fabric): railtopo discover makes one"};
    return json_text(*map);
}

Api::Answer Api::metrics_page(const HttpRequest&, const Asker&) {
    driver_.update_gauges();
    return HttpResponse{200, metrics_.print(), "text/plain; version=0.0.4; charset=utf-8"};
}

Api::Answer Api::history(const HttpRequest& request, const Asker& asker) {
    NoteFilter filter;
    filter.view = asker.view;
    for (const auto& [name, value] : request.query) {
        const auto number = base::parse_count(value);
        if (name == "host") {
            filter.host = value;
        } else if (name == "incident") {
            filter.incident = value;
        } else if (name == "job" && (value == "0" || base::JobId::parse(value))) { // 0: any, as if absent
            filter.job = base::JobId::parse(value);
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
    auto actions = driver_.intents(filter.incident, asker.view);
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
    // A report that refers to one of an earlier connection is sent again in full after each start of
    // restartd.
    const bool comes_whole = is_report(request.path) && refusal.status == 409;
    if (request.path != "/healthz" && !comes_whole) {
        metrics_.add(Metric::requests_refused, {std::string(refusal.code)});
        if (is_report(request.path)) metrics_.add(Metric::reports_refused, {std::string(refusal.code)});
        // Lost reports and users without the right need an administrator, a mistyped name does not.
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
        const auto [entry, first] = refusals_.try_emplace(std::string(reason));
        if (!first && now - entry->second.last < quiet) {
            ++entry->second.silent;
            return;
        }
        entry->second.last = now;
        silent = std::exchange(entry->second.silent, 0);
    }
    const auto more =
        silent == 0 ? std::string() : fmt::format(" ({} more of these in the last minutes)", silent);
    base::log::warning("refused ({}): {}{}", reason, text, more);
}

} // namespace restart
