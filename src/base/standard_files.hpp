// Standard input, output and errors, which whoever starts a program may have left closed: LSF's lim starts
// an elim so.
#pragma once

namespace base {

// Opens /dev/null in place of each that is closed. Otherwise what is opened next would have its number, and
// be written to by whoever prints; and who prints to what is closed fails.
void open_standard_files();

} // namespace base
