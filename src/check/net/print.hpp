// A gathering and its verdict, as text and as JSON.
#pragma once

#include "base/json.hpp"
#include "check/net/verdict.hpp"

#include <string>

namespace check::net {

// The level of each end, in Gb/s and microseconds, as a table of hosts and rails; above 64 hosts only named
// ends. Below it what is slow and which hosts were not measured.
std::string print(const Gathered& gathered, const Verdict& verdict);

// {"hosts":[…],"rounds":6,…,"slow":[…],"lost":[…],"unusable":[…],"ends":[…],"pairs":[…]}: railcheck(8).
boost::json::object to_json(const Gathered& gathered, const Verdict& verdict);

} // namespace check::net
