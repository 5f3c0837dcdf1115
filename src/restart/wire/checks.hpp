// What checks have reported about hosts: the answer to GET /v1/checks, as railctl checks shows it.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/wire/check_word.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

struct CheckRow {
    std::string host, check, component;
    CheckVerdict verdict = CheckVerdict::measured; // of the last reading
    std::optional<double> value{}, expected{};
    std::optional<double> fleet{};  // median of the hosts' same check and component; none: too few
    std::optional<double> before{}; // median of this host's earlier readings; none: too few
    std::string unit{};
    std::string says{};               // the check's text
    std::vector<std::string> signs{}; // what rules report about it, a phrase each; none: nothing unusual
    base::Time at{};
    std::uint32_t readings = 1; // that are kept
    bool operator==(const CheckRow&) const = default;
};

inline constexpr std::size_t most_check_rows = 4'096;

struct Checks {
    base::Time time{};
    std::vector<CheckRow> rows; // the most unusual first, then by host
    std::uint64_t left_out = 0; // rows that did not fit
    std::uint64_t hosts = 0;    // of which anything is known

    // Errors (Code::input) name the field.
    static base::Expected<Checks> from_json(std::string_view body);
    std::string to_json() const;
};

} // namespace restart
