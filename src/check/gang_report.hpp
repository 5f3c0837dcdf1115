// What a search in a gang found (gang_search.hpp), by the names of its hosts, for people and as JSON. Pure.
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
    std::optional<double> reached; // none: it failed
    std::string error{};
};

struct GangReport {
    std::string test; // "mpi.all_reduce"
    std::string unit; // of all values: "Gb/s", of which more is better, or "us", of which less is
    std::vector<std::string> hosts;
    int rails = 1;
    double sound = 0;              // what pairs of hosts reach over a rail, or what is expected; 0: not known
    double least = 0;              // what is slow beyond this
    std::vector<GangRunDone> runs; // as they came; the first is of the whole gang
    GangVerdict verdict{};
    double seconds = 0;

    bool is_sound() const;
    // A line for each that is slow, and what is to be said beside it.
    std::vector<std::string> findings() const;
};

std::string print(const GangReport& report);
// As a preflight says it: a member that is slow is bad, what no single host is to blame for a warning.
std::vector<restart::CheckWord> words_of(const GangReport& report);
// {"test":…,"unit":…,"hosts":[…],"rails":2,"reached":…,"sound":…,"least":…,"slow":[{"host":…,"rails":[…]}],
// …}: railcheck(8).
boost::json::object to_json(const GangReport& report);

} // namespace check
