// A double of nodewatchd's job socket: answers from a script and records what it is asked. The system tests
// hold the real nodewatchd to the same conversation.
#pragma once

#include "base/unique_fd.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <utility>
#include <vector>

namespace ckpt_test {

class AgentDouble {
public:
    // What to send for a line; without a final newline it is sent as it stands. "": nothing. "close": the
    // connection is closed.
    using Answer = std::function<std::string(const std::string& line)>;

    AgentDouble(const std::string& path, Answer answer) : answer_(std::move(answer)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        ::unlink(path.c_str());
        listener_ = base::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(listener_.get(), 8) != 0)
            std::abort();
        thread_ = std::thread([this] { serve(); });
    }
    ~AgentDouble() {
        stop_ = true;
        thread_.join();
    }
    AgentDouble(const AgentDouble&) = delete;
    AgentDouble& operator=(const AgentDouble&) = delete;

    std::vector<std::string> asked() const {
        const std::lock_guard guard(mutex_);
        return asked_;
    }

private:
    void serve() {
        base::UniqueFd client;
        std::string pending;
        while (!stop_) {
            pollfd watched[2] = {{listener_.get(), POLLIN, 0}, {client ? client.get() : -1, POLLIN, 0}};
            if (::poll(watched, 2, 10) <= 0) continue;
            if (watched[0].revents != 0) {
                client = base::UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
                pending.clear();
                continue;
            }
            char block[4096];
            const auto n = ::recv(client.get(), block, sizeof block, 0);
            if (n <= 0) {
                client = {};
                continue;
            }
            pending.append(block, static_cast<std::size_t>(n));
            for (auto end = pending.find('\n'); end != std::string::npos && client;
                 end = pending.find('\n')) {
                const auto line = pending.substr(0, end);
                pending.erase(0, end + 1);
                {
                    const std::lock_guard guard(mutex_);
                    asked_.push_back(line);
                }
                const auto text = answer_(line);
                if (text == "close")
                    client = {};
                else
                    static_cast<void>(::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL));
            }
        }
    }

    Answer answer_;
    base::UniqueFd listener_;
    std::atomic<bool> stop_ = false;
    mutable std::mutex mutex_;
    std::vector<std::string> asked_;
    std::thread thread_;
};

// The usual conversation, with `due` as the answer to {"op":"due"}.
inline AgentDouble::Answer usual(std::string due) {
    return [due = std::move(due)](const std::string& line) {
        if (line.find("\"due\"") != std::string::npos) return due + "\n";
        return std::string("{\"ok\":true,\"interval_s\":37.5,\"save_by\":null}\n");
    };
}

} // namespace ckpt_test
