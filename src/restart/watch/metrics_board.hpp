// What the looks leave behind for who scrapes: the last one, and the XIDs and looks counted since the start.
// A scrape reads nothing from hardware.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/metrics_page.hpp"

#include <memory>
#include <mutex>
#include <string>

namespace restart {

// For any thread.
class MetricsBoard {
public:
    // XIDs of so many numbers and components are told apart; the rest are "other".
    static constexpr std::size_t most_xids = 256;
    // NVML and the kernel log both tell an XID: of equal ones within this time the first counts.
    static constexpr base::Duration same_xid{5'000};

    explicit MetricsBoard(std::string host) { state_.host = std::move(host); }

    // After each look, which took so long. `wall`: time of day; `steady`: on a clock that never steps.
    void put(std::shared_ptr<const LastLook> look, base::Time steady, base::Time wall, double seconds);

    // The page (metrics_page.hpp), worked out once a look; empty before the first.
    std::shared_ptr<const std::string> page();

private:
    void count(const std::string& component, std::uint32_t number, base::Time steady, base::Time wall);

    std::mutex mutex_;
    MetricsOf state_;
    std::map<std::pair<std::string, std::string>, base::Time> counted_; // when each XID last was, steady
    std::shared_ptr<const std::string> page_; // null: the last look's is not worked out yet
};

} // namespace restart
