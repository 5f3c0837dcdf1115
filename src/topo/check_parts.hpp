// The parts of check(): each looks for one family of faults. Internal to src/topo.
#pragma once

#include "topo/check.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace topo::checks {

using Findings = std::vector<Finding>;

void hosts(const Fabric& fabric, Findings& findings);   // HCAs on wrong leaves, missing rails, service hosts
void uplinks(const Fabric& fabric, Findings& findings); // crossed, missing and too few uplinks
void links(const Fabric& fabric, Findings& findings);   // down, slow and narrow links
void names(const Fabric& fabric, Findings& findings);   // duplicates, nameless HCAs, hosts without facts
void parts(const Fabric& fabric, Findings& findings);   // disconnected fabrics, shared leaves

inline std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

// "n002 mlx5_1/1", "leaf-su1-r2/9"; "none" for a switch index of none.
std::string end_name(const Fabric& fabric, const End& end);
std::string hca_name(const Host& host, const Hca& hca);
std::string switch_name(const Fabric& fabric, int index);
std::string host_names(const Fabric& fabric, const std::vector<std::uint32_t>& hosts);
std::string counted(std::size_t n, std::string_view one, std::string_view many);

// An HCA of which the description does not say which one it is: nameless, or named as another of its host.
bool unidentified(const Host& host, const Hca& hca);

// The end of a link that is not `here`.
inline const End& other_end(const Link& link, const End& here) {
    return link.a == here ? link.b : link.a;
}

// The most common value and how often it came; the larger value wins a tie.
template <class Value> class Mode {
public:
    void add(const Value& value) { ++counts_[value]; }
    bool empty() const { return counts_.empty(); }
    Value value() const { return most()->first; }
    std::size_t count() const { return most()->second; }
    std::size_t total() const {
        std::size_t sum = 0;
        for (const auto& [value, count] : counts_)
            sum += count;
        return sum;
    }

private:
    auto most() const {
        auto best = counts_.begin();
        for (auto next = counts_.begin(); next != counts_.end(); ++next)
            if (next->second >= best->second) best = next;
        return best;
    }
    std::map<Value, std::size_t> counts_;
};

} // namespace topo::checks
