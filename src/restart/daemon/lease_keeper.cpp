#include "restart/daemon/lease_keeper.hpp"

#include "base/file.hpp"
#include "base/log.hpp"
#include "base/units.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace restart {
namespace {

namespace log = base::log;

std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

LeaseRecord record_of_this_life(std::string url) {
    LeaseRecord record;
    record.host = host_name();
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random) random = 0; // host and process still differ
    record.owner = fmt::format("{}.{}.{:016x}", record.host, ::getpid(), random);
    record.url = std::move(url);
    record.boot = boot_of_this_machine();
    return record;
}

std::string owner_of(const std::optional<LeaseRecord>& record) {
    if (!record || record->released) return {};
    return record->owner;
}

} // namespace

std::string boot_of_this_machine() {
    auto id = base::read_file("/proc/sys/kernel/random/boot_id", 4096).value_or("");
    while (!id.empty() && id.back() == '\n')
        id.pop_back();
    return id;
}

struct LeaseKeeper::Work {
    Work(LeaseOptions given, LeaseRecord self)
        : options(std::move(given)), folder(options.folder, self.owner),
          lease(LeaseTimes::from(options.lease), std::move(self)) {}

    const LeaseOptions options;
    const LeaseFolder folder;

    mutable std::mutex mutex; // protects what follows; never held while storage is accessed
    mutable std::condition_variable change;
    Lease lease;
    bool looked = false, releasing = false, released = false, ended = false;
    std::string trouble;
    std::string logged_owner = "-";

    bool acts() const { return !releasing && lease.acts(LeaseClock::now()); }
    void run();
    void look(std::unique_lock<std::mutex>& lock);
    void put(std::unique_lock<std::mutex>& lock, const Lease::Next& next);
    void give_back(std::unique_lock<std::mutex>& lock);
    void say(const std::optional<base::Error>& error);
    void log_change(Lease::Role before);
};

// Once when it begins and once when it is over.
void LeaseKeeper::Work::say(const std::optional<base::Error>& error) {
    if (error && trouble.empty()) log::warning("the lease: {}; trying on", error->text);
    if (!error && !trouble.empty())
        log::info("the lease: {} can be read and written again", folder.path().string());
    trouble = error ? error->text : std::string();
}

void LeaseKeeper::Work::log_change(Lease::Role before) {
    const auto role = lease.role();
    if (role == Lease::Role::primary && before != role) {
        log::info("primary: holds {} with epoch {}", folder.path().string(), lease.epoch());
    } else if (role == Lease::Role::standby) {
        const auto owner = owner_of(lease.seen());
        if (owner != logged_owner && !owner.empty())
            log::info("standing by: the restartd on {} ({}) is the primary, epoch {}", lease.seen()->host,
                      lease.seen()->url, lease.seen()->epoch);
        logged_owner = owner;
    }
    if (role != before) change.notify_all();
}

void LeaseKeeper::Work::look(std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    const auto begin = LeaseClock::now();
    const auto found = folder.look();
    const auto end = LeaseClock::now();
    const bool free = found && options.free && options.free(*found);
    lock.lock();
    const auto before = lease.role();
    if (found)
        lease.looked(*found, free, begin, end);
    else
        lease.failed(end);
    const bool first = !std::exchange(looked, true);
    say(found ? std::nullopt : std::optional(found.error()));
    log_change(before);
    if (first) change.notify_all();
}

void LeaseKeeper::Work::put(std::unique_lock<std::mutex>& lock, const Lease::Next& next) {
    lock.unlock();
    Lease::Time begin{};
    const auto done = next.claim ? folder.claim(*next.record, begin) : folder.renew(*next.record, begin);
    const auto end = LeaseClock::now();
    lock.lock();
    if (releasing) return;
    const auto before = lease.role();
    if (done)
        lease.put(*done, *next.record, begin, end);
    else
        lease.failed(end);
    say(done ? std::nullopt : std::optional(done.error()));
    log_change(before);
    if (!next.claim || lease.role() != Lease::Role::primary) return;
    lock.unlock();
    folder.clear(next.record->epoch);
    lock.lock();
}

void LeaseKeeper::Work::give_back(std::unique_lock<std::mutex>& lock) {
    const bool mine = lease.role() == Lease::Role::primary;
    auto record = lease.self();
    ++record.beat;
    record.released = true;
    lease.end();
    lock.unlock();
    Lease::Time begin{};
    if (mine) {
        const auto done = folder.renew(record, begin);
        if (!done)
            log::warning("the lease: {}; it expires in {}", done.error().text,
                         base::format_duration(options.lease));
    }
    folder.clear_own();
    lock.lock();
    released = true;
    change.notify_all();
}

void LeaseKeeper::Work::run() {
    std::unique_lock lock(mutex);
    while (!ended) {
        if (releasing) {
            give_back(lock);
            return;
        }
        const auto next = lease.next();
        const auto now = LeaseClock::now();
        if (lease.role() == Lease::Role::ended) {
            change.wait(lock, [&] { return ended || releasing; });
        } else if (next.at > now) {
            // A suspend advances only the lease's clock: check it often.
            change.wait_for(lock,
                            std::min<LeaseClock::duration>(next.at - now, std::chrono::milliseconds(500)));
        } else if (next.record) {
            put(lock, next);
        } else {
            look(lock);
        }
    }
}

LeaseKeeper::LeaseKeeper(LeaseOptions options) {
    auto self = record_of_this_life(options.url);
    work_ = std::make_shared<Work>(std::move(options), std::move(self));
    std::thread([work = work_] { work->run(); }).detach();
}

LeaseKeeper::~LeaseKeeper() {
    const std::lock_guard lock(work_->mutex);
    work_->ended = true;
    work_->change.notify_all();
}

bool LeaseKeeper::acts() const {
    const std::lock_guard lock(work_->mutex);
    return work_->acts();
}

LeaseStanding LeaseKeeper::standing() const {
    const std::lock_guard lock(work_->mutex);
    const auto& lease = work_->lease;
    const bool primary = lease.role() == Lease::Role::primary;
    return {lease.role(),  work_->acts(), work_->looked, lease.epoch(), primary ? std::nullopt : lease.seen(),
            work_->trouble};
}

LeaseRecord LeaseKeeper::self() const {
    const std::lock_guard lock(work_->mutex);
    return work_->lease.self();
}

void LeaseKeeper::wait_until_known(base::Duration longest) const {
    std::unique_lock lock(work_->mutex);
    work_->change.wait_for(lock, longest, [&] {
        const bool claims = work_->lease.role() == Lease::Role::standby && work_->lease.next().record;
        return work_->looked && !claims;
    });
}

void LeaseKeeper::raise(std::uint64_t above) {
    const std::lock_guard lock(work_->mutex);
    work_->lease.raise(above);
    work_->change.notify_all();
}

void LeaseKeeper::release(base::Duration patience) {
    std::unique_lock lock(work_->mutex);
    work_->releasing = true;
    work_->change.notify_all();
    work_->change.wait_for(lock, patience, [&] { return work_->released; });
}

} // namespace restart
