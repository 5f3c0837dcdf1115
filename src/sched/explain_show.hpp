// Explanations as text, from their JSON (explain_json.hpp): the sentence first, then the tables behind it.
#pragma once

#include "base/json.hpp"
#include "base/terminal.hpp"

#include <string>

namespace sched {

// Of {"kind":"placed",…} and {"kind":"pending",…}. Errors name the member that is missing or wrong.
base::Expected<std::string> show_explanation(const base::Reader& explanation);

// The tables alone, for callers that have printed the sentence.
base::Expected<std::string> show_details(const base::Reader& explanation, const base::Look& look = {});

} // namespace sched
