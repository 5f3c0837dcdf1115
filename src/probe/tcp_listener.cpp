#include "probe/tcp_listener.hpp"

#include "base/unique_fd.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstddef>
#include <cstring>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace probe {
namespace {

constexpr std::uint32_t listening = 1U << 10U; // TCP_LISTEN, as a bit

bool ask(int fd, int family, std::uint16_t port) {
    struct {
        nlmsghdr head;
        inet_diag_req_v2 wanted;
    } question{};
    question.head.nlmsg_len = sizeof question;
    question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    question.wanted.sdiag_family = static_cast<std::uint8_t>(family);
    question.wanted.sdiag_protocol = IPPROTO_TCP;
    question.wanted.idiag_states = listening;
    question.wanted.id.idiag_sport = htons(port); // the kernel filters out the others
    return ::send(fd, &question, sizeof question, 0) == static_cast<ssize_t>(sizeof question);
}

// Reads the whole answer, so that none of it is mixed with the next one.
std::optional<std::uint32_t> answer(int fd, std::uint16_t port) {
    std::optional<std::uint32_t> uid;
    for (;;) {
        std::array<std::byte, 16 << 10> buffer;
        const auto size = ::recv(fd, buffer.data(), buffer.size(), 0);
        if (size <= 0) return uid;
        // Consecutive messages, each aligned to NLMSG_ALIGNTO (netlink(7)).
        nlmsghdr head{};
        for (std::size_t at = 0, end = static_cast<std::size_t>(size); end - at >= sizeof head;) {
            std::memcpy(&head, &buffer[at], sizeof head);
            if (head.nlmsg_type == NLMSG_DONE || head.nlmsg_type == NLMSG_ERROR) return uid;
            if (head.nlmsg_len < sizeof head || head.nlmsg_len > end - at) return uid;
            if (head.nlmsg_len >= sizeof head + sizeof(inet_diag_msg)) {
                inet_diag_msg one{};
                std::memcpy(&one, &buffer[at + sizeof head], sizeof one);
                if (ntohs(one.id.idiag_sport) == port && !uid) uid = one.idiag_uid;
            }
            at += std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), end - at);
        }
    }
}

} // namespace

std::optional<std::uint32_t> tcp_listener(std::uint16_t port) {
    const base::UniqueFd fd(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (!fd) return {};
    const timeval patience{1, 0}; // the kernel answers during the call
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (const auto family : {AF_INET, AF_INET6})
        if (ask(fd.get(), family, port))
            if (const auto uid = answer(fd.get(), port)) return uid;
    return {};
}

} // namespace probe
