#include "restart/ctl/moments.hpp"

#include "base/json.hpp"

#include <algorithm>

namespace restart {
namespace {

void take_moments(boost::json::value& into, const boost::json::value& from) {
    if (into.is_object() && from.is_object()) {
        for (auto& [key, member] : into.get_object())
            if (const auto* other = from.get_object().if_contains(key)) take_moments(member, *other);
    } else if (into.is_array() && from.is_array()) {
        auto& list = into.get_array();
        for (std::size_t i = 0; i < std::min(list.size(), from.get_array().size()); ++i)
            take_moments(list[i], from.get_array()[i]);
    } else if (into.is_number() && !from.is_number()) {
        into = from;
    }
}

} // namespace

base::Expected<std::string> with_moments(const std::string& answer, const std::string& dated) {
    auto document = base::parse_json(answer);
    if (!document) return document.error();
    const auto moments = base::parse_json(dated);
    if (!moments) return moments.error();
    take_moments(*document, *moments);
    return base::to_pretty(*document);
}

} // namespace restart
