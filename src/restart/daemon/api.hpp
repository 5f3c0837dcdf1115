// The routes of restartd(8): who asks, may they, what do they say; the answer as JSON.
//
// Every error is {"error":{"code":…,"text":…}} with the matching status and is counted; its cause is logged
// at most once a minute and reason, so that a misconfigured agent cannot fill the log.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/json.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/daemon/http.hpp"
#include "restart/daemon/metrics.hpp"
#include "restart/daemon/munge_auth.hpp"
#include "restart/daemon/roles.hpp"

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

    Answer route(const HttpRequest& request, const Access& access);
    Answer report(const HttpRequest& request, const Access& access);
    Answer sweep(const HttpRequest& request, const Access& access);
    Answer change(const HttpRequest& request, const Access& access, bool drain);
    Answer explain(const HttpRequest& request, const Access& access);
    boost::json::object placement_of(std::uint32_t job, bool rm_answers);
    Answer history(const HttpRequest& request, const Access& access);
    Answer health();

    static std::variant<Caller, Refusal> caller_of(const HttpRequest& request, const Access& access);
    // Why this request may not read; `owner`: a user who may beside the operators.
    std::optional<Refusal> may_read(const HttpRequest& request, const Access& access,
                                    std::optional<std::uint32_t> owner = {});
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
