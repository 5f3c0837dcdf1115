#include "restart/watch/cut_off.hpp"

#include "base/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

namespace restart {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int enough_rounds = 3;
constexpr base::Duration pause_between = 1s;
constexpr auto witnesses_last = 10min;

bool lives(base::Knocked saw) {
    return saw == base::Knocked::answers || saw == base::Knocked::refused || saw == base::Knocked::mute;
}

} // namespace

void CutOff::answered(Time now) {
    answered_ = now;
    bad_ = 0;
}

void CutOff::saw(const Round& round, Time ended) {
    if (ended < answered_) return;
    last_ = round;
    const bool bad = !round.restartd && round.others >= 2 && 2 * round.live < round.others;
    bad_ = bad ? bad_ + 1 : 0;
}

std::optional<base::Duration> CutOff::silence(Time now, base::Duration after) const {
    if (bad_ < enough_rounds || now - answered_ < after) return {};
    return std::chrono::duration_cast<base::Duration>(now - answered_);
}

struct CutOffWatch::Work {
    // Where a host was seen alive: an address, since names cannot be looked up without a network.
    struct Place {
        std::string address;
        std::uint16_t port = 0;
    };

    std::mutex mutex;
    std::shared_ptr<JobBook> book;
    std::vector<Witness> restartd;
    base::Duration after{};
    CutOff judge{Clock::now()};
    std::optional<std::vector<Witness>> named; // by restartd, not used yet
    std::optional<Clock::time_point> taken;
    Look look;

    // Used by the task only.
    std::vector<Place> masters, others;
    bool told = false;

    TaskLoop::Clock::time_point step();
    void verify(const std::vector<Witness>& witnesses);
    std::vector<Place> living(const std::vector<Witness>& list) const;
    std::size_t count(const std::vector<Place>& places) const;
    void look_around();
    void tell();
};

// Those that answer now, with the address that answered.
std::vector<CutOffWatch::Work::Place> CutOffWatch::Work::living(const std::vector<Witness>& list) const {
    std::vector<Place> found(list.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < list.size(); ++i)
        threads.emplace_back([this, &one = list[i], &place = found[i]] {
            const auto port = static_cast<std::uint16_t>(one.port);
            for (const auto& address : base::addresses_of(one.address))
                if (lives(look(address, port))) {
                    place = {address, port};
                    return;
                }
        });
    for (auto& thread : threads)
        thread.join();
    std::erase_if(found, [](const Place& place) { return place.address.empty(); });
    return found;
}

std::size_t CutOffWatch::Work::count(const std::vector<Place>& places) const {
    std::vector<char> live(places.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < places.size(); ++i)
        threads.emplace_back([this, &place = places[i], &one = live[i]] {
            one = lives(look(place.address, place.port)) ? 1 : 0;
        });
    for (auto& thread : threads)
        thread.join();
    return static_cast<std::size_t>(std::count(live.begin(), live.end(), 1));
}

void CutOffWatch::Work::verify(const std::vector<Witness>& witnesses) {
    std::unique_lock lock(mutex);
    const auto urls = restartd;
    lock.unlock();
    masters = living(urls);
    const auto before = others.size();
    others = living(witnesses);
    if (others.size() >= 2 && others.size() != before)
        base::log::info("should restartd be silent, {} other hosts tell whether this one is cut off",
                        others.size());
    if (others.size() < 2)
        base::log::warning("of {} hosts that restartd named {} answer here: that this host is cut off could "
                           "not be told, and its jobs may run twice then",
                           witnesses.size(), others.size());
}

void CutOffWatch::Work::look_around() {
    CutOff::Round round;
    round.others = others.size();
    round.restartd = count(masters) > 0;
    round.live = count(others);
    const std::lock_guard lock(mutex);
    judge.saw(round, Clock::now());
}

void CutOffWatch::Work::tell() {
    std::unique_lock lock(mutex);
    const auto silence = judge.silence(Clock::now(), after);
    const bool cut = silence && after > base::Duration{} && book->keeps_any();
    if (cut == told) return;
    told = cut;
    const auto round = judge.last();
    lock.unlock();
    if (!cut) {
        book->set_cut_off({});
        base::log::info("this host is no longer cut off");
        return;
    }
    const auto why =
        fmt::format("this host is cut off: restartd has been silent for {} s, its hosts too, and "
                    "{} of {} others answer",
                    silence->count() / 1000, round.live, round.others);
    base::log::error("{}: processes of jobs that may be started elsewhere are ended", why);
    book->set_cut_off(why);
}

TaskLoop::Clock::time_point CutOffWatch::Work::step() {
    std::optional<std::vector<Witness>> fresh;
    bool looks = false;
    {
        const std::lock_guard lock(mutex);
        std::swap(fresh, named);
        looks = after > base::Duration{} && judge.looks(Clock::now(), after);
    }
    if (fresh) verify(*fresh);
    if (looks && book->keeps_any()) look_around();
    tell();
    return next_beat(pause_between);
}

CutOffWatch::CutOffWatch(TaskLoop& loop, std::shared_ptr<JobBook> book, std::vector<Witness> restartd,
                         base::Duration after, Look look)
    : work_(std::make_shared<Work>()) {
    work_->book = std::move(book);
    work_->restartd = std::move(restartd);
    work_->after = after;
    work_->look = std::move(look);
    task_ = loop.add([work = work_] { return work->step(); });
}

void CutOffWatch::answered(const Reply& reply) {
    const auto now = Clock::now();
    {
        const std::lock_guard lock(work_->mutex);
        work_->judge.answered(now);
        if (reply.witnesses.empty()) return;
        work_->named = reply.witnesses;
        work_->taken = now;
    }
    task_.now();
}

bool CutOffWatch::wants_witnesses() const {
    const std::lock_guard lock(work_->mutex);
    return work_->after > base::Duration{} &&
           (!work_->taken || Clock::now() - *work_->taken > witnesses_last) && work_->book->keeps_any();
}

void CutOffWatch::retarget(std::vector<Witness> restartd, base::Duration after) {
    const std::lock_guard lock(work_->mutex);
    work_->restartd = std::move(restartd);
    work_->after = after;
    work_->taken.reset(); // both are examined again
}

base::Knocked CutOffWatch::by_knocking(const std::string& address, std::uint16_t port) {
    return base::knock(address, port, patience);
}

} // namespace restart
