#include "check/net/fit.hpp"

#include <algorithm>
#include <cmath>

namespace check::net {

namespace {

constexpr double to_deviation = 1.4826; // of a normal distribution's median absolute deviation
constexpr double least_noise = 1e-3;    // a clock's resolution: smaller differences mean nothing
constexpr double apart = 3;             // deviations by which a slower partner masks an end
constexpr double bend = 1.345;          // Huber's: 95 % of the mean's efficiency where noise is normal
constexpr int most_turns = 20;

struct Heard {
    std::uint32_t partner = 0; // its end
    double slowness = 0;
};

// Measures grouped by end.
class Book {
public:
    Book(const std::vector<Cell>& cells, std::uint32_t hosts, std::uint32_t rails)
        : first_(static_cast<std::size_t>(hosts) * rails + 1) {
        const auto end_of = [&](std::uint32_t host, std::uint32_t rail) {
            return static_cast<std::size_t>(host) * rails + rail;
        };
        for (const auto& cell : cells)
            if (std::isfinite(cell.slowness)) {
                ++first_[end_of(cell.a, cell.rail) + 1];
                ++first_[end_of(cell.b, cell.rail) + 1];
            }
        for (std::size_t end = 1; end < first_.size(); ++end)
            first_[end] += first_[end - 1];
        heard_.resize(first_.back());
        auto next = first_;
        for (const auto& cell : cells)
            if (std::isfinite(cell.slowness)) {
                const auto a = end_of(cell.a, cell.rail), b = end_of(cell.b, cell.rail);
                heard_[next[a]++] = {static_cast<std::uint32_t>(b), cell.slowness};
                heard_[next[b]++] = {static_cast<std::uint32_t>(a), cell.slowness};
            }
    }
    std::size_t ends() const { return first_.size() - 1; }
    const Heard* begin(std::size_t end) const { return heard_.data() + first_[end]; }
    const Heard* end(std::size_t end) const { return heard_.data() + first_[end + 1]; }

private:
    std::vector<std::size_t> first_;
    std::vector<Heard> heard_;
};

// Reorders the values.
double element(std::vector<double>& values, double share) {
    if (values.empty()) return 0;
    const auto at =
        values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

double huber_mean(std::vector<double>& values, double scale) {
    const auto upper = static_cast<std::ptrdiff_t>(values.size() / 2);
    double mean = element(values, 0.5);
    if (values.size() % 2 == 0) {
        std::nth_element(values.begin(), values.begin() + upper, values.end());
        mean = (mean + values[static_cast<std::size_t>(upper)]) / 2;
    }
    for (int turn = 0; turn < 3; ++turn) {
        double sum = 0, weights = 0;
        for (const double value : values) {
            const double off = std::abs(value - mean);
            const double weight = off <= bend * scale ? 1 : bend * scale / off;
            sum += weight * value;
            weights += weight;
        }
        mean = sum / weights;
    }
    return mean;
}

// One pass over all ends; returns the largest change.
double turn(const Book& book, double noise, std::vector<End>& ends, std::vector<double>& values) {
    double moved = 0;
    for (std::size_t end = 0; end < book.ends(); ++end) {
        if (book.begin(end) == book.end(end)) continue;
        values.clear();
        for (const auto* heard = book.begin(end); heard != book.end(end); ++heard)
            if (ends[heard->partner].slowness <= ends[end].slowness + apart * noise)
                values.push_back(heard->slowness);
        double now = 0;
        ends[end].heard = static_cast<std::uint32_t>(values.size());
        if (values.empty()) { // all its partners are slower: it is at least as fast as the fastest of them
            for (const auto* heard = book.begin(end); heard != book.end(end); ++heard)
                values.push_back(heard->slowness);
            now = *std::min_element(values.begin(), values.end());
            ends[end].heard = 1;
        } else {
            now = huber_mean(values, noise);
            // Measures in two groups: what the faster half does not show is not caused by this end.
            if (const double half = element(values, 0.5); now - half > noise) now = half;
        }
        moved = std::max(moved, std::abs(now - ends[end].slowness));
        ends[end].slowness = now;
    }
    return moved;
}

double noise_of(const Book& book, const std::vector<End>& ends) {
    std::vector<double> left;
    for (std::size_t end = 0; end < book.ends(); ++end)
        for (const auto* heard = book.begin(end); heard != book.end(end); ++heard)
            left.push_back(
                std::abs(heard->slowness - std::max(ends[end].slowness, ends[heard->partner].slowness)));
    if (left.empty()) return least_noise;
    // Each end that was fitted absorbed some of the noise; every measure is counted twice here.
    const auto measures = static_cast<double>(left.size()) / 2;
    const double fitted = static_cast<double>(
        std::count_if(ends.begin(), ends.end(), [](const End& end) { return end.heard > 0; }));
    const double share = std::max((measures - fitted) / measures, 0.1);
    return std::max(least_noise, to_deviation * element(left, 0.5) / std::sqrt(share));
}

} // namespace

double quantile(std::vector<double> values, double share) {
    return element(values, share);
}

Fit fit(const std::vector<Cell>& cells, std::uint32_t hosts, std::uint32_t rails) {
    Fit made{hosts, rails, std::vector<double>(rails), {}, least_noise};
    const Book book(cells, hosts, rails);
    made.ends.resize(book.ends());
    std::vector<double> values;
    // Each starts with what its faster partners measured: right if a quarter of these are sound.
    for (std::size_t end = 0; end < book.ends(); ++end) {
        values.clear();
        for (const auto* heard = book.begin(end); heard != book.end(end); ++heard)
            values.push_back(heard->slowness);
        made.ends[end].slowness = element(values, 0.25);
    }
    // The first noise is estimated from these initial values and mostly too large; the second from the fit.
    for (int pass = 0; pass < 2; ++pass) {
        made.noise = noise_of(book, made.ends);
        for (int i = 0; i < most_turns && turn(book, made.noise, made.ends, values) > made.noise / 100; ++i) {
        }
    }
    made.noise = noise_of(book, made.ends);
    for (std::uint32_t rail = 0; rail < rails; ++rail) {
        values.clear();
        for (std::uint32_t host = 0; host < hosts; ++host)
            if (made.end(host, rail).heard > 0) values.push_back(made.end(host, rail).slowness);
        made.level[rail] = element(values, 0.5);
        for (std::uint32_t host = 0; host < hosts; ++host)
            made.ends[static_cast<std::size_t>(host) * rails + rail].slowness -= made.level[rail];
    }
    return made;
}

} // namespace check::net
