// GCC's library takes a variant of strings, vectors and small plain types for one that always has a value.
// When memory runs out while such a variant is copied it destroys a value that is not there yet and jumps
// into nowhere, where std::bad_alloc should be thrown. One more alternative, of a type it knows nothing about
// and that is never stored, avoids it.
#pragma once

namespace base {

struct MayBeValueless {
    MayBeValueless() = default;
    MayBeValueless(const MayBeValueless&) noexcept {} // not trivial: that is all there is to it
    MayBeValueless& operator=(const MayBeValueless&) noexcept { return *this; }
};

} // namespace base
