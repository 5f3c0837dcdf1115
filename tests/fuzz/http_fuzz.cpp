// An HTTP client that sends anything: restartd's server answers or closes, and serves the next one.
#include "base/unique_fd.hpp"
#include "restart/wire/http_server.hpp"

#include <arpa/inet.h>
#include <cstdint>
#include <cstdlib>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>

namespace {

using restart::HttpServer;

HttpServer start() {
    restart::HttpLimits limits;
    limits.header_bytes = limits.body_bytes = 4096;
    limits.small_body_bytes = 1024;
    HttpServer::Callbacks callbacks;
    callbacks.handle = [](const restart::HttpRequest& request) {
        if (!request.path.starts_with('/')) std::abort();
        return restart::HttpResponse{200, request.body, "text/plain"};
    };
    callbacks.admit = [](restart::HttpRequest& request) { return !request.authorization.empty(); };
    auto server = HttpServer::start({"127.0.0.1", 0}, std::move(limits), std::move(callbacks));
    if (!server) std::abort();
    return *std::move(server);
}

// What it answers until it closes.
std::string exchange(std::uint16_t port, std::string_view sent) {
    const base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) std::abort();
    while (!sent.empty()) {
        const auto n = ::send(fd.get(), sent.data(), sent.size(), MSG_NOSIGNAL);
        if (n <= 0) break;
        sent.remove_prefix(static_cast<std::size_t>(n));
    }
    ::shutdown(fd.get(), SHUT_WR);
    std::string answer;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;)
        answer.append(buffer, static_cast<std::size_t>(n));
    return answer;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static HttpServer server = start();
    const auto answer = exchange(server.port(), {reinterpret_cast<const char*>(data), size});
    if (!answer.empty() && !answer.starts_with("HTTP/1.1 ")) std::abort();
    const auto next = exchange(server.port(), "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n");
    if (!next.starts_with("HTTP/1.1 200 ")) std::abort();
    return 0;
}
