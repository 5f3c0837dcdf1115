// The routes of restartd(8): who asks, whether they may, and the answer as JSON.
//
// Every error is {"error":{"code":…,"text":…}} with the matching status and is counted; its cause is logged
// at most once a minute and reason, so that a misconfigured agent cannot fill the log.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/json.hpp"
#include "restart/core/facts/rights.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/daemon/metrics.hpp"
#include "restart/daemon/metrics_tokens.hpp"
#include "restart/daemon/roles.hpp"
#include "restart/daemon/seats.hpp"
#include "restart/daemon/signal_book.hpp"
#include "restart/web/page_files.hpp"
#include "restart/wire/http.hpp"
#include "restart/wire/munge_auth.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace restart {

class Api {
public:
    Api(Driver& driver, Metrics& metrics, Roles roles, MungeAuth auth, MetricsTokens tokens = {},
        PageFiles page = {});

    // Thread-safe; blocks while munged and the journal are asked.
    HttpResponse handle(const HttpRequest& request);

    // HttpServer's other callbacks: an agent may send a large body.
    bool admits(HttpRequest& request);
    static std::size_t lane(const HttpRequest& request);
    static std::vector<unsigned> workers(); // of each lane

    // A request refused before it was complete (http_server.hpp).
    void refused(std::string_view reason);

    void reload(Roles roles, MungeAuth auth, MetricsTokens tokens = {}, PageFiles page = {});

private:
    struct Access {
        Roles roles;
        MungeAuth auth;
        MetricsTokens tokens;
        PageFiles page;
    };
    struct Refusal {
        unsigned status;
        std::string_view code;
        std::string text;
    };
    using Answer = std::variant<HttpResponse, Refusal>;

    // Who may ask; decided before anything else is done.
    enum class Who { anyone, agents, by_rule };
    // Requests that must not wait for those of another lane: an operator's for any user's explanations.
    enum class Lane { reports, reading, health, operators };
    struct Asker {
        std::string name; // of the user; empty: the user was not identified
        View view{};      // what they see
    };
    struct Route {
        std::string_view path;
        std::string_view method;
        Who who;
        Wish wish; // for those by rule
        Lane lane;
        Answer (Api::*run)(const HttpRequest& request, const Asker& asker);
    };
    static const Route* route_of(std::string_view path);

    Answer answer(const HttpRequest& request, const Access& access);
    Answer report(const HttpRequest& request, const Asker& asker);
    Answer tell(const HttpRequest& request, const Asker& asker);    // api_signals.cpp
    Answer signals(const HttpRequest& request, const Asker& asker); // api_signals.cpp
    Answer checks(const HttpRequest& request, const Asker& asker);  // api_checks.cpp
    Answer sweep(const HttpRequest& request, const Asker& asker);
    Answer drain(const HttpRequest& request, const Asker& asker);
    Answer resume(const HttpRequest& request, const Asker& asker);
    Answer pause(const HttpRequest& request, const Asker& asker);
    Answer go(const HttpRequest& request, const Asker& asker);
    Answer status(const HttpRequest& request, const Asker& asker);
    Answer plan(const HttpRequest& request, const Asker& asker);
    Answer explain(const HttpRequest& request, const Asker& asker);
    Answer history(const HttpRequest& request, const Asker& asker);
    Answer rates(const HttpRequest& request, const Asker& asker);
    Answer top(const HttpRequest& request, const Asker& asker);
    Answer map(const HttpRequest& request, const Asker& asker);
    Answer metrics_page(const HttpRequest& request, const Asker& asker);
    Answer health(const HttpRequest& request, const Asker& asker);

    Answer explain_job(const std::string& named, const Asker& asker);
    Answer explain_host(const std::string& host, const Asker& asker);
    std::optional<EndedJobStatus> ended(base::JobId job, const View& view);
    boost::json::object placement_of(base::JobId job, bool rm_answers, const View& view);
    static Answer accepted(const base::Expected<std::string>& incident);
    static std::variant<Caller, Refusal> caller_of(const HttpRequest& request, const Access& access);
    std::variant<Asker, Refusal> authenticate(const HttpRequest& request, const Access& access,
                                              const Route& route);
    std::variant<Asker, Refusal> by_rule(const HttpRequest& request, const Access& access, Wish wish);
    RmWords words();
    static constexpr base::Duration rm_patience{3'000}; // for its answer
    // A request's text in a log line: short and without control characters (the log removes those).
    static std::string shortened(std::string_view text);
    static Refusal refusal_of(const base::Error& error);
    HttpResponse refuse(const HttpRequest& request, const Refusal& refusal);
    void log_refusal(std::string_view reason, std::string_view text);
    std::shared_ptr<const Access> access();

    Driver& driver_;
    Metrics& metrics_;
    SignalBook signal_book_;
    Seats explaining_{3, 2}; // of the workers of Lane::reading
    std::mutex mutex_;
    std::shared_ptr<const Access> access_;
    struct LoggedRefusal {
        std::chrono::steady_clock::time_point last;
        std::uint64_t silent = 0;
    };
    std::map<std::string, LoggedRefusal, std::less<>> refusals_; // refusals by reason
};

} // namespace restart
