// What a check found: a measured value beside what is expected of it, and the part of the host that it is of.
// Everything that railcheck prints, and its exit status, follows from a list of these. Pure.
#pragma once

#include "base/expected.hpp"
#include "base/json.hpp"
#include "restart/wire/check_word.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace check {

using Verdict = restart::CheckVerdict;

// A part of a host. What is not known, or does not apply, is empty.
struct Part {
    std::string name{}; // "gpu3", "mlx5_0:1", "gpu0-gpu3", "/scratch"; always there
    std::string host{}; // of checks that reach other hosts
    std::optional<int> gpu{};
    std::string pci{}; // "0000:14:00.0"
    std::string hca{}; // "mlx5_3"
    std::optional<int> port{};
    std::optional<int> rail{};
};

struct Result {
    std::string check{}; // the subcommand: "hbm"
    std::string test{};  // what is expected of it stands under this name: "hbm.read"
    Part part{};
    Verdict verdict = Verdict::measured;
    std::optional<double> value{};
    std::string unit{};
    std::optional<double> expected{}; // in the same unit
    std::string source{};             // of what is expected
    std::string says{};               // a phrase: what is wrong, or what was seen beside the value

    // Value as a share of what is expected.
    std::optional<double> share() const;
};

// {"check":…,"test":…,"component":…,"gpu":…,…}; members that are not known are left out.
boost::json::object to_json(const Result& result);
// As other hosts and restartd are told it; `host`: this one's name.
restart::CheckWord word_of(const Result& result, const std::string& host);
// Reads what to_json wrote. Errors (Code::input) name the member.
base::Expected<Result> result_of(const base::Reader& from);

// The table for people; says who is bad, and what could not be tried, below it. Ends with a line that sums
// up.
std::string print(std::span<const Result> results);

// base::Exit: 1 when something is bad, else 2 when something could not be tried (or nothing was), else 0.
int exit_status(std::span<const Result> results);

} // namespace check
