// GCC's library assumes that a variant of strings, vectors and small plain types always has a value. When
// memory runs out while such a variant is copied, it destroys a value that was not constructed and crashes,
// instead of throwing std::bad_alloc. One more alternative, of a type that the library knows nothing about
// and that is never stored, avoids it.
#pragma once

namespace base {

struct MayBeValueless {
    MayBeValueless() = default;
    MayBeValueless(const MayBeValueless&) noexcept {} // not trivial: that is all there is to it
    MayBeValueless& operator=(const MayBeValueless&) noexcept { return *this; }
};

} // namespace base
