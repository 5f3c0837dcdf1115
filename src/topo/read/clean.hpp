// Restores a tool's output from what terminals, editors and loggers made of it.
//
// Lines keep their numbers: a removed line is left empty.
#pragma once

#include <string>
#include <string_view>

namespace topo {

// Removes a byte order mark, carriage returns at the ends of lines, escape sequences of terminals and
// characters deleted by a backspace (script(1)); converts UTF-16 to UTF-8. Linear time.
std::string clean_text(std::string_view text);

// A shell's prompt ("[root@sm1 ~]# …", "user@host:~$ …", "sm1:~ # …", "switch-1 [standalone: master] > …") or
// what script(1), PuTTY and ssh write at the end: the tool's own output ends here.
bool ends_output(std::string_view line);

} // namespace topo
