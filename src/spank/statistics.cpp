#include "spank/statistics.hpp"

#include "base/json.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <system_error>

namespace spank {
namespace {

using base::Code;
using base::Error;
using base::Expected;

Error unavailable(const std::string& socket, int error) {
    const auto reason =
        error == EAGAIN ? std::string("does not answer") : std::generic_category().message(error);
    return {Code::unavailable, fmt::format("nodewatchd at {}: {}", socket, reason)};
}

} // namespace

Expected<StatisticsPort> ask_for_statistics(const std::string& socket, std::uint32_t job, std::uint32_t epoch,
                                            std::uint32_t uid) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.size() >= sizeof address.sun_path) return unavailable(socket, ENAMETOOLONG);
    std::memcpy(address.sun_path, socket.data(), socket.size());
    base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval patience{2, 0}; // for connecting, too
    if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
        ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return unavailable(socket, errno);
    const auto line =
        fmt::format("{{\"op\":\"stats\",\"job\":{},\"epoch\":{},\"uid\":{}}}\n", job, epoch, uid);
    if (::send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
        return unavailable(socket, errno);
    std::string answer;
    while (answer.find('\n') == std::string::npos) {
        char block[512];
        const auto n = ::recv(fd.get(), block, sizeof block, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return unavailable(socket, n == 0 ? ECONNRESET : errno);
        answer.append(block, static_cast<std::size_t>(n));
        if (answer.size() > 4096) return Error{Code::input, "nodewatchd's answer does not end"};
    }
    const auto document = base::parse_json(answer, 4);
    if (!document) return document.error();
    const base::Reader body(*document);
    if (!body.boolean("ok").value_or(false))
        return Error{Code::denied, "nodewatchd refused: " + body.text("error").value_or("no reason given")};
    auto port = body.integer_in("port", 1, 65535);
    if (!port) return std::move(port).error().within("nodewatchd's answer");
    return StatisticsPort{std::move(fd), static_cast<std::uint16_t>(*port)};
}

std::vector<Setting> statistics_settings(std::optional<std::uint16_t> port,
                                         const std::optional<std::string>& destination,
                                         const std::optional<std::string>& ours) {
    const bool set_by_us = destination && ours && !ours->empty() && *destination == *ours;
    if (destination && !set_by_us) return {};
    if (!port)
        return set_by_us ? std::vector<Setting>{{"UCX_STATS_DEST", ""},
                                                {"UCX_STATS_TRIGGER", ""},
                                                {"UCX_STATS_FILTER", ""},
                                                {"RAIL_UCX_STATS", ""}}
                         : std::vector<Setting>{};
    const auto to = fmt::format("udp:127.0.0.1:{}", *port);
    // With a timer trigger, UCX (all versions so far) ends a process that closes an endpoint. "exit" does
    // not, and librailucx triggers sending while the process runs.
    return {{"UCX_STATS_DEST", to},
            {"UCX_STATS_TRIGGER", "exit"},
            {"UCX_STATS_FILTER", "bytes_*,rx_am_bytes,rx_drop"},
            {"RAIL_UCX_STATS", to}};
}

} // namespace spank
