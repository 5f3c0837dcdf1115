// What railcheck(8) expects to measure: rows [[expected]] of health.conf(5), then the built-in ones. Pure.
#pragma once

#include "base/expected.hpp"
#include "base/toml.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// A sound part reaches `value`; less than `least` of it is bad. For values that should be small, such as a
// latency, more than `most` of it is bad.
struct Expectation {
    std::string test; // "hbm.read"
    std::string of;   // a GPU model, or a link: "NVIDIA H100 80GB HBM3", "PCIe 5 x16"; '*' matches any text
    double value = 0; // in the unit of the test
    double least = 0.8;
    std::optional<double> most{};
    std::string source{};
    std::uint32_t line = 0; // in the file; 0: built in
};

class Expectations {
public:
    Expectations(); // the built-in ones

    // The built-in rows with a file's changes: fields of the row with the same test and kind, or a new row,
    // which comes before the built-in ones. Other tables are ignored: they belong to RuleSet. Errors
    // (Code::input) have the form "FILE:LINE: TEST: FIELD: …".
    static base::Expected<Expectations> from_text(std::string_view text, std::string_view file_name);
    // If there is no such file: the built-in rows.
    static base::Expected<Expectations> from_file(const std::filesystem::path& path);

    std::span<const Expectation> rows() const { return rows_; }
    // The first row of the test for the first of `kinds` that has one; null: none.
    const Expectation* find(std::string_view test, std::span<const std::string> kinds) const;

    // All rows in a form that from_text can read.
    std::string print() const;

private:
    std::vector<Expectation> rows_;
};

// The name of the table.
inline constexpr std::string_view expected_table = "expected";

// The tests that rows may name, each with its unit and the measured quantity.
struct MeasuredTest {
    std::string_view name, unit, meaning;
};
std::span<const MeasuredTest> measured_tests();

} // namespace restart
