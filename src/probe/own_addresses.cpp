#include "probe/own_addresses.hpp"

#include <array>
#include <ifaddrs.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace probe {

std::set<std::string, std::less<>> own_addresses() {
    std::set<std::string, std::less<>> addresses;
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return addresses;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(first, ::freeifaddrs);
    for (const auto* one = first; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr) continue;
        const auto family = one->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        const auto size =
            static_cast<socklen_t>(family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
        std::array<char, NI_MAXHOST> text{};
        if (::getnameinfo(one->ifa_addr, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
            addresses.emplace(text.data());
    }
    return addresses;
}

} // namespace probe
