// The driver's threads that ask silent hosts for a sign of life (core/detect/asking.hpp): each blocks for
// seconds when a host does not answer, and must delay neither actions nor readings.
#include "restart/daemon/driver.hpp"

#include "restart/core/detect/asking.hpp"

#include <algorithm>

namespace restart {
namespace {

constexpr base::Duration look_again{250};
constexpr base::Duration ask_again{5'000}; // a host that is still silent

} // namespace

void Driver::run_asker(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        std::string next;
        const auto silent = hosts_to_ask(state_, base::now(), options_.policy);
        std::erase_if(asked_, [&](const auto& one) {
            return std::find(silent.begin(), silent.end(), one.first) == silent.end();
        });
        const auto now = std::chrono::steady_clock::now();
        for (const auto& host : silent)
            if (const auto at = asked_.find(host); at == asked_.end() || now - at->second >= ask_again) {
                next = host;
                break;
            }
        if (next.empty()) {
            wake_.wait_for(lock, stop, look_again, [] { return false; });
            continue;
        }
        asked_[next] = now;
        const auto patience = asking_patience(options_.policy);
        const auto reported = state_.hosts.at(next).last_report;
        lock.unlock();
        const auto life = rm_.ask_host(next, patience);
        lock.lock();
        // An answer about a host that has reported in the meantime, or is no longer known, is out of date.
        const auto host = state_.hosts.find(next);
        if (host != state_.hosts.end() && host->second.last_report == reported) apply(HostAsked{next, life});
    }
}

} // namespace restart
