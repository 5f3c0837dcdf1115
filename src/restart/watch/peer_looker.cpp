#include "restart/watch/peer_looker.hpp"

#include "base/knock.hpp"

#include <algorithm>
#include <deque>

namespace restart {
namespace {

bool is_about(const Sight& sight, const LookRequest& look) {
    return sight.number == look.number && sight.host == look.host;
}

} // namespace

struct PeerLooker::Work {
    mutable std::mutex mutex;
    std::vector<LookRequest> wanted;
    std::deque<LookRequest> waiting;
    std::vector<LookRequest> running;
    std::size_t threads = 0; // those that process the queue
    std::vector<Sight> seen;
    std::function<void()> news;
    Look look;

    void run(const std::stop_token& stop);
};

void PeerLooker::Work::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (!waiting.empty() && !stop.stop_requested()) {
        const auto request = waiting.front();
        waiting.pop_front();
        running.push_back(request);
        lock.unlock();
        const Sight sight{request.number, request.host, look(request)};
        lock.lock();
        std::erase(running, request);
        if (std::find(wanted.begin(), wanted.end(), request) == wanted.end()) continue;
        seen.push_back(sight);
        lock.unlock();
        if (!stop.stop_requested()) news();
        lock.lock();
    }
    --threads;
}

PeerLooker::PeerLooker(std::function<void()> news, Look look) : work_(std::make_shared<Work>()) {
    work_->news = std::move(news);
    work_->look = std::move(look);
}

void PeerLooker::wanted(const std::vector<LookRequest>& looks) {
    const std::lock_guard lock(work_->mutex);
    const auto holds = [](const auto& list, const LookRequest& look) {
        return std::find(list.begin(), list.end(), look) != list.end();
    };
    work_->wanted = looks;
    std::erase_if(work_->waiting, [&](const LookRequest& look) { return !holds(looks, look); });
    std::erase_if(work_->seen, [&](const Sight& sight) {
        return std::none_of(looks.begin(), looks.end(),
                            [&](const LookRequest& look) { return is_about(sight, look); });
    });
    for (const auto& look : looks)
        if (!holds(work_->waiting, look) && !holds(work_->running, look) &&
            std::none_of(work_->seen.begin(), work_->seen.end(),
                         [&](const Sight& sight) { return is_about(sight, look); }))
            work_->waiting.push_back(look);
    std::erase_if(threads_, [](const auto& thread) { return thread->ended(); });
    for (; work_->threads < std::min(most_at_once, work_->waiting.size() + work_->running.size());
         ++work_->threads)
        threads_.push_back(
            std::make_unique<Background>([work = work_](const std::stop_token& stop) { work->run(stop); }));
}

std::vector<Sight> PeerLooker::sights() const {
    const std::lock_guard lock(work_->mutex);
    return work_->seen;
}

base::Knocked PeerLooker::by_knocking(const LookRequest& look) {
    return base::knock(look.address, static_cast<std::uint16_t>(look.port), patience);
}

} // namespace restart
