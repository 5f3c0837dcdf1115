// FNV-1a, 64 bits: a hash that is the same in every build, life and release, so that what it makes may be
// kept in files and compared between hosts. It is no protection from anybody.
// http://www.isthe.com/chongo/tech/comp/fnv/
#pragma once

#include <cstdint>
#include <string_view>

namespace base {

class Fnv1a {
public:
    // One octet, or, against the algorithm's letter and for tables in memory only, one number as a whole.
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
