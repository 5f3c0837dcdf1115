// A text as its tool printed it, out of what terminals, editors and loggers made of it.
//
// Lines keep their numbers: what is taken away leaves an empty line.
#pragma once

#include <string>
#include <string_view>

namespace topo {

// Without a byte order mark, carriage returns at the ends of lines, escape sequences of terminals and
// characters that a backspace took back (script(1)); UTF-16 becomes UTF-8. Linear time.
std::string clean_text(std::string_view text);

// A shell's prompt ("[root@sm1 ~]# …", "user@host:~$ …", "sm1:~ # …", "switch-1 [standalone: master] > …") or
// what script(1), PuTTY and ssh write at the end: nothing of the tool's own follows.
bool ends_output(std::string_view line);

} // namespace topo
