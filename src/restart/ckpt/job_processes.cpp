#include "restart/ckpt/job_processes.hpp"

#include "base/file.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace restart::ckpt {
namespace {

constexpr std::size_t longest_environment = std::size_t{8} << 20;

std::string program_of(pid_t pid) {
    std::error_code none;
    return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), none).string();
}

} // namespace

pid_t parent_of(pid_t pid) {
    const auto stat = base::read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
    if (!stat) return 0;
    const auto name = stat->rfind(')'); // "12 (any text) S 11 …"
    const auto state = name == std::string::npos ? name : stat->find_first_not_of(' ', name + 1);
    const auto begin = state == std::string::npos ? state : stat->find_first_not_of(' ', state + 1);
    if (begin == std::string::npos) return 0;
    const auto end = stat->find(' ', begin);
    return static_cast<pid_t>(
        base::parse_count(std::string_view(*stat).substr(begin, end - begin)).value_or(0));
}

bool has_variable(std::string_view environment, std::string_view mark) {
    for (auto at = environment.find(mark); at != std::string_view::npos; at = environment.find(mark, at + 1))
        if ((at == 0 || environment[at - 1] == '\0') &&
            (mark.ends_with('=') || at + mark.size() == environment.size() ||
             environment[at + mark.size()] == '\0'))
            return true;
    return false;
}

std::optional<std::string> JobProcesses::environment_of(pid_t pid) const {
    const auto folder = fmt::format("/proc/{}", pid);
    struct stat owner {};
    if (::stat(folder.c_str(), &owner) != 0 || owner.st_uid != ::geteuid()) return {};
    auto environment = base::read_file(folder + "/environ", longest_environment);
    if (!environment || !std::all_of(marks_.begin(), marks_.end(), [&](const std::string& mark) {
            return has_variable(*environment, mark);
        }))
        return {};
    return *std::move(environment);
}

std::vector<pid_t> JobProcesses::found() const {
    std::vector<pid_t> above{::getpid()};
    for (auto pid = ::getppid(); pid > 1 && above.size() < 64; pid = parent_of(pid))
        above.push_back(pid);
    const auto ours = program_of(::getpid());
    std::vector<pid_t> found;
    std::error_code unread;
    for (std::filesystem::directory_iterator entry("/proc", unread), end; !unread && entry != end;
         entry.increment(unread)) {
        const auto number = base::parse_count(entry->path().filename().native());
        if (!number) continue;
        const auto pid = static_cast<pid_t>(*number);
        if (std::find(above.begin(), above.end(), pid) != above.end() || !environment_of(pid)) continue;
        if (!ours.empty() && program_of(pid) == ours) continue;
        found.push_back(pid);
    }
    return found;
}

std::vector<pid_t> JobProcesses::end(base::Duration patience) const {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    auto left = found();
    for (const auto pid : left)
        ::kill(pid, SIGTERM);
    for (bool hard = false; !left.empty(); left = found()) {
        const auto took = Clock::now() - begin;
        hard = took > patience;
        if (took > 6 * patience) break;
        for (const auto pid : left)
            if (hard) ::kill(pid, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return left;
}

} // namespace restart::ckpt
