// Standard input, output and error, which the parent of a program may have left closed: LSF's lim starts an
// elim like this.
#pragma once

namespace base {

// Opens /dev/null for each one that is closed. Otherwise the next file opened would get its number and
// receive what is printed; and printing to a closed descriptor fails.
void open_standard_files();

} // namespace base
