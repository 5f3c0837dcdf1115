// The result of a check: a measured value, the expected value, and the part of the host that was checked. All
// output of railcheck, and its exit status, is derived from a list of these. Pure.
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

// A part of a host. Unknown or inapplicable members are empty.
struct Part {
    std::string name{}; // "gpu3", "mlx5_0:1", "gpu0-gpu3", "/scratch"; always set
    std::string host{}; // for checks that involve other hosts
    std::optional<int> gpu{};
    std::string pci{}; // "0000:14:00.0"
    std::string hca{}; // "mlx5_3"
    std::optional<int> port{};
    std::optional<int> rail{};
};

struct Result {
    std::string check{}; // the subcommand: "hbm"
    std::string test{};  // its expected value has this name: "hbm.read"
    Part part{};
    Verdict verdict = Verdict::measured;
    std::optional<double> value{};
    std::string unit{};
    std::optional<double> expected{}; // in the same unit
    std::string source{};             // of the expected value
    std::string says{};               // a phrase: the problem, or an additional observation

    // Value as a share of the expected value.
    std::optional<double> share() const;
};

// {"check":…,"test":…,"component":…,"gpu":…,…}; unknown members are omitted.
boost::json::object to_json(const Result& result);
// As reported to other hosts and restartd; `host`: this host's name.
restart::CheckWord word_of(const Result& result, const std::string& host);
// Reads what to_json wrote. Errors (Code::input) name the member.
base::Expected<Result> result_of(const base::Reader& from);

// The table as text, with the bad parts, and what could not be tried, listed below. Ends with a summary line.
std::string print(std::span<const Result> results);

// base::Exit: 1 when something is bad, else 2 when something could not be tried (or nothing was), else 0.
int exit_status(std::span<const Result> results);

} // namespace check
