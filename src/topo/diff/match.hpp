// Which hosts, HCAs and switches of one fabric correspond to which of the other. Internal to src/topo/diff.
#pragma once

#include "topo/fabric.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace topo::drift {

struct HcaAt { // host none: there is none
    int host = none, hca = none;
    bool operator==(const HcaAt&) const = default;
};

// Indices into the other fabric by index of this one; none if the other lacks it.
struct Match {
    std::vector<int> switch_after, switch_before;
    std::vector<int> host_after, host_before;
    std::vector<std::vector<HcaAt>> hca_after, hca_before;
};

Match match(const Fabric& before, const Fabric& after);

// Every port of either fabric as a number; a port that is in both has one number.
class Ports {
public:
    Ports(const Fabric& before, const Fabric& after, const Match& match);
    std::uint64_t before(const End& end) const;
    std::uint64_t after(const End& end) const;

private:
    std::vector<std::vector<std::uint64_t>> hca_before_, hca_after_;
    std::vector<std::uint64_t> switch_before_, switch_after_;
};

} // namespace topo::drift
