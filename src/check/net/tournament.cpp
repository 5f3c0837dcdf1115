#include "check/net/tournament.hpp"

#include <numeric>
#include <random>
#include <utility>

namespace check::net {

// The last of an even number of places is fixed; of the others, two meet if their numbers add up to the
// round, modulo their count. With an odd number of hosts the last place is empty.
std::optional<std::uint32_t> Tournament::opponent(std::uint32_t round, std::uint32_t host) const {
    const std::uint64_t moving = rounds();
    const auto place = static_cast<std::uint64_t>(host);
    const std::uint64_t own = (moving + 1) / 2 * round % moving; // twice this is the round: meets the last
    std::uint64_t other = 0;
    if (place == moving)
        other = own;
    else if (place == own)
        other = moving;
    else
        other = (moving + round - place) % moving;
    if (other >= hosts_) return {};
    return static_cast<std::uint32_t>(other);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Tournament::pairs(std::uint32_t round) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::uint32_t host = 0; host < hosts_; ++host)
        if (const auto other = opponent(round, host); other && host < *other)
            pairs.emplace_back(host, *other);
    return pairs;
}

std::vector<std::uint32_t> some_rounds(std::uint32_t rounds, std::uint32_t count, std::uint64_t seed) {
    std::vector<std::uint32_t> all(rounds);
    std::iota(all.begin(), all.end(), 0u);
    if (count == 0 || count >= rounds) return all;
    // Not std::shuffle, whose order depends on the library.
    std::mt19937_64 random(seed);
    for (std::uint32_t i = 0; i < count; ++i)
        std::swap(all[i], all[i + random() % (rounds - i)]);
    all.resize(count);
    return all;
}

} // namespace check::net
