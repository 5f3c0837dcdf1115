// All keys of railyard.conf(5): the table that the file is checked against, that fills the structs of
// conf.hpp, and from which the manual page's list is printed. A key that is not listed here does not exist.
#pragma once

#include "base/bounds.hpp"
#include "base/clock.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace base {

struct Conf;

enum class ConfTable {
    placement,
    topology,
    restartd,
    agent,
    fabricwatchd,
    node_loss,
    throttle,
    checkpoint,
    learning,
    restart,
    repair,
    straggler,
    idle_checks,
    lsf,
    web,
    munge
};

enum class KeyType { text, boolean, count, number, duration, text_list }; // in Slot's order

// The member that keeps a key's value.
using Slot = std::variant<std::string*, bool*, std::uint64_t*, double*, Duration*, std::vector<std::string>*>;

struct Key {
    ConfTable in;
    std::string_view table; // "restartd"
    std::string_view name;  // "listen", like the member
    KeyType type;           // that of the member
    Slot (*slot)(Conf&);
    std::string_view unit; // "" where the type implies it
    Bounds bounds;
    std::string_view default_text; // in TOML: "\"/sys\"", "5", "true", "[]"
    std::string_view meaning;      // a sentence
};

std::span<const Key> keys();
const Key* find_key(std::string_view table, std::string_view name);

// "a duration such as \"5s\"": how a value of this type looks, for errors and the manual.
std::string_view type_name(KeyType type);

// "from 0 to 100; percent": what the manual adds to the type; empty if the key has neither.
std::string bounds_and_unit(const Key& key);

} // namespace base
