#include "base/ready.hpp"

#include "base/unique_fd.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>

namespace base {

void notify_systemd(std::string_view state) {
    const char* name = std::getenv("NOTIFY_SOCKET");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (!name || (name[0] != '/' && name[0] != '@') || std::strlen(name) >= sizeof address.sun_path) return;
    std::memcpy(address.sun_path, name, std::strlen(name));
    if (name[0] == '@') address.sun_path[0] = 0; // the abstract namespace
    const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(name));
    if (fd)
        ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), size);
}

Expected<void> report_ready(int fd) {
    notify_systemd("READY=1");
    if (fd < 0) return {};
    const UniqueFd owned(fd);
    constexpr std::string_view text = "READY\n";
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    const auto n = ::write(fd, text.data(), text.size());
    const auto number = errno;
    std::signal(SIGPIPE, before);
    if (n != static_cast<ssize_t>(text.size()))
        return system_error("--ready-fd " + std::to_string(fd), number);
    return {};
}

} // namespace base
