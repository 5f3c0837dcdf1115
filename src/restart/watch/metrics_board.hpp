// The data of the looks for scrapers: the last look, and the XIDs and looks counted since the start. A scrape
// does not access hardware.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/metrics_page.hpp"

#include <memory>
#include <mutex>
#include <string>

namespace restart {

// Thread-safe.
class MetricsBoard {
public:
    // This many pairs of XID number and component are counted separately; the rest are "other".
    static constexpr std::size_t most_xids = 256;
    // NVML and the kernel log both report an XID: of equal ones within this time the first counts.
    static constexpr base::Duration same_xid{5'000};

    explicit MetricsBoard(std::string host) { state_.host = std::move(host); }

    // Call after each look, which took `seconds`. `wall`: time of day; `steady`: on a clock that never steps.
    void put(std::shared_ptr<const LastLook> look, base::Time steady, base::Time wall, double seconds);

    // The page (metrics_page.hpp), rendered once per look; empty before the first.
    std::shared_ptr<const std::string> page();

private:
    void count(const std::string& component, std::uint32_t number, base::Time steady, base::Time wall);

    std::mutex mutex_;
    MetricsOf state_;
    std::map<std::pair<std::string, std::string>, base::Time> counted_; // last time of each XID, steady clock
    std::shared_ptr<const std::string> page_; // null: not rendered yet for the last look
};

} // namespace restart
