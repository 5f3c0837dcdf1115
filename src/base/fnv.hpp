// FNV-1a, 64 bits: a hash that is the same in every build, process and release, so its values may be stored
// in files and compared between hosts. It gives no protection against attackers.
// http://www.isthe.com/chongo/tech/comp/fnv/
#pragma once

#include <cstdint>
#include <string_view>

namespace base {

class Fnv1a {
public:
    // One octet. Passing a whole number at once deviates from the algorithm and is only for tables in memory.
    constexpr void add(std::uint32_t octet) { value_ = (value_ ^ octet) * 0x100000001b3; }
    constexpr void add(std::string_view text) {
        for (const char c : text)
            add(static_cast<unsigned char>(c));
    }
    constexpr std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325;
};

} // namespace base
