#include "restart/core/estimate/rates.hpp"

#include "restart/core/estimate/gamma.hpp"

#include <algorithm>
#include <utility>

namespace restart {
namespace {

// How many faults, and for how many times `together`, they are kept for comparison with later ones.
constexpr std::size_t most_recent = 64;
constexpr int remembered = 10;
// A longer repair does not count: the host was given up.
constexpr base::Duration longest_repair = std::chrono::days(30);
// At most one shared fault within this time: its first hosts return before the last have failed.
constexpr base::Duration shared_once = std::chrono::minutes(10);

LearnedPeriod& period_of(Learned& learned, base::Time now) {
    const auto since = std::max(now.time_since_epoch(), base::Duration::zero());
    const auto number = static_cast<std::uint64_t>(since / learned_period);
    auto& periods = learned.periods;
    // After a clock was set back, counts go to the latest period.
    if (periods.empty() || number > periods.back().number) periods.push_back({number, 0, 0, 0});
    if (periods.size() > most_periods) periods.erase(periods.begin());
    return periods.back();
}

// A fault that was counted as a host's own but was not.
void take_back_fault(Learned& learned) {
    const auto counted = std::find_if(learned.periods.rbegin(), learned.periods.rend(),
                                      [](const LearnedPeriod& period) { return period.faults > 0; });
    if (counted != learned.periods.rend()) --counted->faults;
}

LearnedPeriod sum_of(const Learned& learned) {
    LearnedPeriod sum;
    for (const auto& period : learned.periods) {
        sum.host_seconds += period.host_seconds;
        sum.faults += period.faults;
        sum.shared += period.shared;
    }
    return sum;
}

// Of the posterior.
double shape_of(const LearnedPeriod& sum, const Prior& prior) {
    return prior.faults + sum.faults;
}
double seconds_of(const LearnedPeriod& sum, const Prior& prior) {
    return prior.faults * base::to_seconds(prior.mtbf) + static_cast<double>(sum.host_seconds);
}

// Pearson's statistic over its degrees of freedom. `few`: this many are assumed to show none at first, as a
// handful of periods says little.
double dispersion_of(const Learned& learned, const LearnedPeriod& sum) {
    constexpr double few = 2;
    if (sum.faults == 0 || learned.periods.size() < 2) return 1;
    double squares = few;
    for (const auto& period : learned.periods) {
        const auto expected = static_cast<double>(sum.faults) * static_cast<double>(period.host_seconds) /
                              static_cast<double>(std::max<std::uint64_t>(sum.host_seconds, 1));
        if (expected <= 0) continue;
        const auto off = static_cast<double>(period.faults) - expected;
        squares += off * off / expected;
    }
    return std::max(1.0, squares / (few + static_cast<double>(learned.periods.size() - 1)));
}

base::Duration capped(base::Duration time) {
    return std::clamp(time, base::Duration::zero(), longest_repair);
}

base::Duration from_seconds(double seconds) {
    constexpr double most = 1e11; // what the protocol carries
    return base::duration_from_seconds(std::min(seconds, most));
}

} // namespace

void count_exposure(Learned& learned, std::size_t hosts, base::Duration time, base::Time now) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
    if (seconds <= 0) return;
    period_of(learned, now).host_seconds += hosts * static_cast<std::uint64_t>(seconds);
}

void count_shared_fault(Learned& learned, base::Time now) {
    const auto since = now - learned.shared_at;
    if (learned.shared_at != base::Time{} && since >= base::Duration::zero() && since < shared_once) return;
    learned.shared_at = now;
    ++period_of(learned, now).shared;
}

std::vector<std::string> count_fault(Learned& learned, const std::string& host, base::Time at,
                                     base::Duration together, base::Time now) {
    auto& recent = learned.recent;
    std::erase_if(recent, [&](const RecentFault& other) {
        return other.host == host || other.at > now || now - other.at > remembered * together;
    });
    if (recent.size() >= most_recent) recent.erase(recent.begin());
    const auto mine = recent.insert(
        std::upper_bound(recent.begin(), recent.end(), at,
                         [](base::Time when, const RecentFault& other) { return when < other.at; }),
        {host, at, false});
    ++period_of(learned, now).faults;
    // The run of faults around this one, each close to the next.
    auto first = mine, last = mine;
    while (first != recent.begin() && first->at - std::prev(first)->at <= together)
        --first;
    while (std::next(last) != recent.end() && std::next(last)->at - last->at <= together)
        ++last;
    if (static_cast<std::size_t>(last - first) + 1 < least_shared) return {};
    if (std::none_of(first, std::next(last), [](const RecentFault& other) { return other.shared; }))
        count_shared_fault(learned, now);
    std::vector<std::string> not_theirs;
    for (auto one = first; one != std::next(last); ++one)
        if (!std::exchange(one->shared, true)) {
            take_back_fault(learned);
            not_theirs.push_back(one->host);
        }
    return not_theirs;
}

void add_sample(std::vector<base::Duration>& samples, base::Duration sample) {
    if (sample < base::Duration::zero()) return;
    if (samples.size() >= most_samples) samples.erase(samples.begin());
    samples.push_back(sample);
}

base::Duration host_mtbf(const Learned& learned, const Prior& prior) {
    const auto sum = sum_of(learned);
    return from_seconds(seconds_of(sum, prior) / shape_of(sum, prior));
}

FailureRate failure_rate(const Learned& learned, const Prior& prior) {
    const auto sum = sum_of(learned);
    FailureRate rate;
    rate.faults = sum.faults;
    rate.shared = sum.shared;
    rate.host_hours = static_cast<double>(sum.host_seconds) / 3600;
    const double shape = shape_of(sum, prior), seconds = seconds_of(sum, prior);
    rate.mtbf = from_seconds(seconds / shape);
    rate.dispersion = dispersion_of(learned, sum);
    const double known = shape / rate.dispersion; // this many independent faults give as much information
    rate.low = from_seconds(seconds / rate.dispersion / gamma_quantile(known, 0.9));
    rate.high = from_seconds(seconds / rate.dispersion / gamma_quantile(known, 0.1));
    return rate;
}

base::Duration mean_of(const std::vector<base::Duration>& samples) {
    if (samples.empty()) return {};
    double sum = 0;
    for (const auto& sample : samples)
        sum += base::to_seconds(sample);
    return from_seconds(sum / static_cast<double>(samples.size()));
}

TimeSummary summary_of(std::vector<base::Duration> samples) {
    TimeSummary summary;
    summary.count = samples.size();
    if (samples.empty()) return summary;
    std::sort(samples.begin(), samples.end());
    summary.mean = mean_of(samples);
    // The smallest value with at least that share at or below it.
    const auto rank = [&](std::size_t percent) { return samples[(samples.size() * percent + 99) / 100 - 1]; };
    summary.median = rank(50);
    summary.p90 = rank(90);
    return summary;
}

RepairTime repair_time(const Learned& learned, const Prior& prior,
                       const std::vector<base::Duration>& ongoing) {
    RepairTime repair;
    repair.seen = summary_of(learned.repairs);
    repair.ongoing = ongoing.size();
    double sum = prior.faults * base::to_seconds(prior.repair);
    for (const auto& time : learned.repairs)
        sum += base::to_seconds(capped(time));
    for (const auto& time : ongoing)
        sum += base::to_seconds(capped(time));
    repair.mean = from_seconds(sum / (prior.faults + static_cast<double>(learned.repairs.size())));
    return repair;
}

} // namespace restart
