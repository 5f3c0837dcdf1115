// The probable name of a switch that is not seen. Internal to src/topo/check.
#pragma once

#include "topo/fabric.hpp"
#include "topo/numbered_name.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace topo::checks {

// The possible names of a missing switch; two if it lies between two stems of a series.
using Names = std::vector<std::string>;

// The numbers in the names of switches of one series, with their names; ascending.
using Numbers = std::map<std::uint32_t, NumberedName>;

// Finds the name of a switch that is not seen, based on the names of similar switches. Each query returns one
// switch, or nothing if there is no or more than one possibility.
class Absent {
public:
    // `seen`: the switches next to which it should be. `before_last`: which number in their names is used,
    // see numbered().
    Absent(const Fabric& fabric, const std::vector<int>& seen, int before_last = 0);

    // Whether some of these differ in that number alone.
    bool differ() const;
    // Between the numbers of these, or the first; else the number that most series of other stems have.
    Names beside() const;
    // Else in a gap of all series with their stem, then after the last or before the first of these.
    Names likely() const;

private:
    std::vector<Numbers> series_of(const Fabric& fabric, const std::vector<int>& switches) const;
    void add(std::uint32_t number, const NumberedName& one, const NumberedName& other,
             std::vector<Names>& free) const;
    std::vector<Names> gaps(const std::vector<Numbers>& series) const;
    void as_others(std::vector<Names>& free) const;

    int before_last_;
    std::set<std::string_view> taken_;
    std::vector<Numbers> series_;       // of the `seen` switches
    std::vector<Numbers> all_, others_; // of all switches with similar names: with these stems, and others
};

// beside() by whichever number of the names says it, the last first.
Names absent_beside(const Fabric& fabric, const std::vector<int>& seen);

} // namespace topo::checks
