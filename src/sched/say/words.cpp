#include "sched/say/words.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

namespace sched {

std::string plural(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& names) {
    return listed(names.size(), [&](std::size_t i) { return names[i]; });
}

std::string listed(std::size_t count, const std::function<std::string(std::size_t)>& name_of) {
    constexpr std::size_t most = 4;
    std::string out;
    const auto shown = count > most + 1 ? most : count;
    for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0) out += i + 1 == count ? " and " : ", ";
        out += name_of(i);
    }
    if (shown < count) out += fmt::format(" and {} more", count - shown);
    return out;
}

std::string as_phrase(std::string_view text, std::size_t most) {
    const auto cut = base::cut_utf8(text, most);
    std::string out(cut);
    for (char& c : out) {
        if (c == ';') c = ',';
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    if (text.size() > cut.size()) out += "...";
    return out;
}

} // namespace sched
