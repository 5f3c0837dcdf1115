#include "check/net/culprits.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace check::net {

namespace {

// Standard deviations that the largest of `values` normal values exceeds with this chance.
double deviations(std::size_t values, double chance) {
    double low = 0, high = 12;
    const double wanted = chance / static_cast<double>(std::max<std::size_t>(values, 1));
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (std::erfc(middle / std::sqrt(2.0)) / 2 > wanted ? low : high) = middle;
    }
    return high;
}

// A quarter of the others' bandwidth, or four times their latency: sound ends of one rail never differ that
// much, even if a small gang has few ends and one bad moment.
const double beyond_any_spread = std::log(4.0);

// How much slower an end must be to be named, given the number of its measures.
class Threshold {
public:
    Threshold(const Fit& fit, const Bar& bar)
        : noise_(fit.noise), least_(bar.least), deviations_(deviations(fit.ends.size(), bar.chance)) {
        // An end that defines its rail's level says nothing about how ends differ, and with few hosts others
        // are fitted to the same value. Equal values show that ends do not differ only if most have them.
        std::vector<double> off;
        std::size_t alike = 0;
        for (const auto& end : fit.ends)
            if (end.heard > 0) {
                if (end.slowness != 0)
                    off.push_back(std::abs(end.slowness));
                else
                    ++alike;
            }
        if (alike > off.size() + fit.rails) return;
        // With few ends the spread itself is uncertain.
        const double unsure = off.empty() ? 1 : 1 + 4 / static_cast<double>(off.size());
        spread_ = 1.4826 * unsure * quantile(std::move(off), 0.5);
    }
    double of(std::uint32_t heard) const {
        // With this few measures a Huber mean is a tenth less certain than a mean.
        const double unsure = 1.1 * noise_ / std::sqrt(static_cast<double>(std::max(heard, 1u)));
        const double spread = std::min(deviations_ * spread_, beyond_any_spread);
        return std::max({least_, deviations_ * unsure, spread});
    }

private:
    double noise_, least_, deviations_;
    double spread_ = 0; // how much sound ends differ
};

// The ends; what is common to several of them is subtracted once it is named.
class Matrix {
public:
    Matrix(const Fit& fit, const Bar& bar) : fit_(fit), threshold_(fit, bar) {
        for (const auto& end : fit.ends)
            left_.push_back(end.slowness);
    }
    std::size_t at(std::uint32_t host, std::uint32_t rail) const {
        return static_cast<std::size_t>(host) * fit_.rails + rail;
    }
    // The slowness that more than half of these have above the rest, if it is enough to be named.
    std::optional<double> take_common(const std::vector<std::size_t>& ends) {
        std::vector<double> values;
        std::uint32_t most = 0;
        for (const auto end : ends)
            if (fit_.ends[end].heard > 0) {
                values.push_back(left_[end]);
                most = std::max(most, fit_.ends[end].heard);
            }
        if (values.empty()) return {};
        const double common = quantile(std::move(values), 0.5);
        if (common <= threshold_.of(most)) return {};
        for (const auto end : ends)
            left_[end] -= common;
        return common;
    }
    double threshold(std::uint32_t heard) const { return threshold_.of(heard); }

private:
    const Fit& fit_;
    Threshold threshold_;
    std::vector<double> left_;
};

void name_rails(const Fit& fit, const Matrix& matrix, std::vector<Culprit>& named) {
    std::vector<double> levels;
    for (std::uint32_t rail = 0; rail < fit.rails; ++rail)
        levels.push_back(fit.level[rail]);
    const double rest = quantile(levels, 0.5);
    for (std::uint32_t rail = 0; rail < fit.rails; ++rail) {
        // A level is based on all of a rail's ends, but sound rails differ as much as sound ends do.
        std::uint32_t most = 0;
        for (std::uint32_t host = 0; host < fit.hosts; ++host)
            most = std::max(most, fit.end(host, rail).heard);
        const double over = fit.level[rail] - rest;
        if (most > 0 && over > matrix.threshold(most)) named.push_back({Part::rail, {}, rail, {}, over});
    }
}

} // namespace

std::string_view to_string(Part part) {
    switch (part) {
    case Part::rail: return "rail";
    case Part::leaf: return "leaf";
    case Part::host: return "host";
    case Part::cable: break;
    }
    return "cable";
}

double threshold(const Fit& fit, std::uint32_t heard, const Bar& bar) {
    return Threshold(fit, bar).of(heard);
}

std::vector<Culprit> culprits(const Fit& fit, const std::vector<std::optional<std::uint32_t>>& leaves,
                              const Bar& bar) {
    std::vector<Culprit> named;
    Matrix matrix(fit, bar);
    name_rails(fit, matrix, named);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> below; // rail and leaf
    for (std::uint32_t host = 0; host < fit.hosts && !leaves.empty(); ++host)
        for (std::uint32_t rail = 0; rail < fit.rails; ++rail)
            if (const auto& leaf = leaves[matrix.at(host, rail)])
                below[{rail, *leaf}].push_back(matrix.at(host, rail));
    for (const auto& [place, ends] : below)
        if (ends.size() > 1) // a single cable is reported as a cable
            if (const auto over = matrix.take_common(ends))
                named.push_back({Part::leaf, {}, place.first, place.second, *over});
    for (std::uint32_t host = 0; host < fit.hosts; ++host) {
        std::vector<std::size_t> rails;
        for (std::uint32_t rail = 0; rail < fit.rails; ++rail)
            rails.push_back(matrix.at(host, rail));
        if (const auto over = matrix.take_common(rails)) named.push_back({Part::host, host, {}, {}, *over});
        for (std::uint32_t rail = 0; rail < fit.rails; ++rail)
            if (const auto over = matrix.take_common({rails[rail]}))
                named.push_back({Part::cable, host, rail, {}, *over});
    }
    std::stable_sort(named.begin(), named.end(),
                     [](const auto& a, const auto& b) { return a.slowness > b.slowness; });
    return named;
}

} // namespace check::net
