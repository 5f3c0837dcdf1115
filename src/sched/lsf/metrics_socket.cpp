#include "sched/lsf/metrics_socket.hpp"

#include "base/unique_fd.hpp"
#include "base/utf8.hpp"
#include "base/wait_ready.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>

namespace sched::lsf {
namespace {

using base::Code;
using base::Error;
using Clock = std::chrono::steady_clock;

constexpr std::size_t largest_page = 4 << 20;

} // namespace

base::Expected<std::string> ask_metrics(const std::filesystem::path& socket, base::Duration patience) {
    const auto deadline = Clock::now() + patience;
    const auto failed = [&](std::string_view why) {
        return Error{Code::unavailable, fmt::format("nodewatchd at {}: {}", socket.string(), why)};
    };
    const auto system_failed = [&] { return failed(std::generic_category().message(errno)); };
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = socket.string();
    if (path.size() >= sizeof address.sun_path) return failed("the path is too long for a socket");
    std::copy(path.begin(), path.end(), address.sun_path);
    const base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return system_failed();
    constexpr std::string_view question = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
    // It fits into the buffer of a new socket.
    if (::send(fd.get(), question.data(), question.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(question.size()))
        return system_failed();
    std::string answer;
    for (std::array<char, 16 << 10> part;;) {
        if (!base::wait_ready(fd.get(), POLLIN, deadline))
            return failed(fmt::format("no whole answer within {} ms", patience.count()));
        const auto n = ::recv(fd.get(), part.data(), part.size(), 0);
        if (n == 0) break;
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (n < 0) return system_failed();
        answer.append(part.data(), static_cast<std::size_t>(n));
        if (answer.size() > largest_page) return failed("its answer has no end");
    }
    const auto body = answer.find("\r\n\r\n");
    const auto status = answer.substr(0, answer.find("\r\n"));
    if (body == std::string::npos || !status.starts_with("HTTP/1.") ||
        status.find(" 200 ") == std::string::npos)
        return failed(fmt::format("it answers \"{}\"", base::printable(status, 60)));
    return answer.substr(body + 4);
}

} // namespace sched::lsf
