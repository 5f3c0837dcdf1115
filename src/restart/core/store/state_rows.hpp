// The state in rows: one for each host, job, incident, switch and program and one for the rest, so that a
// change can be written without the state of sixteen thousand hosts.
#pragma once

#include "restart/core/facts/state.hpp"

#include <string>
#include <vector>

namespace restart {

struct StateRow {
    std::string key;  // "host/n001", "job/12", "incident/7", "program/1000/train", "rest"
    std::string json; // empty: delete the row
    bool operator==(const StateRow&) const = default;
};

// The state that the rows hold, in any order. Errors (Code::input) name the row or the field.
base::Expected<State> state_from_rows(const std::vector<StateRow>& rows);

// Remembers what was returned before, and so what has changed since.
class StateRows {
public:
    StateRows() = default;                                     // nothing was
    explicit StateRows(State held) : held_(std::move(held)) {} // all of this was

    // The rows in which `now` differs, which count as returned from then on. Linear in hosts and jobs.
    std::vector<StateRow> changes(const State& now);

private:
    State held_;
    std::string rest_;
};

} // namespace restart
