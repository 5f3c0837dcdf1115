#include "restart/daemon/lease.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace restart {

LeaseClock::time_point LeaseClock::now() {
    timespec read{};
    ::clock_gettime(CLOCK_BOOTTIME, &read);
    return time_point(std::chrono::seconds(read.tv_sec) + std::chrono::nanoseconds(read.tv_nsec));
}

// The holder stops three tenths before another may begin: two machines' clocks do not run that differently.
LeaseTimes LeaseTimes::from(base::Duration lease) {
    return {lease / 5, lease * 7 / 10, lease};
}

Lease::Next Lease::next() const {
    auto record = self_;
    if (role_ == Role::primary) {
        ++record.beat;
        if (above_ < self_.epoch) return {at_, record, false};
        record.epoch = above_ + 1;
        return {at_, record, true};
    }
    if (!claim_) return {at_, {}, false};
    record.epoch = (seen_ ? seen_->epoch : 0) + 1;
    record.beat = 1;
    return {at_, record, true};
}

void Lease::looked(const std::optional<LeaseRecord>& record, bool free, Time begin, Time end) {
    if (role_ != Role::standby) return;
    if (!seen_since_ || seen_ != record) {
        seen_ = record;
        seen_since_ = end;
    }
    const bool mine =
        record && record->owner == self_.owner; // from a claim that seemed to fail: never acted on
    claim_ = free || mine || (record && (record->released || begin >= *seen_since_ + times_.expire));
    at_ = claim_ ? end : end + times_.renew / 2;
}

void Lease::failed(Time end) {
    if (role_ == Role::primary && end >= good_until_) role_ = Role::ended;
    if (role_ == Role::primary) at_ = end + times_.renew / 4;
    if (role_ == Role::standby) {
        claim_ = false; // it is checked whether the claim was made
        at_ = end + times_.renew / 2;
    }
}

void Lease::put(bool done, const LeaseRecord& record, Time begin, Time end) {
    if (role_ == Role::standby) {
        claim_ = false;
        at_ = end;
        if (!done) return;
        role_ = Role::primary;
        good_until_ = begin + times_.hold;
    } else if (role_ == Role::primary && (!done || end >= good_until_)) {
        role_ = Role::ended;
    }
    if (role_ != Role::primary) return;
    self_ = record;
    good_until_ = begin + times_.hold;
    at_ = begin + times_.renew;
}

void Lease::raise(std::uint64_t above) {
    above_ = std::max(above_, above);
    if (above_ >= self_.epoch) at_ = {};
}

} // namespace restart
