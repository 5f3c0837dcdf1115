// What railcheck(8) expects to measure: rows [[expected]] of health.conf(5) over those of the program. Pure.
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

// A sound part reaches `value`; less than `least` of it is bad. Of what should be small, such as a latency,
// more than `most` of it is.
struct Expectation {
    std::string test; // "hbm.read"
    std::string of;   // a GPU's model, or a link: "NVIDIA H100 80GB HBM3", "PCIe 5 x16"; '*' is any text
    double value = 0; // in the unit of the test
    double least = 0.8;
    std::optional<double> most{};
    std::string source{};
    std::uint32_t line = 0; // of the file; 0: the program's
};

class Expectations {
public:
    Expectations(); // the program's

    // A file's over the program's: fields of the row of the same test and kind, or a new row, which comes
    // before the program's. Other tables are not looked at: they are RuleSet's. Errors (Code::input) say
    // "FILE:LINE: TEST: FIELD: …".
    static base::Expected<Expectations> from_text(std::string_view text, std::string_view file_name);
    // Without such a file: the program's.
    static base::Expected<Expectations> from_file(const std::filesystem::path& path);

    std::span<const Expectation> rows() const { return rows_; }
    // The first row of the test whose kind fits the first of `kinds` that any does; null: there is none.
    const Expectation* find(std::string_view test, std::span<const std::string> kinds) const;

    // Every row as a file that from_text reads back.
    std::string print() const;

private:
    std::vector<Expectation> rows_;
};

// The table's name.
inline constexpr std::string_view expected_table = "expected";

// The tests that rows may name, each with its unit and what is measured.
struct MeasuredTest {
    std::string_view name, unit, meaning;
};
std::span<const MeasuredTest> measured_tests();

} // namespace restart
