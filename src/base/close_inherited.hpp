// Closing what a child that continues without exec() must not inherit from its parent.
#pragma once

namespace base {

// Closes all descriptors except 0 to 2 and `kept`. Otherwise a reader of one of the parent's pipes
// (--ready-fd) would also wait for the child.
void close_inherited(int kept);

} // namespace base
