#include "restart/wire/http_client.hpp"

#include "base/host_port.hpp"
#include "restart/wire/channel.hpp"
#include "restart/wire/operator.hpp"

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

#include <algorithm>

namespace restart {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

constexpr std::uint64_t largest_answer = std::uint64_t{64} << 20;

bool stands_by(const HttpResponse& answer) {
    if (answer.status != 503) return false;
    const auto refused = Refused::from_json(answer.body);
    return refused && refused->code == "standby";
}

} // namespace

class HttpClient::Connection {
public:
    Connection(base::HostPort server, std::optional<MungeAuth> auth)
        : server_(std::move(server)), stream_(context_) {
        if (auth) channel_.emplace(*std::move(auth));
    }

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
            if (channel_) { // a new one for each attempt: it is valid once
                auto signature = channel_->authorize(method, target, body, std::chrono::steady_clock::now());
                if (!signature) return std::move(signature).error();
                message.set(http::field::authorization, *signature);
            }
            message.body() = body;
            message.prepare_payload();

            http::response_parser<http::string_body> answer;
            answer.body_limit(largest_answer);
            const auto failed = exchange(message, answer);
            if (!failed) {
                const auto status = answer.get().result_int();
                if (status == 401 && channel_ && channel_->resumed()) { // the key has expired there
                    close();
                    continue;
                }
                const std::string proof(answer.get()[proof_header]);
                if (channel_ && status < 400)
                    if (auto sound = channel_->check(status, answer.get().body(), proof); !sound) {
                        close();
                        return std::move(sound).error().within("http://" + server_.print());
                    }
                if (!answer.get().keep_alive()) close();
                HttpResponse response;
                response.status = status;
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

    std::string url() const { return "http://" + server_.print(); }

    void close() {
        beast::error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
        stream_.close();
        buffer_.clear();
        if (channel_) channel_->reset();
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

    base::HostPort server_;
    std::optional<ClientChannel> channel_;
    asio::io_context context_{1};
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    std::chrono::steady_clock::time_point deadline_;
    bool open_ = false;
};

base::Expected<HttpClient> HttpClient::make(const std::vector<std::string>& urls,
                                            std::optional<MungeAuth> auth) {
    std::vector<std::unique_ptr<Connection>> connections;
    for (const auto& url : urls) {
        auto server = base::parse_url(url);
        if (!server) return std::move(server).error();
        if (server->port == 0)
            return base::Error{base::Code::input, fmt::format("\"{}\": port 0 cannot be connected to", url)};
        connections.push_back(std::make_unique<Connection>(*std::move(server), auth));
    }
    if (connections.empty()) return base::Error{base::Code::input, "no address is given"};
    return HttpClient(std::move(connections));
}

HttpClient::HttpClient(std::vector<std::unique_ptr<Connection>> connections)
    : connections_(std::move(connections)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

base::Expected<HttpResponse> HttpClient::request(std::string_view method, std::string_view target,
                                                 std::string_view body, base::Duration timeout) {
    if (connections_.size() == 1) return connections_.front()->request(method, target, body, timeout);
    const auto end = std::chrono::steady_clock::now() + timeout;
    std::optional<base::Error> failed;
    for (std::size_t tried = 0; tried < connections_.size(); ++tried) {
        const auto at = (at_ + tried) % connections_.size();
        const auto left =
            std::chrono::ceil<base::Duration>(end - std::chrono::steady_clock::now()); // shared by the rest
        if (left <= base::Duration::zero()) break;
        const auto share = left / static_cast<base::Duration::rep>(connections_.size() - tried);
        auto answer = connections_[at]->request(method, target, body, std::max(share, base::Duration(1)));
        if (answer && !stands_by(*answer)) {
            at_ = at;
            return answer;
        }
        auto error = answer ? base::Error{base::Code::unavailable, connections_[at]->url() + ": stands by"}
                            : std::move(answer).error();
        if (!failed)
            failed = std::move(error);
        else
            failed->text += "; " + error.text;
    }
    at_ = (at_ + 1) % connections_.size(); // one that is slow to fail is not the first again
    return failed.value_or(base::Error{base::Code::unavailable, "no address was answered in time"});
}

void HttpClient::close() {
    for (const auto& connection : connections_)
        connection->close();
}

std::string HttpClient::url() const {
    return connections_[at_]->url();
}

} // namespace restart
