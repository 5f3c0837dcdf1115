#include "restart/watch/fabric/counter_sweep.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <unordered_map>

namespace restart {
namespace {

using What = CounterLine::What;
using Outcome = CounterLine::Outcome;
using Clock = std::chrono::steady_clock;

// A number encodes the place in the window and its turn, so that a late answer does not match the next query
// at that place.
constexpr unsigned place_bits = 10;
constexpr std::uint32_t most_places = 1U << place_bits;
// A query that the line loses without reporting it is given up this long after its timeout.
constexpr base::Duration slack{250};

class Sweep {
public:
    Sweep(CounterLine& line, std::vector<CounterTarget> targets, const CounterSweepLimits& limits)
        : line_(line), limits_(limits), places_(std::clamp(limits.window, 1U, most_places)) {
        result_.readings.reserve(targets.size());
        for (const auto& target : targets) {
            auto& reading = result_.readings.emplace_back();
            reading.node = target.node;
            reading.lid = target.lid;
            reading.port = target.port;
            reading.abilities = target.abilities;
        }
        free_.resize(places_.size());
        std::iota(free_.rbegin(), free_.rend(), 0U);
        parts_left_.resize(targets.size());
    }

    base::Expected<CounterSweep> run() {
        const auto until = line_.now() + limits_.longest;
        ask_abilities();
        auto done = drain(until);
        ask_counters();
        if (done) done = drain(until);
        result_.whole = done && todo_.empty() && free_.size() == places_.size();
        for (std::size_t i = 0; i < result_.readings.size(); ++i)
            result_.readings[i].answered = asked_ && parts_left_[i] == 0;
        const bool any = std::any_of(result_.readings.begin(), result_.readings.end(),
                                     [](const PortReading& reading) { return reading.answered; });
        if (!done && !any) return std::move(done).error();
        return std::move(result_);
    }

private:
    struct Job {
        std::uint32_t target = 0;
        What what = What::counters;
        std::uint32_t tried = 0;
    };
    struct Place {
        Job job;
        std::uint32_t turn = 0;
        bool used = false;
        Clock::time_point due{};
    };
    struct Device {
        std::uint32_t silent = 0; // unanswered queries
        bool lives = false;       // it has answered once
        std::uint8_t abilities = 0;
    };

    Device& device_of(std::uint32_t target) { return devices_[result_.readings[target].node]; }

    // Once per device, at its first port.
    void ask_abilities() {
        for (std::uint32_t i = 0; i < result_.readings.size(); ++i) {
            const auto& reading = result_.readings[i];
            const auto [device, first] = devices_.try_emplace(reading.node);
            if (!first) continue;
            if ((reading.abilities & pm::known) != 0)
                device->second.abilities = reading.abilities;
            else
                todo_.push_back({i, What::abilities});
        }
    }

    // The first ports of all devices, then the second ones, and so on.
    void ask_counters() {
        std::vector<std::uint32_t> order(result_.readings.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return result_.readings[a].port < result_.readings[b].port;
        });
        todo_.clear();
        for (const auto i : order) {
            auto& reading = result_.readings[i];
            reading.abilities = device_of(i).abilities;
            todo_.push_back({i, What::counters});
            parts_left_[i] = 1;
            if ((reading.abilities & pm::extended) == 0) continue;
            todo_.push_back({i, What::extended});
            parts_left_[i] = 2;
        }
        asked_ = true;
    }

    // Until every query is answered or given up. Error: the line is broken.
    base::Expected<void> drain(Clock::time_point until) {
        while (!todo_.empty() || free_.size() < places_.size()) {
            const auto now = line_.now();
            if (now >= until) return {};
            if (auto sent = fill(now); !sent) return sent;
            if (free_.size() == places_.size()) continue; // all queries were given up
            auto answer = line_.next(limits_.timeout);
            if (!answer) return std::move(answer).error();
            if (*answer) take(**answer);
            // This walk is long only if a line loses queries, and then the sweep waits anyway.
            if (!*answer || line_.now() >= overdue_at_) expire(line_.now());
        }
        return {};
    }

    base::Expected<void> fill(Clock::time_point now) {
        while (!free_.empty() && !todo_.empty()) {
            const auto job = todo_.front();
            todo_.pop_front();
            const auto& device = device_of(job.target);
            if (!device.lives && device.silent >= limits_.patience * limits_.tries) continue;
            const auto at = free_.back();
            auto& place = places_[at];
            place.job = job;
            place.used = true;
            ++place.turn;
            place.due = now + limits_.timeout + slack;
            const auto& reading = result_.readings[job.target];
            if (auto sent = line_.ask({number_of(at), reading.lid, reading.port, job.what}, limits_.timeout);
                !sent)
                return sent;
            free_.pop_back();
        }
        return {};
    }

    std::uint32_t number_of(std::uint32_t at) const { return places_[at].turn << place_bits | at; }

    void take(const CounterLine::Answer& answer) {
        const auto at = answer.number & (most_places - 1);
        if (at >= places_.size() || !places_[at].used || number_of(at) != answer.number) return; // late
        const auto job = places_[at].job;
        release(at);
        if (answer.outcome == Outcome::silent || answer.outcome == Outcome::busy) {
            again(job, answer.outcome == Outcome::busy);
            return;
        }
        auto& device = device_of(job.target);
        device.lives = true;
        auto& reading = result_.readings[job.target];
        if (job.what == What::abilities) {
            // A device that refuses has the counters that all devices have.
            device.abilities = static_cast<std::uint8_t>(
                pm::known | (answer.outcome == Outcome::answered ? answer.part.abilities : 0));
            return;
        }
        // Without the extended counters the basic ones are used.
        if (answer.outcome == Outcome::refused && job.what == What::counters) return;
        if (answer.outcome == Outcome::refused)
            reading.abilities = static_cast<std::uint8_t>(reading.abilities & ~pm::extended);
        merge(answer.part, job.what, reading);
        --parts_left_[job.target];
    }

    static void merge(const PortReading& part, What what, PortReading& into) {
        auto has = part.has;
        if (what == What::extended && (into.abilities & pm::additional) == 0)
            has &= bit_of(PortCounter::transmit_words) | bit_of(PortCounter::receive_words) |
                   bit_of(PortCounter::transmit_packets) | bit_of(PortCounter::receive_packets);
        if (what == What::counters && (into.abilities & pm::waits) == 0)
            has &= ~bit_of(PortCounter::transmit_waits);
        for (std::size_t i = 0; i < port_counters; ++i) {
            const auto bit = std::uint32_t{1} << i;
            if ((has & bit) == 0 || ((into.wide & ~part.wide) & bit) != 0) continue;
            into.values[i] = part.values[i];
            into.has |= bit;
            into.wide = (into.wide & ~bit) | (part.wide & bit);
        }
    }

    void again(Job job, bool lives) {
        auto& device = device_of(job.target);
        device.lives = device.lives || lives;
        ++device.silent;
        if (++job.tried >= limits_.tries) return;
        ++result_.asked_again;
        todo_.push_back(job);
    }

    void release(std::uint32_t at) {
        places_[at].used = false;
        free_.push_back(at);
    }

    void expire(Clock::time_point now) {
        overdue_at_ = now + slack;
        for (std::uint32_t at = 0; at < places_.size(); ++at) {
            if (!places_[at].used || places_[at].due > now) continue;
            const auto job = places_[at].job;
            release(at);
            again(job, false);
        }
    }

    CounterLine& line_;
    CounterSweepLimits limits_;
    std::vector<Place> places_;
    std::vector<std::uint32_t> free_;
    std::deque<Job> todo_;
    std::unordered_map<topo::Guid, Device> devices_;
    std::vector<std::uint8_t> parts_left_; // of each target
    CounterSweep result_;
    Clock::time_point overdue_at_{};
    bool asked_ = false;
};

} // namespace

base::Expected<CounterSweep> sweep_counters(CounterLine& line, std::vector<CounterTarget> targets,
                                            const CounterSweepLimits& limits) {
    return Sweep(line, std::move(targets), limits).run();
}

} // namespace restart
