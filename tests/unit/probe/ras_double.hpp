// A double of NCCL's RAS: the text protocol at a port of its own, as NCCL's sources speak it. No NCCL runs
// here, and nothing but those sources holds it to the truth.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace test {

// A double of a RAS thread: speaks its protocol at a port of its own to one client after the other.
class RasDouble {
public:
    explicit RasDouble(std::string answer, std::string greeting = "SERVER PROTOCOL 2\nOK\n", bool ends = true)
        : answer_(std::move(answer)), greeting_(std::move(greeting)), ends_(ends) {
        fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd_, 8) != 0 ||
            ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            std::abort();
        port = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~RasDouble() {
        stop_ = true;
        thread_.join();
        ::close(fd_);
    }
    RasDouble(const RasDouble&) = delete;
    RasDouble& operator=(const RasDouble&) = delete;

    std::uint16_t port = 0;
    int clients() const { return clients_; } // that have connected

private:
    bool readable(int fd) const {
        pollfd watched{fd, POLLIN, 0};
        while (!stop_)
            if (::poll(&watched, 1, 10) > 0) return true;
        return false;
    }
    void serve() {
        while (readable(fd_)) {
            const int client = ::accept(fd_, nullptr, nullptr);
            ++clients_;
            std::string heard;
            std::size_t said = 0;
            char block[256];
            while (readable(client)) {
                const auto n = ::recv(client, block, sizeof block, 0);
                if (n <= 0) break;
                heard.append(block, static_cast<std::size_t>(n));
                if (said == 0 && heard.find("TIMEOUT ") != std::string::npos && heard.ends_with("\n"))
                    said = static_cast<std::size_t>(
                        ::send(client, greeting_.data(), greeting_.size(), MSG_NOSIGNAL));
                if (heard.find("VERBOSE STATUS\n") == std::string::npos) continue;
                for (std::size_t at = 0; at < answer_.size();) {
                    const auto sent = ::send(client, answer_.data() + at, answer_.size() - at, MSG_NOSIGNAL);
                    if (sent <= 0) break;
                    at += static_cast<std::size_t>(sent);
                }
                if (ends_) break;
            }
            ::close(client);
        }
    }

    std::string answer_, greeting_;
    bool ends_;
    int fd_ = -1;
    std::atomic<bool> stop_ = false;
    std::atomic<int> clients_ = 0;
    std::thread thread_;
};

} // namespace test
