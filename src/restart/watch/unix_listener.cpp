#include "restart/watch/unix_listener.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace restart {
namespace {

base::Expected<sockaddr_un> address_of(const std::filesystem::path& path, std::string_view key) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto& text = path.native();
    if (text.empty() || text.size() >= sizeof address.sun_path)
        return base::Error{base::Code::input,
                           fmt::format("{}: a socket's path has 1 to {} bytes; choose another for {}", text,
                                       sizeof address.sun_path - 1, key)};
    std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
    return address;
}

base::UniqueFd stream_socket() {
    return base::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Whether the path may be used: there is nothing, or a socket without a listener.
base::Expected<void> check_free(const std::filesystem::path& path, const sockaddr_un& address,
                                std::string_view key) {
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) return {};
    if (!S_ISSOCK(about.st_mode))
        return base::Error{base::Code::io, path.string() + ": is there and is no socket; move it away"};
    const auto probe = stream_socket();
    if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
        errno == EAGAIN)
        return base::Error{base::Code::unavailable,
                           fmt::format("{}: another nodewatchd serves it; stop that one, or set another {}",
                                       path.string(), key)};
    return {};
}

} // namespace

base::Expected<base::UniqueFd> listen_unix(const std::filesystem::path& path, std::string_view key,
                                           int backlog) {
    auto address = address_of(path, key);
    if (!address) return std::move(address).error();
    if (::mkdir(path.parent_path().c_str(), 0755) == 0)
        ::chmod(path.parent_path().c_str(), 0755); // regardless of the umask
    if (auto free = check_free(path, *address, key); !free) return std::move(free).error();

    // Bound to a temporary path and renamed: a client finds either the old socket or a listening one.
    const std::filesystem::path beside = path.native() + "~";
    auto beside_address = address_of(beside, key);
    if (!beside_address) return std::move(beside_address).error();
    ::unlink(beside.c_str());
    auto listener = stream_socket();
    if (!listener) return base::system_error("socket", errno);
    if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&*beside_address), sizeof *beside_address) !=
        0)
        return base::system_error(path.string(), errno);
    if (::chmod(beside.c_str(), 0666) != 0 || ::listen(listener.get(), backlog) != 0 ||
        ::rename(beside.c_str(), path.c_str()) != 0) {
        const auto number = errno;
        ::unlink(beside.c_str());
        return base::system_error(path.string(), number);
    }
    return listener;
}

} // namespace restart
