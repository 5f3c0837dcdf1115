#include "probe/process_user.hpp"

#include "base/file.hpp"

#include <charconv>
#include <fmt/format.h>
#include <string_view>

namespace probe {

std::optional<std::uint32_t> user_of_process(std::uint32_t pid) {
    if (pid == 0) return std::nullopt;
    // Its /proc directory belongs to root if the process is not traceable.
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

std::optional<std::uint32_t> job_of_process(std::uint32_t pid) {
    if (pid == 0) return std::nullopt;
    const auto groups = base::read_file(fmt::format("/proc/{}/cgroup", pid), 65536);
    return groups ? job_in_cgroups(*groups) : std::nullopt;
}

// "0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0", or "5:memory:/slurm/uid_1000/job_12/step_0".
std::optional<std::uint32_t> job_in_cgroups(std::string_view text) {
    constexpr std::string_view mark = "/job_";
    for (auto at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
        const auto number = text.substr(at + mark.size());
        std::uint32_t job = 0;
        const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), job);
        const bool whole = end == number.data() + number.size() || *end == '/' || *end == '\n';
        if (failed == std::errc{} && whole && job > 0) return job;
    }
    return std::nullopt;
}

} // namespace probe
