// TOML files made of tables of strings, numbers, booleans and lists of strings, with the line of each value.
// What the keys mean is the caller's; railyard.conf(5) has a reader of its own (conf.hpp).
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
    std::vector<TomlValue> values; // in the order of the file
};

// The text with '?' for every byte that is not ASCII. toml++ 3.3 is not safe against such characters where
// TOML has none, and this, which it refuses there, is parsed first: what then is left stands in strings and
// comments.
std::string ascii_of(std::string_view text);

// The tables "[NAME]" and "[[NAME]]" of a document in the order of the file. Errors (Code::input) say
// "FILE:LINE: …" for text that is not TOML, a key outside any table, and values of other types.
Expected<std::vector<TomlTable>> parse_toml(std::string_view text, std::string_view file);

} // namespace base
