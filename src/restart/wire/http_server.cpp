// Threads: one runs the I/O context, so connections and the set of them need no locks; workers run the
// handler and post the answer back. Races: stop() is posted to the I/O thread; a session that is waiting for
// a request is closed there, one whose handler runs is closed after its answer is written.
#include "restart/wire/http_server.hpp"

#include "restart/wire/channel.hpp"
#include "restart/wire/operator.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <unordered_set>

namespace restart {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

HttpResponse refusal(unsigned status, std::string_view code, std::string_view text) {
    return {status, Refused{std::string(code), std::string(text)}.to_json(), "application/json"};
}

// An IPv4 peer of an IPv6 socket is an IPv4 peer.
asio::ip::address plain(const asio::ip::address& address) {
    if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

class Session;

// What sessions share; lives as long as the last of them.
struct Shared {
    HttpLimits limits;
    HttpServer::Callbacks callbacks;
    asio::io_context io{1};
    std::vector<std::unique_ptr<asio::thread_pool>> lanes;

    // Only on the I/O thread.
    std::unordered_set<Session*> sessions;
    std::map<std::string, std::size_t> of_peer; // connections of other machines
    bool stopping = false;

    void count(std::string_view reason) const {
        if (callbacks.refused) callbacks.refused(reason);
    }
    asio::thread_pool& lane_of(const HttpRequest& request) {
        const auto lane = callbacks.lane ? callbacks.lane(request) : 0;
        return *lanes.at(std::min(lane, lanes.size() - 1));
    }
};

class Session : public std::enable_shared_from_this<Session> {
public:
    Session(tcp::socket socket, std::shared_ptr<Shared> shared)
        : stream_(std::move(socket)), shared_(std::move(shared)) {
        beast::error_code failed;
        const auto remote = plain(stream_.socket().remote_endpoint(failed).address());
        const auto local = plain(stream_.socket().local_endpoint(failed).address());
        peer_ = remote.to_string();
        from_this_machine_ = !failed && (remote.is_loopback() || remote == local);
        stream_.socket().set_option(tcp::no_delay(true), failed);
        shared_->sessions.insert(this);
        if (!from_this_machine_) ++shared_->of_peer[peer_];
    }
    ~Session() {
        shared_->sessions.erase(this);
        if (from_this_machine_) return;
        const auto found = shared_->of_peer.find(peer_);
        if (--found->second == 0) shared_->of_peer.erase(found);
    }

    bool one_too_many() const {
        return !from_this_machine_ && shared_->of_peer.at(peer_) > shared_->limits.connections_a_peer;
    }

    // Waits for the first byte of a request; a connection may idle here.
    void wait() {
        if (shared_->stopping) return close();
        if (buffer_.size() > 0) return read(); // the peer has sent ahead
        idle_ = true;
        stream_.expires_after(shared_->limits.idle);
        stream_.async_read_some(buffer_.prepare(4096),
                                [self = shared_from_this()](beast::error_code failed, std::size_t n) {
                                    self->idle_ = false;
                                    if (failed) return self->close();
                                    self->buffer_.commit(n);
                                    self->read();
                                });
    }

    void close_if_idle() {
        if (idle_) close();
    }
    void close() { stream_.close(); }

private:
    void read() {
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(shared_->limits.header_bytes));
        parser_->body_limit(boost::none); // checked below, once its sender can be known
        request_ = {};
        stream_.expires_after(shared_->limits.request);
        http::async_read_header(stream_, buffer_, *parser_,
                                [self = shared_from_this()](beast::error_code failed, std::size_t) {
                                    if (failed) return self->refuse(failed);
                                    self->take_headers();
                                });
    }

    void take_headers() {
        auto& message = parser_->get();
        keep_ = message.keep_alive();
        request_.method = message.method_string();
        request_.authorization = message[http::field::authorization];
        request_.host = message[http::field::host];
        request_.peer = peer_;
        request_.from_this_machine = from_this_machine_;
        request_.channel = &channel_;
        if (auto split = split_target(message.target(), request_); !split) {
            keep_ = false;
            shared_->count("malformed");
            return write(refusal(400, "malformed", split.error().text));
        }
        const auto announced = parser_->content_length();
        if (!announced || *announced <= shared_->limits.small_body_bytes || !shared_->callbacks.admit)
            return read_body(shared_->limits.small_body_bytes);
        stream_.expires_never(); // a worker has it now
        asio::post(*shared_->lanes.front(), [self = shared_from_this()]() mutable {
            const bool admitted = self->shared_->callbacks.admit(self->request_);
            auto& io = self->shared_->io;
            asio::post(io, [self = std::move(self), admitted]() mutable {
                const auto& limits = self->shared_->limits;
                self->stream_.expires_after(limits.request);
                self->read_body(admitted ? limits.body_bytes : limits.small_body_bytes);
            });
        });
    }

    void read_body(std::size_t most) {
        body_limit_ = most;
        parser_->body_limit(most);
        if (const auto announced = parser_->content_length(); announced && *announced > most)
            return refuse(http::error::body_limit); // body_limit() checks only bodies not yet announced
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](beast::error_code failed, std::size_t) {
                             if (failed) return self->refuse(failed);
                             self->handle();
                         });
    }

    void refuse(const beast::error_code& failed) {
        keep_ = false;
        if (failed == http::error::body_limit) {
            shared_->count("too_large");
            return write(refusal(413, "too_large",
                                 fmt::format("a body may have {} bytes{}", body_limit_,
                                             body_limit_ < shared_->limits.body_bytes
                                                 ? ", more only of an agent whose credential can be opened"
                                                 : "")));
        }
        if (failed == http::error::header_limit) {
            shared_->count("too_large");
            return write(refusal(431, "too_large",
                                 fmt::format("headers may have {} bytes", shared_->limits.header_bytes)));
        }
        if (failed == beast::error::timeout) {
            shared_->count("timeout");
            return close();
        }
        if (failed.category() == make_error_code(http::error::bad_method).category() &&
            failed != http::error::end_of_stream && failed != http::error::partial_message) {
            shared_->count("malformed");
            return write(refusal(400, "malformed", fmt::format("not HTTP/1.1: {}", failed.message())));
        }
        close();
    }

    void handle() {
        request_.body = std::move(parser_->get().body());
        parser_.reset();
        stream_.expires_never(); // a worker has it now
        // The session is passed to the worker and back, never shared: it must end on the I/O thread.
        asio::post(shared_->lane_of(request_), [self = shared_from_this()]() mutable {
            auto response = self->shared_->callbacks.handle(self->request_);
            auto& io = self->shared_->io;
            asio::post(io, [self = std::move(self), response = std::move(response)]() mutable {
                self->write(std::move(response));
            });
        });
    }

    void write(HttpResponse response) {
        if (shared_->stopping) keep_ = false;
        auto& message = answer_.emplace();
        message.version(11);
        message.result(response.status);
        message.set(http::field::server, "restartd");
        message.set(http::field::content_type, response.content_type);
        if (response.status == 401) message.set(http::field::www_authenticate, "MUNGE");
        if (!response.proof.empty()) message.set(proof_header, response.proof);
        for (const auto& [name, value] : response.headers)
            message.set(name, value);
        message.keep_alive(keep_);
        message.body() = std::move(response.body);
        message.prepare_payload();
        stream_.expires_after(shared_->limits.request);
        http::async_write(stream_, message,
                          [self = shared_from_this()](beast::error_code failed, std::size_t) {
                              self->answer_.reset();
                              if (failed) return self->close();
                              if (self->keep_) return self->wait();
                              self->linger();
                          });
    }

    // A refused body may still be arriving: an immediate close would reset the connection and discard the
    // answer, so incoming data is discarded for a short while.
    void linger() {
        beast::error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        buffer_.clear();
        stream_.expires_after(std::chrono::seconds(1));
        discard(0);
    }
    void discard(std::size_t seen) {
        if (seen > 4 * shared_->limits.body_bytes || shared_->stopping) return close();
        stream_.async_read_some(buffer_.prepare(16 << 10),
                                [self = shared_from_this(), seen](beast::error_code failed, std::size_t n) {
                                    if (failed) return self->close();
                                    self->discard(seen + n);
                                });
    }

    beast::tcp_stream stream_;
    std::shared_ptr<Shared> shared_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    std::optional<http::response<http::string_body>> answer_;
    HttpRequest request_;
    ServerChannel channel_; // used by the worker that has the request, one at a time
    std::size_t body_limit_ = 0;
    std::string peer_;
    bool from_this_machine_ = false;
    bool keep_ = true;
    bool idle_ = false;
};

} // namespace

class HttpServer::Impl {
public:
    Impl(HttpLimits limits, Callbacks callbacks)
        : shared_(std::make_shared<Shared>()), acceptor_(shared_->io), pause_(shared_->io) {
        for (const auto workers : limits.workers)
            shared_->lanes.push_back(std::make_unique<asio::thread_pool>(workers));
        limits.small_body_bytes = std::min(limits.small_body_bytes, limits.body_bytes);
        shared_->limits = std::move(limits);
        shared_->callbacks = std::move(callbacks);
    }
    ~Impl() { stop(); }

    base::Expected<void> listen(const base::HostPort& where) {
        beast::error_code failed;
        const auto wrong = [&](std::string_view what) {
            return base::Error{base::Code::io,
                               fmt::format("{}: {}: {}", where.print(), what, failed.message())};
        };
        tcp::resolver resolver(shared_->io);
        const auto found =
            resolver.resolve(where.host, std::to_string(where.port), tcp::resolver::passive, failed);
        if (failed) return wrong("cannot find this address");
        const tcp::endpoint endpoint = found.begin()->endpoint();
        acceptor_.open(endpoint.protocol(), failed);
        if (!failed) acceptor_.set_option(tcp::acceptor::reuse_address(true), failed);
        if (!failed) acceptor_.bind(endpoint, failed);
        if (!failed) acceptor_.listen(4096, failed);
        if (failed) return wrong("cannot listen");
        port_ = acceptor_.local_endpoint().port();
        accept();
        thread_ = std::thread([this] { shared_->io.run(); });
        return {};
    }

    std::uint16_t port() const { return port_; }

    void stop() {
        if (!thread_.joinable()) return;
        asio::post(shared_->io, [this] {
            shared_->stopping = true;
            beast::error_code ignored;
            acceptor_.close(ignored);
            const auto all = shared_->sessions; // closing one may end it
            for (auto* session : all)
                session->close_if_idle();
            pause_.expires_after(shared_->limits.drain);
            pause_.async_wait([this](beast::error_code) { shared_->io.stop(); });
            end_when_empty();
        });
        thread_.join();
        for (const auto& lane : shared_->lanes)
            lane->join();
        // A handler that outlasted the drain has posted its answer: run what is left so that sessions end.
        shared_->io.restart();
        do {
            for (auto* session : std::unordered_set<Session*>(shared_->sessions))
                session->close();
        } while (shared_->io.poll() > 0);
    }

private:
    void end_when_empty() {
        if (shared_->sessions.empty()) return shared_->io.stop();
        tick_.emplace(shared_->io, std::chrono::milliseconds(5));
        tick_->async_wait([this](beast::error_code failed) {
            if (!failed) end_when_empty();
        });
    }

    void accept() {
        acceptor_.async_accept([this](beast::error_code failed, tcp::socket socket) {
            if (shared_->stopping) return;
            if (failed) { // out of descriptors or similar: wait a moment, then go on
                pause_.expires_after(std::chrono::milliseconds(100));
                pause_.async_wait([this](beast::error_code cancelled) {
                    if (!cancelled) accept();
                });
                return;
            }
            if (shared_->sessions.size() >= shared_->limits.connections) {
                shared_->count("too_many_connections"); // the socket closes here
            } else if (const auto session = std::make_shared<Session>(std::move(socket), shared_);
                       session->one_too_many()) {
                shared_->count("too_many_connections");
            } else {
                session->wait();
            }
            accept();
        });
    }

    std::shared_ptr<Shared> shared_;
    tcp::acceptor acceptor_;
    asio::steady_timer pause_;
    std::optional<asio::steady_timer> tick_;
    std::thread thread_;
    std::uint16_t port_ = 0;
};

base::Expected<HttpServer> HttpServer::start(const base::HostPort& listen, HttpLimits limits,
                                             Callbacks callbacks) {
    auto impl = std::make_unique<Impl>(std::move(limits), std::move(callbacks));
    if (auto done = impl->listen(listen); !done) return std::move(done).error();
    return HttpServer(std::move(impl));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const {
    return impl_->port();
}

void HttpServer::stop() {
    impl_->stop();
}

} // namespace restart
