#include "sched/preflight_wish.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

namespace sched {

base::Expected<PreflightWish> parse_preflight(std::string_view text) {
    PreflightWish wish;
    const auto comma = text.find(',');
    const auto how = text.substr(0, comma), more = comma == text.npos ? "" : text.substr(comma + 1);
    wish.level = how == "quick" ? 1 : how == "full" ? 2 : 0;
    wish.net = more == "net";
    const bool sound = wish.level == 0 ? text == "off" : comma == text.npos || wish.net;
    if (!sound)
        return base::Error{base::Code::usage,
                           fmt::format("--rail-preflight={}: must be off, quick or full, or one of these two "
                                       "with ,net",
                                       base::printable(text, 64))};
    return wish;
}

} // namespace sched
