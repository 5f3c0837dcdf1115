#include "restart/watch/metrics_board.hpp"

#include <utility>

namespace restart {

void MetricsBoard::count(const std::string& component, std::uint32_t number, base::Time steady,
                         base::Time wall) {
    std::pair key{component, std::to_string(number)};
    if (!state_.xids.contains(key) && state_.xids.size() >= most_xids - 1) key = {"other", "other"};
    auto& xid = state_.xids[key];
    const auto [counted, first] = counted_.try_emplace(key, steady);
    if (first || steady - counted->second >= same_xid) {
        ++xid.count;
        counted->second = steady;
    }
    xid.last = wall;
    if (key.first == component) state_.last_xid[component] = number;
}

void MetricsBoard::put(std::shared_ptr<const LastLook> look, base::Time steady, base::Time wall,
                       double seconds) {
    const std::lock_guard lock(mutex_);
    for (const auto& [component, number] : look->xids)
        count(component, number, steady, wall);
    state_.look = std::move(look);
    state_.looked = wall;
    ++state_.looks;
    state_.look_seconds += seconds;
    page_.reset();
}

std::shared_ptr<const std::string> MetricsBoard::page() {
    MetricsOf state;
    {
        const std::lock_guard lock(mutex_);
        if (page_) return page_;
        state = state_;
    }
    auto page = std::make_shared<const std::string>(state.look ? metrics_page(state) : std::string());
    const std::lock_guard lock(mutex_);
    if (state_.looks == state.looks) page_ = page;
    return page;
}

} // namespace restart
