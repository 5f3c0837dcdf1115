#include "restart/watch/ucx_port.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <netinet/in.h>
#include <sys/socket.h>
#include <vector>

namespace restart {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_senders = 1024;
constexpr int most_table_looks = 20; // per second, of the kernel's table
constexpr base::Duration look_again = 60s;
constexpr int most_datagrams = 64; // at once
constexpr std::size_t longest_table = 4 << 20;

// The space-separated words of a line.
std::vector<std::string_view> words(std::string_view line) {
    std::vector<std::string_view> all;
    for (;;) {
        const auto begin = line.find_first_not_of(' ');
        if (begin == line.npos) return all;
        line.remove_prefix(begin);
        const auto end = std::min(line.find(' '), line.size());
        all.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

template <class T> std::optional<T> number(std::string_view text, int base) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

} // namespace

//   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref
//   pointer drops
//  123: 0100007F:BC83 0100007F:946F 01 00000000:00000000 00:00000000 00000000  1000        0 4711 2
//  0000000000000000 0
std::optional<std::uint32_t> owner_of_udp(std::string_view table, std::uint16_t port) {
    while (!table.empty()) {
        const auto line = table.substr(0, table.find('\n'));
        table.remove_prefix(std::min(table.size(), line.size() + 1));
        const auto all = words(line);
        if (all.size() < 8 || all[1].size() != 13) continue;
        const auto address = all[1].substr(0, 8);
        if (address != "0100007F" && address != "00000000") continue;
        if (number<std::uint16_t>(all[1].substr(9), 16) == port) return number<std::uint32_t>(all[7], 10);
    }
    return std::nullopt;
}

UcxPort::UcxPort(UcxBook& book, const JobKey& job, base::UniqueFd fd, std::uint16_t number)
    : fd_(std::move(fd)), number_(number), uid_(job.uid), intake_(book, job) {}

base::Expected<std::unique_ptr<UcxPort>> UcxPort::open(UcxBook& book, const JobKey& job) {
    base::UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        book.leave(job);
        return base::system_error("a UDP port of 127.0.0.1", errno);
    }
    return std::unique_ptr<UcxPort>(new UcxPort(book, job, std::move(fd), ntohs(address.sin_port)));
}

bool UcxPort::may_send(std::uint16_t sender, base::Time now) {
    const auto known = senders_.find(sender);
    if (known != senders_.end() && now - known->second.looked < look_again) return known->second.allowed;
    if (now - second_ >= 1s) {
        second_ = now;
        looks_ = 0;
    }
    if (++looks_ > most_table_looks) return false;
    if (senders_.size() >= most_senders)
        std::erase_if(senders_, [&](const auto& one) { return now - one.second.looked >= look_again; });
    if (known == senders_.end() && senders_.size() >= most_senders) return false;
    const auto table = base::read_file("/proc/net/udp", longest_table);
    const bool allowed = table && owner_of_udp(*table, sender) == uid_;
    senders_[sender] = {allowed, now};
    return allowed;
}

void UcxPort::receive(base::Time now) {
    std::array<std::byte, 2048> block;
    for (int taken = 0; taken < most_datagrams; ++taken) {
        sockaddr_in from{};
        socklen_t size = sizeof from;
        const auto n = ::recvfrom(fd_.get(), block.data(), block.size(), MSG_DONTWAIT | MSG_TRUNC,
                                  reinterpret_cast<sockaddr*>(&from), &size);
        if (n < 0) return;
        const auto length = static_cast<std::size_t>(n);
        if (length > block.size() || from.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) continue;
        const auto sender = ntohs(from.sin_port);
        if (may_send(sender, now)) intake_.take(sender, std::span(block).first(length), now);
    }
}

} // namespace restart
