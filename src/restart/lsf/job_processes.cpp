#include "restart/lsf/job_processes.hpp"

#include "base/file.hpp"
#include "base/units.hpp"
#include "restart/lsf/parents.hpp"

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

namespace restart::lsf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_environment = std::size_t{8} << 20;

bool holds(std::string_view environment, std::string_view mark) {
    for (auto at = environment.find(mark); at != std::string_view::npos; at = environment.find(mark, at + 1))
        if ((at == 0 || environment[at - 1] == '\0') &&
            (at + mark.size() == environment.size() || environment[at + mark.size()] == '\0'))
            return true;
    return false;
}

std::string program_of(pid_t pid) {
    std::error_code none;
    return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), none).string();
}

} // namespace

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
        struct stat owner {};
        if (!number || ::stat(entry->path().c_str(), &owner) != 0 || owner.st_uid != ::geteuid()) continue;
        const auto pid = static_cast<pid_t>(*number);
        if (std::find(above.begin(), above.end(), pid) != above.end()) continue;
        const auto environment = base::read_file(entry->path() / "environ", longest_environment);
        if (!environment || !std::all_of(marks_.begin(), marks_.end(),
                                         [&](const std::string& mark) { return holds(*environment, mark); }))
            continue;
        if (!ours.empty() && program_of(pid) == ours) continue;
        found.push_back(pid);
    }
    return found;
}

std::vector<pid_t> JobProcesses::end(base::Duration patience) const {
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

} // namespace restart::lsf
