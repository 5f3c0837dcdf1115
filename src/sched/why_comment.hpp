// Parts "LABEL: TEXT" of a job's admin_comment that tell its user something: for all who can read the job.
// Parts of a comment are parted by ';'; every byte of the others stays as it is.
#pragma once

#include <string>
#include <string_view>

namespace sched {

inline constexpr std::string_view why_label = "railyard-why:";   // why it waits, while it does
inline constexpr std::string_view told_label = "railyard-told:"; // what became of it when a host of it failed

// The text of the part; "" when there is none.
std::string_view part_in(std::string_view comment, std::string_view label);
std::string_view why_in(std::string_view comment);

// The comment with this text in its part, at its end when it had none; "" takes the part out, and with it the
// separator before it. In the text ';' becomes ',' and control characters spaces, and it is cut at 400 bytes.
std::string with_part(std::string_view comment, std::string_view label, std::string_view text);
std::string with_why(std::string_view comment, std::string_view text);

} // namespace sched
