// The result of a search in a gang (gang_search.hpp), with the names of its hosts, as text and as JSON. Pure.
#pragma once

#include "base/json.hpp"
#include "check/gang_search.hpp"
#include "restart/wire/check_word.hpp"

#include <optional>
#include <string>
#include <vector>

namespace check {

struct GangRunDone {
    GangRun run;
    std::optional<double> reached; // none: the run failed
    std::string error{};
};

struct GangReport {
    std::string test; // "mpi.all_reduce"
    std::string unit; // of all values: "Gb/s", where more is better, or "us", where less is better
    std::vector<std::string> hosts;
    int rails = 1;
    double sound = 0;              // what pairs of hosts reach over a rail, or the expected value; 0: unknown
    double least = 0;              // a value worse than this is slow
    std::vector<GangRunDone> runs; // in order; the first is of the whole gang
    GangVerdict verdict{};
    double seconds = 0;

    bool is_sound() const;
    // A line for each slow part, and any remarks.
    std::vector<std::string> findings() const;
};

std::string print(const GangReport& report);
// As preflight results: a slow member is bad; a slowness that no single host causes is a warning.
std::vector<restart::CheckWord> words_of(const GangReport& report);
// {"test":…,"unit":…,"hosts":[…],"rails":2,"reached":…,"sound":…,"least":…,"slow":[{"host":…,"rails":[…]}],
// …}: railcheck(8).
boost::json::object to_json(const GangReport& report);

} // namespace check
