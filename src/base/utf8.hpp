// Text from outside that goes into JSON, which is UTF-8 (RFC 3629: shortest form, no surrogates, up to
// U+10FFFF).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace base {

bool is_utf8(std::string_view text);

// The text with '?' for each byte that is not part of a valid character.
std::string as_utf8(std::string_view text);

// At most `most` bytes of a UTF-8 text, without splitting a character.
std::string_view cut_utf8(std::string_view text, std::size_t most);

// The first `most` bytes of a text, with each byte that is not printable ASCII replaced: for text from
// outside that goes to a terminal, a log or another program's field.
std::string printable(std::string_view text, std::size_t most = std::string_view::npos,
                      char replacement = '?');

} // namespace base
