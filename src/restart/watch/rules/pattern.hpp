// Patterns of rules and expectations: '*' matches any text, '|' separates alternatives. Pure.
#pragma once

#include <string_view>

namespace restart {

// Whether one of the patterns matches the whole text. Linear in the text, whatever a site's pattern.
bool fits(std::string_view patterns, std::string_view text);

} // namespace restart
