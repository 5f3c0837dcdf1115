#include "restart/watch/window.hpp"

#include <algorithm>

namespace restart {

namespace {
// Growth is kept in steps of a 64th of the period, so a counter that grows at every look needs little memory.
constexpr int steps_a_period = 64;
// Within this time after a fall, a value at the old height shows that the lower value was misread.
constexpr base::Duration misread{60'000};
} // namespace

void Hold::look(base::Time now, bool present, base::Duration window, base::Duration clear,
                base::Duration longest_step) {
    const auto passed =
        looked_ ? std::clamp(now - last_look_, base::Duration{0}, longest_step) : base::Duration{0};
    if (looked_) level_ = present_ ? level_ + passed : level_ - passed;
    level_ = std::clamp(level_, base::Duration{0}, window);
    if (present && level_ == base::Duration{0} && !present_ && !firing_) since_ = now;
    if (present) last_present_ = now;
    present_ = present;
    last_look_ = now;
    looked_ = true;

    if (!firing_ && present && level_ >= window) {
        firing_ = true;
        ended_.reset();
    }
    if (firing_ && !present && now - last_present_ >= clear) {
        firing_ = false;
        ended_ = now;
        level_ = base::Duration{0};
    }
}

bool Growth::is_count(std::uint64_t value) {
    return value != 0xffff'ffffU && value != ~std::uint64_t{0};
}

// The growth since the last value.
std::uint64_t Growth::step(base::Time now, std::uint64_t value) {
    if (!is_count(value)) return 0;
    const auto before = std::exchange(last_, value);
    if (!before) return 0;
    if (fallen_ && now - fallen_->first >= misread) fallen_.reset();
    if (value < *before) {
        fallen_ = {now, fallen_ ? std::max(fallen_->second, *before) : *before};
        return 0;
    }
    if (!fallen_ || value < fallen_->second) return value - *before;
    return value - std::exchange(fallen_, std::nullopt)->second;
}

std::uint64_t Growth::take(base::Time now, std::uint64_t value) {
    const auto grown = step(now, value);
    if (grown > 0) {
        if (!steps_.empty() && now - steps_.back().first < period_ / steps_a_period)
            steps_.back().second += grown;
        else
            steps_.emplace_back(now, grown);
        sum_ += grown;
    }
    auto kept = steps_.begin();
    for (; kept != steps_.end() && now - kept->first >= period_; ++kept)
        sum_ -= kept->second;
    steps_.erase(steps_.begin(), kept);
    return sum_;
}

std::optional<base::Time> Growth::since() const {
    if (steps_.empty()) return std::nullopt;
    return steps_.front().first;
}

} // namespace restart
