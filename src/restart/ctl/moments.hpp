// restartd's answers as railctl prints them as JSON.
#pragma once

#include "base/expected.hpp"

#include <string>

namespace restart {

// The answer, indented, with the times of `dated` in place of numbers of seconds: the same answer, written
// while a codec::TextTimes existed. Parts that this release does not know stay unchanged. Errors: one is not
// JSON.
base::Expected<std::string> with_moments(const std::string& answer, const std::string& dated);

} // namespace restart
