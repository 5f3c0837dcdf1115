// TOML files made of tables of strings, numbers, booleans and lists of strings, with the line of each value.
// The caller knows what the keys mean. railyard.conf(5) has its own reader (conf.hpp).
#pragma once

#include "base/expected.hpp"
#include "base/may_be_valueless.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace base {

struct TomlValue {
    std::string key;
    std::uint32_t line = 0;
    std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>, MayBeValueless> value;
};

struct TomlTable {
    std::string name;
    std::uint32_t line = 0;
    std::vector<TomlValue> values; // in file order
};

// The text with '?' for every non-ASCII byte. toml++ 3.3 is not safe against such characters where TOML
// forbids them. This text is parsed first, and '?' is rejected there: the others are in strings and comments.
std::string ascii_of(std::string_view text);

// The tables "[NAME]" and "[[NAME]]" of a document, in file order. Errors (Code::input) read "FILE:LINE: …"
// for text that is not TOML, a key outside any table, and values of other types.
Expected<std::vector<TomlTable>> parse_toml(std::string_view text, std::string_view file);

} // namespace base
