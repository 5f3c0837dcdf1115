// How many expensive requests are processed at a time, and how many of them for one user: further ones are
// refused at once, so that other users find a worker. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace restart {

class Seats {
public:
    Seats(std::size_t all, std::size_t each) : all_(all), each_(each) {}
    Seats(const Seats&) = delete;
    Seats& operator=(const Seats&) = delete;

    // Held while the request is processed; must not outlive the seats.
    class Seat {
    public:
        Seat(Seats& of, std::string user) : of_(&of), user_(std::move(user)) {}
        Seat(Seat&& other) noexcept : of_(std::exchange(other.of_, nullptr)), user_(std::move(other.user_)) {}
        Seat& operator=(Seat&&) = delete;
        ~Seat() {
            if (of_ != nullptr) of_->leave(user_);
        }

    private:
        Seats* of_;
        std::string user_;
    };

    // None: all are taken, or all of this user's.
    std::optional<Seat> take(const std::string& user) {
        const std::lock_guard lock(mutex_);
        if (taken_ >= all_) return std::nullopt;
        auto& mine = of_user_[user];
        if (mine >= each_) return std::nullopt;
        ++mine;
        ++taken_;
        return std::optional<Seat>(std::in_place, *this, user);
    }

private:
    void leave(const std::string& user) {
        const std::lock_guard lock(mutex_);
        --taken_;
        if (const auto mine = of_user_.find(user); --mine->second == 0) of_user_.erase(mine);
    }

    const std::size_t all_, each_;
    std::mutex mutex_;
    std::size_t taken_ = 0;
    std::map<std::string, std::size_t> of_user_;
};

} // namespace restart
