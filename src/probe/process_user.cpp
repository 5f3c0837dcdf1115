#include "probe/process_user.hpp"

#include "base/file.hpp"

#include <charconv>
#include <fmt/format.h>
#include <string_view>

namespace probe {

std::optional<std::uint32_t> user_of_process(std::uint32_t pid) {
    if (pid == 0) return std::nullopt;
    // Its folder is root's where the process may not be traced.
    const auto status = base::read_file(fmt::format("/proc/{}/status", pid), 65536);
    if (!status) return std::nullopt;
    constexpr std::string_view mark = "\nUid:\t";
    const auto at = status->find(mark);
    if (at == std::string::npos) return std::nullopt;
    std::uint32_t user = 0;
    const auto* begin = status->data() + at + mark.size();
    const auto [end, failed] = std::from_chars(begin, status->data() + status->size(), user);
    if (failed != std::errc{}) return std::nullopt;
    return user;
}

} // namespace probe
