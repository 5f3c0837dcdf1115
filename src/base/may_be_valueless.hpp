// GCC's library assumes that a variant of strings, vectors and small plain types always has a value. When
// memory runs out while such a variant is copied, it destroys a value that was not constructed and crashes,
// instead of throwing std::bad_alloc. An additional alternative, of a type that the library makes no
// assumption about and that is never stored, avoids this.
#pragma once

namespace base {

struct MayBeValueless {
    MayBeValueless() = default;
    MayBeValueless(const MayBeValueless&) noexcept {} // not trivial: this is its only purpose
    MayBeValueless& operator=(const MayBeValueless&) noexcept { return *this; }
};

} // namespace base
