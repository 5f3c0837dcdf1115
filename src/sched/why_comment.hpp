// The part "railyard-why: TEXT" of a job's admin_comment: why a job waits, for all who can read the job.
// Parts of a comment are parted by ';'; every byte of the others stays as it is.
#pragma once

#include <string>
#include <string_view>

namespace sched {

// The text of the part; "" when there is none.
std::string_view why_in(std::string_view comment);

// The comment with this text in its part, at its end when it had none; "" takes the part out, and with it the
// separator before it. In the text ';' becomes ',' and control characters spaces, and it is cut at 400 bytes.
std::string with_why(std::string_view comment, std::string_view text);

} // namespace sched
