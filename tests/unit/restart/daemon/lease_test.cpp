// The lease's rules by hand, then under random schedules: clocks that run apart, processes that pause or are
// killed at any point, writes that hang and take effect when their process is long gone. Whatever happens,
// no two may act at one moment.
#include "restart/daemon/lease.hpp"

#include "../../trials.hpp"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <vector>

using namespace restart;
using namespace std::chrono_literals;

namespace {

using Time = Lease::Time;
using Role = Lease::Role;

constexpr base::Duration lease_time{10'000};

Time at(base::Duration since) {
    return Time(since + 1000s);
}

LeaseRecord named(const std::string& owner) {
    LeaseRecord record;
    record.owner = owner;
    return record;
}

Lease primary_at(base::Duration when, std::optional<LeaseRecord> seen = {}) {
    Lease lease(LeaseTimes::from(lease_time), named("a"));
    lease.looked(seen, true, at(when), at(when));
    const auto claim = lease.next();
    REQUIRE(claim.claim);
    REQUIRE(claim.record);
    lease.put(true, *claim.record, at(when), at(when));
    REQUIRE(lease.role() == Role::primary);
    return lease;
}

} // namespace

TEST_CASE("a free lease is claimed and held") {
    auto lease = primary_at(0s);
    CHECK(lease.epoch() == 1);
    CHECK(lease.acts(at(1s)));
    CHECK(lease.acts(at(6900ms)));
    CHECK_FALSE(lease.acts(at(7s)));
}

TEST_CASE("each renewal that succeeds counts from its beginning") {
    auto lease = primary_at(0s);
    const auto renewal = lease.next();
    REQUIRE(renewal.record);
    CHECK_FALSE(renewal.claim);
    CHECK(renewal.record->beat == 2);
    lease.put(true, *renewal.record, at(5s), at(6s));
    CHECK(lease.acts(at(11900ms)));
    CHECK_FALSE(lease.acts(at(12s)));
    CHECK(lease.next().at == at(7s));
}

TEST_CASE("a renewal that ends too late ends the lease, though it was made") {
    auto lease = primary_at(0s);
    lease.put(true, *lease.next().record, at(6s), at(7s));
    CHECK(lease.role() == Role::ended);
    CHECK_FALSE(lease.acts(at(6s)));
}

TEST_CASE("a holder that sees a later epoch acts no more, in this life") {
    auto lease = primary_at(0s);
    lease.put(false, *lease.next().record, at(2s), at(2s));
    CHECK_FALSE(lease.acts(at(2s)));
    CHECK(lease.role() == Role::ended);
    lease.looked({}, true, at(60s), at(60s));
    CHECK(lease.role() == Role::ended);
}

TEST_CASE("storage that fails is tried again until the lease has run out") {
    auto lease = primary_at(0s);
    lease.failed(at(1s));
    CHECK(lease.acts(at(1s)));
    CHECK(lease.next().at == at(1500ms));
    lease.failed(at(7s));
    CHECK(lease.role() == Role::ended);
}

TEST_CASE("another's lease is taken only after it has not changed for the whole time") {
    Lease lease(LeaseTimes::from(lease_time), named("a"));
    auto held = named("b");
    held.epoch = 7;
    for (auto t = 0s; t < 30s; t += 2s) { // renewed
        ++held.beat;
        lease.looked(held, false, at(t), at(t));
        CHECK_FALSE(lease.next().record);
    }
    lease.looked(held, false, at(37s), at(39s)); // began too early
    CHECK_FALSE(lease.next().record);
    lease.failed(at(39s)); // says nothing
    lease.looked(held, false, at(38100ms), at(39200ms));
    const auto claim = lease.next();
    REQUIRE(claim.record);
    CHECK(claim.record->epoch == 8);
    CHECK(claim.claim);
    lease.put(false, *claim.record, at(40s), at(40s)); // somebody was quicker
    CHECK(lease.role() == Role::standby);
    CHECK_FALSE(lease.next().record);
}

TEST_CASE("a lease that was given back is taken at once, one without a record only when it is free") {
    Lease lease(LeaseTimes::from(lease_time), named("a"));
    auto held = named("b");
    held.released = true;
    lease.looked(held, false, at(0s), at(0s));
    CHECK(lease.next().record);
    Lease other(LeaseTimes::from(lease_time), named("a"));
    other.looked({}, false, at(0s), at(0s));
    other.looked({}, false, at(60s), at(60s)); // one that knows no leases may be there
    CHECK_FALSE(other.next().record);
    other.looked({}, true, at(61s), at(61s));
    CHECK(other.next().record);
}

TEST_CASE("a claim that seemed to fail and was made is one's own to pass") {
    Lease lease(LeaseTimes::from(lease_time), named("a"));
    lease.looked({}, true, at(0s), at(0s));
    const auto claim = lease.next();
    lease.failed(at(1s));
    CHECK_FALSE(lease.next().record);
    lease.looked(claim.record, false, at(2s), at(2s));
    REQUIRE(lease.next().record);
    CHECK(lease.next().record->epoch == 2);
}

TEST_CASE("an epoch that the journal knows is passed") {
    auto lease = primary_at(0s);
    lease.raise(41);
    const auto renewal = lease.next();
    CHECK(renewal.claim);
    CHECK(renewal.record->epoch == 42);
    lease.put(true, *renewal.record, at(1s), at(1s));
    CHECK(lease.epoch() == 42);
    lease.raise(3);
    CHECK_FALSE(lease.next().claim);
}

namespace {

// One run of some restartds on one file. Time is in microseconds.
class Yard {
public:
    Yard(std::uint32_t seed, LeaseTimes times) : random_(seed), times_(times) {
        for (int n = 0; n < 3; ++n)
            in(pick(0, 3'000'000), [this, n] { start(n); });
    }

    void run(std::int64_t until) {
        while (!events_.empty() && events_.top().time < until && twice.empty()) {
            const auto event = events_.top();
            events_.pop();
            now_ = event.time;
            event.what();
            check();
        }
    }

    std::string twice; // two acted at once: who and when
    int takeovers = 0, pauses = 0, kills = 0, late = 0;

private:
    struct Process {
        Lease lease;
        double rate;
        std::int64_t offset;
        bool alive = true, releasing = false;
        Time local(std::int64_t now) const {
            return Time(std::chrono::microseconds(static_cast<std::int64_t>(static_cast<double>(now) * rate) +
                                                  offset));
        }
    };
    using Held = std::shared_ptr<Process>;
    struct Event {
        std::int64_t time;
        std::uint64_t order;
        std::function<void()> what;
        bool operator<(const Event& other) const {
            return std::tie(other.time, other.order) < std::tie(time, order);
        }
    };

    std::int64_t pick(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }
    bool chance(double share) { return std::uniform_real_distribution<double>(0, 1)(random_) < share; }

    // How long until a process does its next thing: mostly at once, now and then it is not scheduled.
    std::int64_t pause() {
        if (!chance(0.01)) return pick(0, 2'000);
        ++pauses;
        return chance(0.5) ? pick(0, 1'000'000) : pick(0, 40'000'000);
    }
    // How long the storage takes.
    std::int64_t storage() {
        if (!chance(0.02)) return pick(100, 20'000);
        return chance(0.5) ? pick(0, 1'000'000) : pick(0, 40'000'000);
    }

    void in(std::int64_t time, std::function<void()> what) {
        events_.push({now_ + time, order_++, std::move(what)});
    }
    // Unless the process is gone by then.
    void later(const Held& process, std::int64_t time, std::function<void()> what) {
        in(time, [process, what = std::move(what)] {
            if (process->alive) what();
        });
    }

    void start(int n) {
        LeaseRecord self = named(fmt::format("{}.{}", n, ++lives_));
        auto process = std::make_shared<Process>(
            Process{Lease(times_, self), std::uniform_real_distribution<double>(0.95, 1.05)(random_),
                    pick(0, 1'000'000'000'000)});
        slots_[n] = process;
        owners_[self.owner] = process;
        in(pick(5'000'000, 200'000'000), [this, n, process] { finish(n, process); });
        step(process);
    }

    // Killed, or told to stop.
    void finish(int n, const Held& process) {
        if (!process->alive) return;
        if (chance(0.3) && process->lease.role() == Role::primary) {
            give_back(process);
        } else {
            process->alive = false;
            ++kills;
        }
        in(pick(0, 30'000'000), [this, n, process] {
            process->alive = false;
            start(n);
        });
    }

    void give_back(const Held& process) {
        auto record = process->lease.self();
        ++record.beat;
        record.released = true;
        process->releasing = true;
        process->lease.end();
        later(process, pause() + storage(), [this, process, record] {
            if (last() && last()->owner == record.owner) write(record, false, storage(), [](bool) {});
        });
    }

    bool acts(const Process& process) const {
        return process.alive && !process.releasing && process.lease.acts(process.local(now_));
    }

    void check() {
        std::string first;
        for (const auto& [n, process] : slots_) {
            if (!acts(*process)) continue;
            if (!first.empty())
                twice = fmt::format("{} and {} at {} us", first, process->lease.self().owner, now_);
            first = process->lease.self().owner;
        }
        if (!first.empty() && first != last_) {
            ++takeovers;
            last_ = first;
        }
    }

    // Nobody can hold it: known of a process that has ended, on machines whose locks tell; and at the very
    // start.
    bool is_free(const std::optional<LeaseRecord>& record) {
        if (!record) return true;
        const auto owner = owners_.find(record->owner);
        return owner != owners_.end() && !owner->second->alive && chance(0.5);
    }

    void step(const Held& process) {
        if (process->releasing || process->lease.role() == Role::ended) {
            // A process of which nothing is to be expected ends, and another life begins.
            if (!process->releasing) later(process, pause(), [this, process] { end(process); });
            return;
        }
        const auto next = process->lease.next();
        const auto wait =
            std::chrono::duration_cast<std::chrono::microseconds>(next.at - process->local(now_)).count();
        if (wait > 0) {
            later(process, static_cast<std::int64_t>(static_cast<double>(wait) / process->rate) + 1,
                  [this, process] { step(process); });
            return;
        }
        later(process, pause(), [this, process] {
            if (process->releasing || process->lease.role() == Role::ended) return step(process);
            const auto todo = process->lease.next();
            if (todo.record)
                put(process, todo);
            else
                look(process);
        });
    }

    void end(const Held& process) {
        process->alive = false;
        for (const auto& [n, held] : slots_)
            if (held == process) in(pick(0, 3'000'000), [this, n = n] { start(n); });
    }

    void look(const Held& process) {
        const auto begin = process->local(now_);
        if (chance(0.01))
            return later(process, storage(), [this, process] {
                process->lease.failed(process->local(now_));
                step(process);
            });
        later(process, storage(), [this, process, begin] {
            const auto found = last();
            later(process, storage() + pause(), [this, process, begin, found] {
                const bool free = is_free(found);
                process->lease.looked(found, free, begin, process->local(now_));
                step(process);
            });
        });
    }

    std::optional<LeaseRecord> last() const {
        if (files_.empty()) return {};
        return files_.rbegin()->second;
    }

    // It is made whatever becomes of the process.
    void write(const LeaseRecord& record, bool claim, std::int64_t after, std::function<void(bool)> then) {
        in(after, [this, record, claim, then = std::move(then)] {
            if (!owners_.at(record.owner)->alive) ++late;
            const bool there = files_.contains(record.epoch);
            if (!claim || !there) files_[record.epoch] = record;
            if (files_.size() > 3) files_.erase(files_.begin()); // the old ones are removed
            then(!claim || !there);
        });
    }

    void put(const Held& process, const Lease::Next& next) {
        const auto begin = process->local(now_);
        const auto finish_with = [this, process, next, begin](std::optional<bool> done) {
            later(process, pause(), [this, process, next, begin, done] {
                if (process->releasing) return;
                if (done)
                    process->lease.put(*done, *next.record, begin, process->local(now_));
                else
                    process->lease.failed(process->local(now_));
                step(process);
            });
        };
        later(process, storage(), [this, process, next, finish_with] {
            if (process->releasing) return;
            const auto& record = *next.record;
            if (!next.claim && (!last() || last()->epoch != record.epoch || last()->owner != record.owner))
                return finish_with(false);
            later(process, pause(), [this, process, next, finish_with] {
                if (process->releasing) return;
                const auto took = storage();
                if (chance(0.02)) { // an error now, though it is made later
                    write(*next.record, next.claim, took, [](bool) {});
                    return finish_with(std::nullopt);
                }
                write(*next.record, next.claim, took, [this, process, next, finish_with](bool) {
                    later(process, pause() + storage(),
                          [this, next, finish_with] { finish_with(last() == next.record); });
                });
            });
        });
    }

    std::mt19937 random_;
    LeaseTimes times_;
    std::int64_t now_ = 0;
    std::uint64_t order_ = 0;
    int lives_ = 0;
    std::priority_queue<Event> events_;
    std::map<std::uint64_t, LeaseRecord> files_;
    std::map<int, Held> slots_;
    std::map<std::string, Held> owners_;
    std::string last_;
};

constexpr std::int64_t twenty_minutes = 1'200'000'000;

} // namespace

TEST_CASE("random schedules never let two restartds act at once") {
    int takeovers = 0, pauses = 0, kills = 0, late = 0;
    for (int seed = 0; seed < test::trials(100); ++seed) {
        Yard yard(static_cast<std::uint32_t>(seed), LeaseTimes::from(lease_time));
        yard.run(twenty_minutes);
        INFO("seed " << seed << ": " << yard.twice);
        REQUIRE(yard.twice.empty());
        REQUIRE(yard.takeovers > 3); // it does change hands, and somebody acts
        takeovers += yard.takeovers;
        pauses += yard.pauses;
        kills += yard.kills;
        late += yard.late;
    }
    WARN(fmt::format("{} takeovers, {} pauses, {} kills, {} writes made after their process's end", takeovers,
                     pauses, kills, late));
    CHECK(late > 0);
}

TEST_CASE("the schedules find what is wrong with lesser rules") {
    const auto found = [](LeaseTimes times) {
        for (int seed = 0; seed < 400; ++seed) {
            Yard yard(static_cast<std::uint32_t>(seed), times);
            yard.run(twenty_minutes);
            if (!yard.twice.empty()) return true;
        }
        return false;
    };
    auto times = LeaseTimes::from(lease_time);
    times.hold = times.expire * 2; // acts on after another may have taken over
    CHECK(found(times));
    times = LeaseTimes::from(lease_time);
    times.expire = 3s; // takes over too early
    CHECK(found(times));
}
