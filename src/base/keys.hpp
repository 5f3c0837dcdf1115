// Every key of railyard.conf(5): the one table from which the file is checked, defaults are taken and the
// manual page's list is printed. A key that is not here does not exist.
#pragma once

#include <span>
#include <string_view>

namespace base {

enum class KeyType { text, boolean, count, number, duration, text_list };

struct Key {
    std::string_view table; // "restartd"
    std::string_view name;  // "listen"
    KeyType type;
    std::string_view unit;         // "" where the type says it
    std::string_view default_text; // in TOML: "\"/sys\"", "5", "true", "[]"
    std::string_view meaning;      // a sentence
};

std::span<const Key> keys();
const Key* find_key(std::string_view table, std::string_view name);

// "a duration such as \"5s\"": what a value of this type looks like, for errors and the manual.
std::string_view type_name(KeyType type);

} // namespace base
