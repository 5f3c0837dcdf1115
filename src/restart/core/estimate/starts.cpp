#include "restart/core/estimate/starts.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace restart {
namespace {

std::string key_of(std::uint32_t uid, std::string_view title) {
    return fmt::format("{}/{}", uid, base::printable(title, longest_title));
}

std::string_view owner_in(std::string_view key) {
    return key.substr(0, key.find('/'));
}

// The oldest one of the user with the most programs.
void forget_one(Programs& programs) {
    std::map<std::string_view, std::size_t> names;
    for (const auto& [key, program] : programs)
        ++names[owner_in(key)];
    programs.erase(std::min_element(programs.begin(), programs.end(), [&](const auto& a, const auto& b) {
        const auto mine = names[owner_in(a.first)], other = names[owner_in(b.first)];
        return mine != other ? mine > other : a.second.last < b.second.last;
    }));
}

base::Duration mean(const std::vector<base::Duration>& times) {
    return std::accumulate(times.begin(), times.end(), base::Duration{}) / static_cast<int>(times.size());
}

} // namespace

void count_start(Programs& programs, std::uint32_t uid, std::string_view title, bool again,
                 base::Duration took, base::Time now) {
    if (title.empty() || took < base::Duration::zero() || took > longest_start) return;
    const auto key = key_of(uid, title);
    if (programs.size() >= most_programs && !programs.contains(key)) forget_one(programs);
    auto& known = programs[key];
    auto& times = again ? known.again : known.first;
    if (times.size() >= most_starts) times.erase(times.begin());
    times.push_back(took);
    known.last = now;
}

ProgramTime program_time(const Programs& programs, std::uint32_t uid, std::string_view title,
                         base::Duration configured) {
    const auto known = title.empty() ? programs.end() : programs.find(key_of(uid, title));
    if (known == programs.end()) return {configured, 0, false};
    const auto& [first, again, last] = known->second;
    const auto& times = again.empty() ? first : again;
    if (times.empty()) return {configured, 0, false};
    return {mean(times), times.size(), !again.empty()};
}

std::string source_of(const ProgramTime& time) {
    if (time.count == 0) return "[restart] restart_time";
    return fmt::format("as {} {}{} of its name took{}", time.count, time.again ? "restart" : "first start",
                       time.count == 1 ? "" : "s", time.count == 1 ? "" : " on average");
}

} // namespace restart
