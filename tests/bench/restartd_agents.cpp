#include "bench/restartd_agents.hpp"

#include "bench/restartd_yard.hpp"
#include "restart/wire/channel.hpp"
#include "restart/wire/http_client.hpp"
#include "restart/wire/report.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

namespace bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

[[noreturn]] void give_up(std::string_view what, std::string_view why) {
    fmt::print(stderr, "restartd_bench: {}: {}\n", what, why);
    std::_Exit(1);
}

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// One agent: a report at a time.
class Agent {
public:
    using Done = std::function<void(double waited)>;

    Agent(asio::io_context& io, std::string host, const std::string& munge_socket) : socket_(io) {
        report_.host = std::move(host);
        report_.boot_id = "b";
        if (!munge_socket.empty()) channel_.emplace(restart::MungeAuth(munge_socket));
    }

    void connect(std::uint16_t port, Done done) {
        const auto due = Clock::now();
        socket_.async_connect({asio::ip::address_v4::loopback(), port},
                              [this, due, done = std::move(done)](boost::system::error_code failed) mutable {
                                  if (failed) give_up("connect", failed.message());
                                  socket_.set_option(tcp::no_delay(true));
                                  say(due, report_.to_json(), std::move(done));
                              });
    }

    bool busy() const { return busy_; }

    void report(Clock::time_point due, bool change, Done done) {
        if (change) {
            if (report_.findings.empty())
                report_.findings.push_back({"ib.counter.symbol_error", "mlx5_0:1", restart::Severity::warn,
                                            base::now(), "12 more in the last minute"});
            else
                report_.findings.clear();
        }
        say(due, change ? report_.to_json() : std::string(restart::report_as_before), std::move(done));
    }

private:
    void say(Clock::time_point due, std::string body, Done done) {
        busy_ = true;
        request_ = {http::verb::post, "/v1/report", 11, std::move(body)};
        request_.set(http::field::host, "restartd");
        request_.set(http::field::content_type, "application/json");
        if (channel_) {
            const auto header = channel_->authorize("POST", "/v1/report", request_.body(), Clock::now());
            if (!header) give_up("sign", header.error().text);
            request_.set(http::field::authorization, *header);
        }
        request_.prepare_payload();
        http::async_write(
            socket_, request_,
            [this, due, done = std::move(done)](boost::system::error_code failed, std::size_t) mutable {
                if (failed) give_up("write", failed.message());
                answer_ = {};
                http::async_read(
                    socket_, buffer_, answer_,
                    [this, due, done = std::move(done)](boost::system::error_code broken, std::size_t) {
                        if (broken) give_up("read", broken.message());
                        check();
                        busy_ = false;
                        done(since(due));
                    });
            });
    }

    void check() {
        if (!channel_) return;
        if (answer_.result_int() != 200) give_up(report_.host, answer_.body());
        if (const auto sound =
                channel_->check(200, answer_.body(), std::string(answer_[restart::proof_header]));
            !sound)
            give_up(report_.host, sound.error().text);
    }

    tcp::socket socket_;
    std::optional<restart::ClientChannel> channel_;
    restart::Report report_;
    boost::beast::flat_buffer buffer_;
    http::request<http::string_body> request_;
    http::response<http::string_body> answer_;
    bool busy_ = false;
};

} // namespace

Waits::Sorted::Sorted(std::vector<double> seconds) : seconds_(std::move(seconds)) {
    std::sort(seconds_.begin(), seconds_.end());
}

double Waits::Sorted::at(double share) const {
    if (seconds_.empty()) return 0;
    return seconds_[std::min(seconds_.size() - 1,
                             static_cast<std::size_t>(share * static_cast<double>(seconds_.size())))];
}

class Agents::Impl {
public:
    explicit Impl(const Options& options) : port_(options.port), random_(options.seed) {
        for (auto& name : host_names(options.hosts))
            agents_.push_back(std::make_unique<Agent>(io_, std::move(name), options.munge_socket));
    }

    double connect() {
        const auto begin = Clock::now();
        for (auto& agent : agents_)
            agent->connect(port_, [](double) {});
        run();
        return since(begin);
    }

    Waits evenly(double rate, unsigned changing, std::uint32_t seconds) {
        Waits waits;
        const auto begin = Clock::now();
        const auto gap = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / rate));
        const auto total = static_cast<std::size_t>(rate * seconds);
        std::size_t sent = 0;
        asio::steady_timer timer(io_);
        // Who is still being answered keeps those after it waiting: a wait counts from when it was due.
        std::function<void()> send = [&] {
            while (sent < total) {
                const auto due = begin + gap * static_cast<Clock::rep>(sent);
                auto& agent = *agents_[sent % agents_.size()];
                const auto now = Clock::now();
                if (due > now || agent.busy()) {
                    timer.expires_at(std::max(due, now + 100us));
                    timer.async_wait([&](boost::system::error_code) { send(); });
                    return;
                }
                ++sent;
                agent.report(due, random_() % 100 < changing, [&](double waited) { waits.add(waited); });
            }
        };
        send();
        run();
        return waits;
    }

    Waits flood(std::size_t under_way, std::uint32_t seconds) {
        Waits waits;
        const auto end = Clock::now() + std::chrono::seconds(seconds);
        std::size_t next = 0;
        std::function<void()> send = [&] {
            if (Clock::now() >= end) return;
            auto& agent = *agents_[next++ % agents_.size()];
            if (agent.busy()) return; // fewer agents than may be under way
            agent.report(Clock::now(), true, [&](double waited) {
                waits.add(waited);
                send();
            });
        };
        for (std::size_t i = 0; i < under_way; ++i)
            send();
        run();
        return waits;
    }

private:
    void run() {
        io_.restart();
        io_.run();
    }

    asio::io_context io_{1};
    std::uint16_t port_;
    std::mt19937 random_;
    std::vector<std::unique_ptr<Agent>> agents_;
};

Agents::Agents(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
Agents::~Agents() = default;
double Agents::connect() {
    return impl_->connect();
}
Waits Agents::evenly(double rate, unsigned changing, std::uint32_t seconds) {
    return impl_->evenly(rate, changing, seconds);
}
Waits Agents::flood(std::size_t under_way, std::uint32_t seconds) {
    return impl_->flood(under_way, seconds);
}

Readers::Readers(std::uint16_t port, unsigned count, std::size_t hosts) {
    const auto url = fmt::format("http://127.0.0.1:{}", port);
    for (unsigned i = 0; i < count; ++i)
        threads_.emplace_back([this, url, i, names = host_names(hosts)](const std::stop_token& stop) {
            auto client = restart::HttpClient::make(url);
            for (std::size_t n = i; !stop.stop_requested(); n += 17) {
                const auto answer =
                    client->request("GET", "/v1/explain?host=" + names[n % names.size()], "", 60s);
                if (!answer || answer->status != 200)
                    give_up("explain", answer ? answer->body : answer.error().text);
                ++answers_;
            }
        });
}

double Readers::rate() const {
    return static_cast<double>(answers_) / since(begun_);
}

} // namespace bench
