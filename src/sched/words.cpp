#include "sched/words.hpp"

#include <fmt/format.h>

namespace sched {

std::string plural(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t most = 4;
    std::string out;
    const auto shown = names.size() > most + 1 ? most : names.size();
    for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
        out += names[i];
    }
    if (shown < names.size()) out += fmt::format(" and {} more", names.size() - shown);
    return out;
}

} // namespace sched
