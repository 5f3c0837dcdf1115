// What a child that goes on without exec() must not keep of its parent's.
#pragma once

namespace base {

// Closes all descriptors but 0 to 2 and `kept`. Whoever reads a pipe of the parent's to its end (--ready-fd)
// would else wait for the child, too.
void close_inherited(int kept);

} // namespace base
