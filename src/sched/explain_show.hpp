// Explanations as text, from their JSON (explain_json.hpp): first the sentence, then the tables.
#pragma once

#include "base/json.hpp"
#include "base/terminal.hpp"

#include <string>

namespace sched {

// For {"kind":"placed",…} and {"kind":"pending",…}. Errors name the missing or invalid member.
base::Expected<std::string> show_explanation(const base::Reader& explanation);

// Only the tables, for callers that have printed the sentence.
base::Expected<std::string> show_details(const base::Reader& explanation, const base::Look& look = {});

} // namespace sched
