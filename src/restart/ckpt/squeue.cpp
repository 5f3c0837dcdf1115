#include "restart/ckpt/squeue.hpp"

#include "base/unique_fd.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace restart::ckpt {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::UniqueFd;
using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_answer = std::size_t{64} << 20; // a million lines and more

Error untold(std::string_view why) {
    return {Code::unavailable, fmt::format("squeue: {}", why)};
}

// SQUEUE_* give it other lines and columns, SLURM_CLUSTERS another cluster.
std::vector<char*> plain_environment() {
    std::vector<char*> kept;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        if (!text.starts_with("SQUEUE_") && !text.starts_with("SLURM_CLUSTERS=")) kept.push_back(*entry);
    }
    kept.push_back(nullptr);
    return kept;
}

// posix_spawn and not fork: fork is unsafe in a process that has memory registered with an HCA. The signals
// are as in a new process whatever the program did with them.
Expected<pid_t> start(std::vector<std::string> words, int out) {
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    auto environment = plain_environment();
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t child = -1;
    const int failed = ::posix_spawnp(&child, argv[0], &files, &attributes, argv.data(), environment.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (failed != 0) return untold(std::generic_category().message(failed));
    return child;
}

Expected<std::string> read_all(int fd, Clock::time_point deadline) {
    std::string text;
    char block[65536];
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd watched{fd, POLLIN, 0};
        const int ready = ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
        if (ready == 0) return untold("no answer in time");
        if (ready < 0 && errno != EINTR) return untold(std::generic_category().message(errno));
        if (ready < 0) continue;
        const auto n = ::read(fd, block, sizeof block);
        if (n == 0) return text;
        if (n < 0 && errno != EINTR) return untold(std::generic_category().message(errno));
        if (n > 0) text.append(block, static_cast<std::size_t>(n));
        if (text.size() > longest_answer) return untold("its answer does not end");
    }
}

} // namespace

Expected<std::string> read_queue(std::string_view lines, std::int64_t job, std::int64_t asker) {
    std::string found;
    bool seen = false;
    while (!lines.empty()) {
        const auto end = lines.find('\n');
        if (end == std::string_view::npos) return untold("its answer is cut off");
        const auto line = lines.substr(0, end);
        lines.remove_prefix(end + 1);
        const auto space = line.find(' ');
        const auto number = base::parse_count(line.substr(0, space));
        if (!number || space == std::string_view::npos || space + 1 == line.size())
            return untold(fmt::format("says \"{}\"", line.substr(0, 80)));
        const auto listed = static_cast<std::int64_t>(*number);
        seen = seen || listed == asker;
        if (listed == job) found = line.substr(space + 1);
    }
    if (!seen) return untold(fmt::format("does not know job {}, which asks", asker));
    return found;
}

Expected<std::string> state_in_queue(std::int64_t job, std::int64_t asker, base::Duration patience) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return untold(std::generic_category().message(errno));
    const UniqueFd from(ends[0]);
    UniqueFd to(ends[1]);
    // --array: pending tasks of an array stand on lines of their own; by default all are shown that are not
    // over.
    const auto child =
        start({"squeue", "--noheader", "--array", "--user=" + std::to_string(::geteuid()), "--format=%A %T"},
              to.get());
    if (!child) return child.error();
    to = {};
    auto text = read_all(from.get(), Clock::now() + patience);
    if (!text) ::kill(*child, SIGKILL);
    int status = 0;
    pid_t reaped;
    do
        reaped = ::waitpid(*child, &status, 0);
    while (reaped < 0 && errno == EINTR);
    if (!text) return std::move(text).error();
    if (reaped < 0 || !WIFEXITED(status)) return untold("how it ended cannot be told");
    if (WEXITSTATUS(status) != 0) return untold(fmt::format("ended with status {}", WEXITSTATUS(status)));
    return read_queue(*text, job, asker);
}

} // namespace restart::ckpt
