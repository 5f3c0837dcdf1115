#include "spank/preload.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace spank {

base::Expected<void> check_ucx(std::string_view value) {
    if (value == "off" || value == "watch" || value == "stats") return {};
    return base::Error{base::Code::usage, fmt::format("--rail-ucx={}: must be off, watch or stats", value)};
}

std::optional<std::string> with_preloaded(const std::string& library,
                                          const std::optional<std::string>& before) {
    constexpr std::string_view between = " :";
    if (library.find_first_of(between) != std::string::npos) return std::nullopt;
    if (!before || before->empty()) return library;
    for (std::string_view rest = *before; !rest.empty();) {
        const auto word = rest.substr(0, rest.find_first_of(between));
        if (word == library) return std::nullopt;
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    return fmt::format("{}:{}", library, *before);
}

} // namespace spank
