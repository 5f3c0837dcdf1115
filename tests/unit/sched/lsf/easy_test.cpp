// The dispatcher beside a slow EASY on thousands of small random queues, and over simulated time.
#include "../grid.hpp"
#include "easy.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace sched;
using namespace sched::lsf;
using namespace sched_test;
using namespace std::chrono_literals;
using Hosts = std::vector<std::uint32_t>;
using Kind = Verdict::Kind;

namespace {

const base::Time noon = base::time_from_seconds(1'772'367'600);

class Worlds {
public:
    explicit Worlds(std::uint32_t seed) : random_(seed) {}

    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
    bool one_in(std::uint32_t n) { return below(n) == 0; }

    topo::Fabric fabric() {
        const auto pods = 1 + static_cast<int>(below(2));
        const auto units = 1 + static_cast<int>(below(2));
        return grid(pods, units, 2 + static_cast<int>(below(2)));
    }

    WaitingGang gang(base::JobId job, std::uint32_t hosts, base::Time now) {
        WaitingGang gang;
        gang.job = job;
        gang.request.nodes = 1 + below(one_in(2) ? 3 : hosts);
        if (one_in(8)) gang.request.most = gang.request.nodes + below(3);
        gang.eligible = now - std::chrono::minutes(below(60));
        if (!one_in(4)) gang.limit = std::chrono::minutes(10 * (1 + below(12)));
        if (one_in(3)) gang.hints.span = one_in(2) ? Span::unit : Span::pod;
        if (gang.hints.span && one_in(2)) gang.hints.span_wait = std::chrono::minutes(10 * (1 + below(12)));
        if (one_in(6) && gang.request.nodes > 1) gang.hints.spares = 1;
        if (one_in(8)) gang.request.excluded = {below(hosts)};
        if (one_in(12)) gang.request.required = {below(hosts)};
        return gang;
    }

private:
    std::mt19937 random_;
};

Queue random_queue(Worlds& worlds, const topo::Fabric& fabric) {
    const auto hosts = static_cast<std::uint32_t>(fabric.hosts.size());
    Queue queue;
    queue.now = noon;
    queue.snapshot = Snapshot::all_free(fabric);
    for (std::uint32_t h = 0; h < hosts; ++h) {
        if (worlds.one_in(12)) queue.snapshot.states[h] = HostState::drained;
        if (worlds.one_in(10)) queue.snapshot.weaken(h, 0.5F);
    }
    for (std::uint32_t h = 0; h < hosts;) {
        const auto count = std::min(1 + worlds.below(3), hosts - h);
        if (!worlds.one_in(3)) {
            HoldingJob job;
            job.holder.job = base::JobId(1 + h);
            for (auto i = h; i < h + count; ++i)
                job.holder.hosts.push_back(i);
            if (!worlds.one_in(4)) job.holder.ends = noon + std::chrono::minutes(10 * (1 + worlds.below(12)));
            job.since = noon - std::chrono::minutes(worlds.below(5));
            queue.holding.push_back(job);
        }
        h += count;
    }
    const auto waiting = 1 + worlds.below(8);
    for (std::uint32_t i = 0; i < waiting; ++i)
        queue.waiting.push_back(worlds.gang(base::JobId(100 + i), hosts, noon));
    return queue;
}

bool meet(const Hosts& a, const Hosts& b) {
    return std::any_of(a.begin(), a.end(), [&](auto h) { return std::count(b.begin(), b.end(), h) != 0; });
}

// Whether two reservations leave each other alone: other hosts, or one after the other.
bool apart(const Queue& queue, const Reservation& a, const Reservation& b) {
    if (!a.at || !b.at) return true; // moments that nobody knows
    const auto limit = [&](const Reservation& reservation) {
        return std::find_if(queue.waiting.begin(), queue.waiting.end(),
                            [&](const WaitingGang& gang) { return gang.job == reservation.job; })
            ->limit;
    };
    const auto before = [&](const Reservation& first, const Reservation& second) {
        const auto runs = limit(first);
        return runs && *first.at + *runs <= *second.at;
    };
    return before(a, b) || before(b, a) || !meet(a.placement.hosts, b.placement.hosts);
}

using Moments = std::map<base::JobId, base::Time>;

// The promise to a gang only comes nearer. Whether it is the first to it.
bool keeps(Moments& promised, const Reservation& first) {
    const auto [at, fresh] = promised.emplace(first.job, *first.at);
    REQUIRE(*first.at <= at->second);
    at->second = *first.at;
    return fresh;
}

// On to what happens next, or a little while. What a promise rests on happens then: a job ends, or a gang's
// wish for a span does. A clock that went past the end of a wish would find the gang later than promised,
// and the fault would be the clock's.
void move_on(Queue& queue, const Moments& ends) {
    auto step = queue.now + 10min;
    for (const auto& job : queue.holding)
        step = std::min(step, ends.at(job.holder.job));
    for (const auto& gang : queue.waiting)
        if (gang.hints.span_wait)
            if (const auto wish_ends = gang.eligible + *gang.hints.span_wait; wish_ends > queue.now)
                step = std::min(step, wish_ends);
    queue.now = std::max(step, queue.now + 1min);
}

} // namespace

TEST_CASE("the dispatcher starts what EASY starts, where EASY starts it") {
    std::uint32_t started = 0, behind = 0, reserved = 0, missed = 0, refused = 0;
    for (std::uint32_t seed = 1; seed <= 20'000; ++seed) {
        Worlds worlds(seed);
        const auto fabric = worlds.fabric();
        const auto queue = random_queue(worlds, fabric);
        Options options;
        if (worlds.one_in(4)) options.spare_floor = 1;
        options.steps = 1'000'000'000;
        const Placer placer(fabric);
        const auto plan = dispatch(fabric, placer, queue, options);
        REQUIRE(plan);
        Easy easy(fabric, queue, options.spare_floor);
        easy.run();
        INFO("seed " << seed);
        std::map<base::JobId, Hosts> starts;
        for (const auto& start : plan->starts) {
            auto hosts = start.placement.hosts;
            starts[start.job] = hosts;
            behind += start.backfilled ? 1 : 0;
        }
        REQUIRE(starts == easy.starts);
        REQUIRE(plan->reservations.size() == (easy.head ? 1U : 0U));
        if (easy.head) {
            ++reserved;
            REQUIRE(plan->reservations[0].job == *easy.head);
            if (plan->reservations[0].at) REQUIRE(*plan->reservations[0].at == easy.shadow);
        }
        started += static_cast<std::uint32_t>(starts.size());
        missed += easy.missed;
        for (const auto& verdict : plan->verdicts)
            refused += verdict.kind == Kind::would_delay ? 1 : 0;
    }
    CHECK(started > 10'000);
    CHECK(behind > 2'000);
    CHECK(reserved > 10'000);
    // Of those that have to wait behind a reservation few could have gone on hosts that were not tried.
    INFO(missed << " of " << refused << " refused had another place");
    CHECK(refused > 2'000);
    CHECK(missed * 50 < refused);
}

// A queue lived through: gangs come, run for at most their limits, and end.
TEST_CASE("no gang is started after its promise, every gang starts, and nobody shares a host") {
    std::uint32_t promises = 0, ahead = 0;
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        Worlds worlds(seed);
        const auto fabric = worlds.fabric();
        const auto hosts = static_cast<std::uint32_t>(fabric.hosts.size());
        const Placer placer(fabric);
        Options options;
        options.reservations = 1 + worlds.below(3);
        options.steps = worlds.one_in(3) ? 1 : 0; // one behind the reservation at a time
        const bool endless = worlds.one_in(3);
        Queue queue;
        queue.now = noon;
        Moments promised, ends;
        std::uint32_t next = 1, to_come = 40, passes = 0;
        INFO("seed " << seed);
        while (to_come > 0 || !queue.waiting.empty() || !queue.holding.empty()) {
            REQUIRE(++passes < 5000);
            // What has ended is gone.
            std::erase_if(queue.holding,
                          [&](const HoldingJob& job) { return ends.at(job.holder.job) <= queue.now; });
            while (to_come > 0 && !worlds.one_in(3)) {
                auto gang = worlds.gang(base::JobId(next++), hosts, queue.now);
                gang.eligible = queue.now;
                if (!gang.limit && !endless) gang.limit = std::chrono::minutes(15);
                --to_come;
                if (placer.fits(Snapshot::all_free(fabric), [&] {
                        auto request = gang.request;
                        apply_hints(gang.hints, 0s, request);
                        return request;
                    }()))
                    queue.waiting.push_back(gang);
            }
            queue.snapshot = Snapshot::all_free(fabric);
            const auto plan = dispatch(fabric, placer, queue, options);
            REQUIRE(plan);
            queue.resume = plan->resume;
            std::vector<std::uint8_t> taken(hosts, 0);
            for (const auto& job : queue.holding)
                for (const auto h : job.holder.hosts)
                    REQUIRE(taken[h]++ == 0);
            for (const auto& start : plan->starts) {
                for (const auto h : start.placement.hosts)
                    REQUIRE(taken[h]++ == 0);
                if (promised.contains(start.job)) REQUIRE(queue.now <= promised.at(start.job));
                ahead += start.backfilled ? 1 : 0;
                const auto gang =
                    std::find_if(queue.waiting.begin(), queue.waiting.end(),
                                 [&](const WaitingGang& waits) { return waits.job == start.job; });
                HoldingJob job;
                job.holder = {start.job, start.ends, start.placement.hosts};
                job.since = queue.now;
                const auto minutes = std::chrono::minutes(5 * (1 + worlds.below(24)));
                ends[start.job] =
                    queue.now + (gang->limit ? std::min<base::Duration>(*gang->limit, minutes) : minutes);
                queue.holding.push_back(job);
                queue.waiting.erase(gang);
            }
            // Hosts do not stand idle while the first gang has a place.
            if (!queue.waiting.empty()) {
                const auto& first = queue.waiting.front();
                auto request = first.request;
                apply_hints(first.hints, queue.now - first.eligible, request);
                auto snapshot = Snapshot::all_free(fabric);
                for (std::uint32_t h = 0; h < hosts; ++h)
                    if (taken[h] != 0) snapshot.states[h] = HostState::busy;
                REQUIRE_FALSE(placer.fits(snapshot, request));
            }
            for (const auto& one : plan->reservations)
                for (const auto& other : plan->reservations)
                    REQUIRE((&one == &other || apart(queue, one, other)));
            for (const auto& reserved : plan->reservations)
                for (const auto& job : queue.holding)
                    REQUIRE((!reserved.at || !job.holder.ends || *job.holder.ends <= *reserved.at ||
                             !meet(job.holder.hosts, reserved.placement.hosts)));
            if (!plan->reservations.empty() && plan->reservations[0].at) {
                const auto& first = plan->reservations[0];
                REQUIRE(first.job == queue.waiting.front().job);
                promises += keeps(promised, first) ? 1 : 0;
            }
            move_on(queue, ends);
        }
    }
    CHECK(promises > 1000);
    CHECK(ahead > 300);
}

TEST_CASE("where hosts are shared no host is overfull, and promises are kept") {
    std::uint32_t promises = 0, together = 0;
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        Worlds worlds(seed);
        const auto fabric = worlds.fabric();
        const auto hosts = static_cast<std::uint32_t>(fabric.hosts.size());
        const Placer placer(fabric);
        Options options;
        options.share_hosts = true;
        Queue queue;
        queue.now = noon;
        queue.slots.assign(hosts, 8);
        Moments promised, ends;
        std::uint32_t next = 1, to_come = 40, passes = 0;
        INFO("seed " << seed);
        while (to_come > 0 || !queue.waiting.empty() || !queue.holding.empty()) {
            REQUIRE(++passes < 5000);
            std::erase_if(queue.holding,
                          [&](const HoldingJob& job) { return ends.at(job.holder.job) <= queue.now; });
            for (; to_come > 0 && !worlds.one_in(3); --to_come) {
                WaitingGang gang;
                gang.job = base::JobId(next++);
                gang.request.nodes = 1 + worlds.below(hosts);
                gang.slots = worlds.below(9); // 0: the whole host
                gang.eligible = queue.now;
                gang.limit = std::chrono::minutes(10 * (1 + worlds.below(12)));
                queue.waiting.push_back(gang);
            }
            std::vector<std::uint32_t> used(hosts, 0);
            queue.snapshot = Snapshot::all_free(fabric);
            for (const auto& job : queue.holding)
                for (const auto h : job.holder.hosts) {
                    used[h] += job.slots.empty() ? 8 : job.slots.front();
                    queue.snapshot.states[h] = used[h] < 8 ? HostState::mixed : HostState::busy;
                }
            const auto plan = dispatch(fabric, placer, queue, options);
            REQUIRE(plan);
            queue.resume = plan->resume;
            for (const auto& start : plan->starts) {
                if (promised.contains(start.job)) REQUIRE(queue.now <= promised.at(start.job));
                const auto gang =
                    std::find_if(queue.waiting.begin(), queue.waiting.end(),
                                 [&](const WaitingGang& waits) { return waits.job == start.job; });
                HoldingJob job;
                job.holder = {start.job, start.ends, start.placement.hosts};
                job.since = queue.now;
                if (gang->slots != 0) job.slots.assign(start.placement.hosts.size(), gang->slots);
                for (const auto h : start.placement.hosts) {
                    together += used[h] > 0 ? 1 : 0;
                    used[h] += gang->slots == 0 ? 8 : gang->slots;
                    REQUIRE(used[h] <= 8);
                }
                ends[start.job] =
                    queue.now +
                    std::min<base::Duration>(*gang->limit, std::chrono::minutes(5 * (1 + worlds.below(24))));
                queue.holding.push_back(job);
                queue.waiting.erase(gang);
            }
            if (!plan->reservations.empty()) {
                const auto& first = plan->reservations[0];
                REQUIRE(first.at);
                promises += keeps(promised, first) ? 1 : 0;
            }
            move_on(queue, ends);
        }
    }
    CHECK(promises > 1000);
    CHECK(together > 500);
}
