#include "restart/run/left_over.hpp"

#include "base/file.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace restart::run {
namespace {

using namespace std::chrono_literals;

// All have this process's only thread as their parent.
std::vector<pid_t> children() {
    std::vector<pid_t> found;
    const auto text = base::read_file(fmt::format("/proc/self/task/{}/children", ::getpid()), 1 << 20);
    if (!text) return found;
    for (std::string_view rest = *text; !rest.empty();) {
        const auto word = rest.substr(0, rest.find_first_of(" \n"));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        if (const auto pid = base::parse_count(word); pid && *pid > 1)
            found.push_back(static_cast<pid_t>(*pid));
    }
    return found;
}

} // namespace

LeftOver::LeftOver() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const auto there = children();
    before_.insert(there.begin(), there.end());
}

void LeftOver::end() const {
    const auto give_up = std::chrono::steady_clock::now() + 5s;
    for (;;) {
        bool left = false;
        for (const auto pid : children()) {
            if (before_.contains(pid)) continue;
            left = true;
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, WNOHANG);
        }
        if (!left || std::chrono::steady_clock::now() >= give_up) return;
        std::this_thread::sleep_for(5ms);
    }
}

} // namespace restart::run
