#include "sched/ask/preflight_wish.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

namespace sched {

base::Expected<PreflightWish> parse_preflight(std::string_view text) {
    PreflightWish wish;
    auto rest = text;
    const auto next = [&rest] {
        const auto word = rest.substr(0, rest.find(','));
        rest.remove_prefix(word.size());
        return word;
    };
    const auto how = next();
    wish.level = how == "quick" ? 1 : how == "full" ? 2 : how == "deep" ? 3 : 0;
    bool sound = wish.level > 0 || text == "off";
    while (sound && !rest.empty()) {
        rest.remove_prefix(1);
        const auto more = next();
        auto* part = more == "net" ? &wish.net : more == "nccl" ? &wish.nccl : nullptr;
        sound = part != nullptr && !*part;
        if (sound) *part = true;
    }
    if (!sound)
        return base::Error{base::Code::usage,
                           fmt::format("--rail-preflight={}: must be off, quick, full or deep, or one of "
                                       "these three with ,net, with ,nccl or with both",
                                       base::printable(text, 64))};
    return wish;
}

} // namespace sched
