// What railcheck expects by itself, a row a test and kind of part, each with its source.
#pragma once

#include <span>
#include <string_view>

namespace restart::table {

// Texts live for ever.
struct ExpectedRow {
    std::string_view test, of;
    double value, least;
    std::string_view source;
};
std::span<const ExpectedRow> expected();

} // namespace restart::table
