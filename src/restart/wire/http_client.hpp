// A kept-open connection to restartd, for agents and commands.
//
// If restartd may be at several addresses, the one that answered last is asked first; the next one when it
// does not answer in its share of the time, is not restartd, or is a standby (wire(7)).
//
// A request waits for its answer, at most for its timeout, which covers connecting, writing and reading (only
// the look-up of a host name is bounded by the resolver's own limits). A connection that the server has
// closed since the last request is reopened once, within the same call: a request may then reach the server
// twice, so every request of the protocol can be repeated without harm. One thread at a time.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/wire/http.hpp"
#include "restart/wire/munge_auth.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

class HttpClient {
public:
    // `url`: "http://host:port". With `auth` each request is signed, and only signed answers are accepted,
    // except refusals. Nothing is connected yet.
    // Errors: Code::input for a URL of another form.
    static base::Expected<HttpClient> make(const std::vector<std::string>& urls,
                                           std::optional<MungeAuth> auth = {});
    static base::Expected<HttpClient> make(std::string_view url, std::optional<MungeAuth> auth = {}) {
        return make(std::vector{std::string(url)}, std::move(auth));
    }

    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;
    ~HttpClient();

    // Any status is a success here; the caller evaluates it. Of several addresses all were tried. Errors:
    // Code::unavailable when there is no answer in time or munged does not sign, Code::denied when the answer
    // is not signed by restartd's user, each with the URL and the reason.
    base::Expected<HttpResponse> request(std::string_view method, std::string_view target,
                                         std::string_view body, base::Duration timeout);

    // Drops the connections; the next request opens a new one.
    void close();
    // The address that answered last, "http://host:port".
    std::string url() const;

private:
    class Connection;
    explicit HttpClient(std::vector<std::unique_ptr<Connection>> connections);
    std::vector<std::unique_ptr<Connection>> connections_; // by address
    std::size_t at_ = 0;                                   // the one asked first
};

} // namespace restart
