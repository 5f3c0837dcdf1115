#include "spank/preflight.hpp"
#include "spank/order.hpp"
#include "spank/remote.hpp"

#include "base/child.hpp"
#include "base/unique_fd.hpp"
#include "sched/ask/preflight_wish.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace spank {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// railrun has its own, shorter limits; these are for a railrun that hangs.
constexpr std::array<std::chrono::seconds, 4> longest{0s, 150s, 360s, 1700s}; // by level
constexpr std::size_t longest_answer = 1 << 20;

// Reads until the end of input; false: the deadline passed.
bool read_all(int from, Clock::time_point deadline, std::string& text) {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd watched{from, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) == 0) return false;
        std::array<char, 4096> block{};
        const auto n = ::read(from, block.data(), block.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return true;
        text.append(block.data(), static_cast<std::size_t>(n));
        if (text.size() > longest_answer) return false;
    }
}

} // namespace

void run_preflight(spank_t handle, const std::string& text) {
    const auto wish =
        sched::parse_preflight(text); // validated at submission, but a script may change the variable
    char** environment = nullptr;
    if (!wish || wish->level == 0 || spank_get_item(handle, S_JOB_ENV, &environment) != ESPANK_SUCCESS)
        return;
    std::vector<std::string> words{options().railrun(node_name()), "--preflight", text};
    if (const auto railcheck = options().railcheck(node_name()); !railcheck.empty()) {
        words.emplace_back("--railcheck");
        words.push_back(railcheck);
    }
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return slurm_error("rail-preflight: %s: the job starts without", std::strerror(errno));
    const base::UniqueFd from(ends[0]);
    base::UniqueFd to(ends[1]);
    const auto child = base::start_program(words, {to.get(), base::Start::Errors::as_ours, environment});
    if (!child)
        return slurm_error("rail-preflight: %s: %s: the job starts without", words[0].c_str(),
                           child.error().text.c_str());
    to = {};
    std::string answer;
    const bool ended =
        read_all(from.get(), Clock::now() + longest.at(static_cast<std::size_t>(wish->level)), answer);
    if (!ended) ::kill(*child, SIGKILL);
    int status = 0;
    while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {}
    if (!ended) return slurm_error("rail-preflight: %s does not end: the job starts", words[0].c_str());
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGINT)) {
        // The job is being terminated, and its script must not start.
        ::signal(WTERMSIG(status), SIG_DFL);
        ::raise(WTERMSIG(status));
    }
    if (auto lists = read_rank_lists(answer)) change_order(handle, *std::move(lists));
}

} // namespace spank
