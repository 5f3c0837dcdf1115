// Disjoint sets of small numbers (union–find): which things are connected.
#pragma once

#include "topo/names.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace topo {

// The representative of a set is its smallest member.
class Sets {
public:
    explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
    int find(int x) {
        while (parent_[at(x)] != x)
            x = parent_[at(x)] = parent_[at(parent_[at(x)])];
        return x;
    }
    void join(int a, int b) {
        a = find(a);
        b = find(b);
        parent_[at(std::max(a, b))] = std::min(a, b);
    }

private:
    std::vector<int> parent_;
};

} // namespace topo
