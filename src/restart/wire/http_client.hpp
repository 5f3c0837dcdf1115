// One kept-open connection to restartd, for agents and commands.
//
// A request waits for its answer, at most for its timeout, which covers connecting, writing and reading
// (only the look-up of a host name is bounded by the resolver's own limits). A connection that the server
// has closed since the last request is opened again once, within the same call: a request may then reach
// the server twice, so every request of the protocol can be repeated without harm. One thread at a time.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/wire/http.hpp"
#include "restart/wire/munge_auth.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

class HttpClient {
public:
    // `url`: "http://host:port". With `auth` each request is signed. Nothing is connected yet.
    // Errors: Code::input for a URL of another form.
    static base::Expected<HttpClient> make(std::string_view url, std::optional<MungeAuth> auth = {});

    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;
    ~HttpClient();

    // Any status is a success here; the caller judges it. Errors: Code::unavailable when there is no
    // answer in time or munged does not sign, with the URL and the reason.
    base::Expected<HttpResponse> request(std::string_view method, std::string_view target,
                                         std::string_view body, base::Duration timeout);

    // Drops the connection; the next request opens a new one.
    void close();

private:
    class Connection;
    explicit HttpClient(std::unique_ptr<Connection> connection);
    std::unique_ptr<Connection> connection_;
};

} // namespace restart
