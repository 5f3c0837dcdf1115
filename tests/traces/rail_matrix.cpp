#include "traces/rail_matrix.hpp"

#include "check/net/tournament.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace trace {

void RailMatrix::slow_host(std::uint32_t host, double by) {
    for (std::uint32_t rail = 0; rail < shape_.rails; ++rail)
        slow_cable(host, rail, by);
}

void RailMatrix::slow_leaf(std::uint32_t leaf, std::uint32_t rail, double by) {
    const auto first = leaf * shape_.hosts_a_leaf;
    for (auto host = first; host < std::min(first + shape_.hosts_a_leaf, shape_.hosts); ++host)
        slow_cable(host, rail, by);
}

std::vector<check::net::Cell> RailMatrix::measure(std::uint64_t seed, std::uint32_t rounds) const {
    const check::net::Tournament tournament(shape_.hosts);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, shape_.noise);
    std::uniform_real_distribution<double> chance(0, 1);
    std::vector<check::net::Cell> cells;
    for (const auto round : check::net::some_rounds(tournament.rounds(), rounds, seed))
        for (std::uint32_t a = 0; a < shape_.hosts; ++a) {
            const auto b = tournament.opponent(round, a);
            if (!b || *b < a) continue;
            for (std::uint32_t rail = 0; rail < shape_.rails; ++rail) {
                const double hiccup = chance(random) < shape_.hiccups ? std::log(2.0) : 0;
                cells.push_back(
                    {a, *b, rail,
                     std::max({slow_[at(a, rail)], slow_[at(*b, rail)], hiccup}) + noise(random)});
            }
        }
    return cells;
}

std::vector<std::optional<std::uint32_t>> RailMatrix::leaves() const {
    std::vector<std::optional<std::uint32_t>> leaves;
    for (std::uint32_t host = 0; host < shape_.hosts; ++host)
        leaves.insert(leaves.end(), shape_.rails, host / shape_.hosts_a_leaf);
    return leaves;
}

} // namespace trace
