#include "base/close_inherited.hpp"

#include <unistd.h>

namespace base {
namespace {

void close_from_to(unsigned first, unsigned last) {
    if (first > last || ::close_range(first, last, 0) == 0) return;
    // For kernels before 5.9.
    const auto end = static_cast<unsigned>(::getdtablesize());
    for (auto fd = first; fd <= last && fd < end; ++fd)
        ::close(static_cast<int>(fd));
}

} // namespace

void close_inherited(int kept) {
    constexpr unsigned first = STDERR_FILENO + 1;
    const auto middle = static_cast<unsigned>(kept);
    if (middle >= first) close_from_to(first, middle - 1);
    close_from_to(middle >= first ? middle + 1 : first, ~0U);
}

} // namespace base
