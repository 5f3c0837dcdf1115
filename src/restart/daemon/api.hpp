// The routes of restartd(8): who asks, may they, what do they say; the answer as JSON.
//
// Every error is {"error":{"code":…,"text":…}} with the matching status and is counted; its cause is logged
// at most once a minute and reason, so that a misconfigured agent cannot fill the log.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/json.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/daemon/metrics.hpp"
#include "restart/daemon/roles.hpp"
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
    Api(Driver& driver, Metrics& metrics, Roles roles, MungeAuth auth);

    // Thread-safe; blocks while munged and the journal are asked.
    HttpResponse handle(const HttpRequest& request);

    // HttpServer's other callbacks: an agent may send a large body.
    bool admits(HttpRequest& request);
    static std::size_t lane(const HttpRequest& request);
    static std::vector<unsigned> workers(); // of each lane

    // A request that never became one (http_server.hpp).
    void refused(std::string_view reason);

    void reload(Roles roles, MungeAuth auth);

private:
    struct Access {
        Roles roles;
        MungeAuth auth;
    };
    struct Refusal {
        unsigned status;
        std::string_view code;
        std::string text;
    };
    using Answer = std::variant<HttpResponse, Refusal>;

    // Who may ask, beside operators; they are asked for before anything else is done.
    enum class Who { anyone, agents, operators, readers, owners };
    // Requests that must not wait for those of another lane.
    enum class Lane { reports, reading, health };
    struct Asker {
        std::optional<uid_t> uid; // none: nobody asked who it is
        bool reads_all = false;   // else, of the jobs, their own
    };
    struct Route {
        std::string_view path;
        std::string_view method;
        Who who;
        Lane lane;
        Answer (Api::*run)(const HttpRequest& request, const Asker& asker);
    };
    static const Route* route_of(std::string_view path);

    Answer answer(const HttpRequest& request, const Access& access);
    Answer report(const HttpRequest& request, const Asker& asker);
    Answer sweep(const HttpRequest& request, const Asker& asker);
    Answer drain(const HttpRequest& request, const Asker& asker);
    Answer resume(const HttpRequest& request, const Asker& asker);
    Answer status(const HttpRequest& request, const Asker& asker);
    Answer explain(const HttpRequest& request, const Asker& asker);
    Answer history(const HttpRequest& request, const Asker& asker);
    Answer metrics_page(const HttpRequest& request, const Asker& asker);
    Answer health(const HttpRequest& request, const Asker& asker);

    boost::json::object placement_of(std::uint32_t job, bool rm_answers);
    static Answer accepted(const base::Expected<std::string>& incident);
    static std::variant<Caller, Refusal> caller_of(const HttpRequest& request, const Access& access);
    std::variant<Asker, Refusal> authenticate(const HttpRequest& request, const Access& access, Who who);
    static Refusal may_not_read(uid_t uid);
    static Refusal refusal_of(const base::Error& error);
    HttpResponse refuse(const HttpRequest& request, const Refusal& refusal);
    void log_refusal(std::string_view reason, std::string_view text);
    std::shared_ptr<const Access> access();

    Driver& driver_;
    Metrics& metrics_;
    std::mutex mutex_;
    std::shared_ptr<const Access> access_;
    struct Told {
        std::chrono::steady_clock::time_point last;
        std::uint64_t silent = 0;
    };
    std::map<std::string, Told, std::less<>> told_; // refusals by reason
};

} // namespace restart
