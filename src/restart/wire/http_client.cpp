#include "restart/wire/http_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>

namespace restart {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

constexpr std::uint64_t largest_answer = std::uint64_t{64} << 20;

} // namespace

class HttpClient::Connection {
public:
    Connection(HostPort server, std::optional<MungeAuth> auth)
        : server_(std::move(server)), auth_(std::move(auth)), stream_(context_) {}

    base::Expected<HttpResponse> request(std::string_view method, std::string_view target,
                                         std::string_view body, base::Duration timeout) {
        deadline_ = std::chrono::steady_clock::now() + timeout;
        for (;;) {
            const bool kept = open_;
            if (!open_) {
                if (const auto failed = connect()) return error("cannot connect", failed);
            }
            http::request<http::string_body> message;
            message.version(11);
            message.method_string(method);
            message.target(target);
            message.set(http::field::host, server_.print());
            message.set(http::field::user_agent, "railyard");
            if (!body.empty()) message.set(http::field::content_type, "application/json");
            if (auth_) { // a new one for each attempt: a credential serves once
                auto signature = auth_->sign(method, target, body);
                if (!signature) return std::move(signature).error();
                message.set(http::field::authorization, *signature);
            }
            message.body() = body;
            message.prepare_payload();

            http::response_parser<http::string_body> answer;
            answer.body_limit(largest_answer);
            const auto failed = exchange(message, answer);
            if (!failed) {
                if (!answer.get().keep_alive()) close();
                HttpResponse response;
                response.status = answer.get().result_int();
                response.content_type = answer.get()[http::field::content_type];
                response.body = std::move(answer.get().body());
                return response;
            }
            close();
            const bool gone = failed == http::error::end_of_stream ||
                              failed == asio::error::connection_reset || failed == asio::error::broken_pipe ||
                              failed == asio::error::eof;
            if (!(kept && gone)) return error("no answer", failed);
        }
    }

    void close() {
        beast::error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
        stream_.close();
        buffer_.clear();
        open_ = false;
    }

private:
    base::Error error(std::string_view what, const beast::error_code& failed) {
        close();
        return {base::Code::unavailable,
                fmt::format("http://{}: {}: {}", server_.print(), what,
                            failed == beast::error::timeout ? "timed out" : failed.message())};
    }

    beast::error_code connect() {
        tcp::resolver resolver(context_);
        beast::error_code failed;
        const auto found = resolver.resolve(server_.host, std::to_string(server_.port), failed);
        if (failed) return failed;
        stream_.expires_at(deadline_);
        stream_.async_connect(found,
                              [&](beast::error_code result, const tcp::endpoint&) { failed = result; });
        run();
        if (failed) return failed;
        open_ = true;
        stream_.socket().set_option(tcp::no_delay(true), failed);
        return {};
    }

    beast::error_code exchange(const http::request<http::string_body>& message,
                               http::response_parser<http::string_body>& answer) {
        beast::error_code failed;
        stream_.expires_at(deadline_);
        http::async_write(stream_, message, [&](beast::error_code result, std::size_t) { failed = result; });
        run();
        if (failed) return failed;
        http::async_read(stream_, buffer_, answer,
                         [&](beast::error_code result, std::size_t) { failed = result; });
        run();
        return failed;
    }

    void run() {
        context_.restart();
        context_.run();
    }

    HostPort server_;
    std::optional<MungeAuth> auth_;
    asio::io_context context_{1};
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    std::chrono::steady_clock::time_point deadline_;
    bool open_ = false;
};

base::Expected<HttpClient> HttpClient::make(std::string_view url, std::optional<MungeAuth> auth) {
    auto server = parse_url(url);
    if (!server) return std::move(server).error();
    if (server->port == 0)
        return base::Error{base::Code::input, fmt::format("\"{}\": port 0 cannot be connected to", url)};
    return HttpClient(std::make_unique<Connection>(*std::move(server), std::move(auth)));
}

HttpClient::HttpClient(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

base::Expected<HttpResponse> HttpClient::request(std::string_view method, std::string_view target,
                                                 std::string_view body, base::Duration timeout) {
    return connection_->request(method, target, body, timeout);
}

void HttpClient::close() {
    connection_->close();
}

} // namespace restart
