#include "base/host_port.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <limits>

namespace base {
namespace {

Expected<HostPort> parse_host_port(std::string_view whole, std::string_view text, std::string_view form) {
    const auto wrong = [&] { return Error{Code::input, fmt::format("\"{}\" is not {}", whole, form)}; };
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return wrong();
    const auto port = parse_count(text.substr(colon + 1));
    if (!port || *port > std::numeric_limits<std::uint16_t>::max()) return wrong();
    auto host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return wrong(); // an IPv6 address needs brackets
    }
    if (host.empty() || host.find_first_of("/@?# \t\r\n[]") != std::string_view::npos) return wrong();
    return HostPort{std::string(host), static_cast<std::uint16_t>(*port)};
}

} // namespace

std::string HostPort::print() const {
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                               : fmt::format("[{}]:{}", host, port);
}

bool HostPort::is_loopback() const {
    return host == "localhost" || host == "::1" ||
           (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

Expected<HostPort> parse_listen(std::string_view text) {
    return parse_host_port(text, text,
                           "an address to listen on: write host:port, such as 127.0.0.1:8917 or [::]:8917");
}

Expected<HostPort> parse_url(std::string_view url) {
    constexpr std::string_view scheme = "http://";
    constexpr std::string_view form = "a URL of restartd: write http://host:port";
    if (!url.starts_with(scheme)) return Error{Code::input, fmt::format("\"{}\" is not {}", url, form)};
    auto rest = url.substr(scheme.size());
    if (rest.ends_with('/')) rest.remove_suffix(1);
    return parse_host_port(url, rest, form);
}

} // namespace base
