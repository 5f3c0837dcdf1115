// A gathering and its verdict, for people and as JSON.
#pragma once

#include "base/json.hpp"
#include "check/net/verdict.hpp"

#include <string>

namespace check::net {

// What each end is good for, in Gb/s and microseconds, as a table of hosts and rails, up to 64 hosts; of more
// those that are named. Below it what is slow and who was not measured.
std::string print(const Gathered& gathered, const Verdict& verdict);

// {"hosts":[…],"rounds":6,…,"slow":[…],"lost":[…],"unusable":[…],"ends":[…],"pairs":[…]}: railcheck(8).
boost::json::object to_json(const Gathered& gathered, const Verdict& verdict);

} // namespace check::net
