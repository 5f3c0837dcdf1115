// What a switch that is not seen is probably called. Internal to src/topo/check.
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

// The names of a switch that may be missing; two where two stems of a series that is numbered through meet.
using Names = std::vector<std::string>;

// The numbers of switches that are named alike, with the names that have them; ascending.
using Numbers = std::map<std::uint32_t, NumberedName>;

// Looks for the name of a switch that is not seen among those of its kind. Every question is answered by one
// name, or by none where there is none or several.
class Absent {
public:
    // `seen`: those beside which it should be. `before_last`: which of the numbers in their names counts,
    // numbered() says.
    Absent(const Fabric& fabric, const std::vector<int>& seen, int before_last = 0);

    // Between the numbers of these.
    Names between() const;
    // That, or the first; else the number that most series of other stems have.
    Names beside() const;
    // Else between all of their stem, then behind the last or before the first of these.
    Names likely() const;

private:
    std::vector<Numbers> series_of(const Fabric& fabric, const std::vector<int>& switches) const;
    void add(std::uint32_t number, const NumberedName& one, const NumberedName& other,
             std::vector<Names>& free) const;
    std::vector<Names> gaps(const std::vector<Numbers>& series) const;
    void as_others(std::vector<Names>& free) const;

    int before_last_;
    std::set<std::string_view> taken_;
    std::vector<Numbers> series_;       // of these
    std::vector<Numbers> all_, others_; // of all switches named like them: with their stems, and with others
};

// The same by whichever number of the names says it, the last first.
Names absent_between(const Fabric& fabric, const std::vector<int>& seen);
Names absent_beside(const Fabric& fabric, const std::vector<int>& seen);

} // namespace topo::checks
