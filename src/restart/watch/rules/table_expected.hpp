// What railcheck expects by default, a row per test and kind of part, each with its source.
#pragma once

#include <span>
#include <string_view>

namespace restart::table {

// Texts are static.
struct ExpectedRow {
    std::string_view test, of;
    double value, least;
    std::string_view source;
};
std::span<const ExpectedRow> expected();

} // namespace restart::table
