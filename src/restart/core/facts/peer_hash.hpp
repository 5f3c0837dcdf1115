// Spreads who looks at whom over all hosts, the same way after each restart and in each build.
#pragma once

#include "base/fnv.hpp"

#include <cstdint>
#include <string_view>

namespace restart {

// A number for the pair. Mixed once more than Fnv1a does, because names differ in their last letters.
constexpr std::uint64_t spread(std::string_view host, std::string_view peer) {
    base::Fnv1a both;
    both.add(host);
    both.add(0);
    both.add(peer);
    std::uint64_t hash = both.value();
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
    return hash ^ (hash >> 31);
}

} // namespace restart
