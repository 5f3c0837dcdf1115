#include "base/json_time.hpp"

#include "base/time_text.hpp"

namespace base {

Expected<Time> read_time(const Reader& from, std::string_view key) {
    const auto at = from.at(key);
    if (!at) return at.error();
    if (at->value().is_string()) {
        auto time = parse_time(std::string_view(at->value().get_string()));
        return time ? time : Expected<Time>(at->error("is no time such as 2026-03-01T13:20:05.123Z"));
    }
    const auto seconds = at->number();
    if (!seconds) return seconds.error();
    return time_from_seconds(*seconds);
}

} // namespace base
