#include "base/child.hpp"

#include "base/unique_fd.hpp"
#include "base/utf8.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_answer = std::size_t{64} << 20;
constexpr std::size_t longest_line = 200; // quoted in an error

Error failed(std::string_view why, Code code = Code::unavailable) {
    return {code, std::string(why)};
}

// What a child gets besides its arguments.
struct Around {
    std::vector<std::string> without; // prefixes of variables to leave out
    std::vector<std::string> with;    // variables to add
    bool errors = false;              // standard error is captured together with standard output
};

std::vector<char*> environment(Around& around) {
    auto without = around.without;
    for (const auto& variable : around.with)
        without.push_back(variable.substr(0, variable.find('=') + 1));
    std::vector<char*> kept;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        if (std::none_of(without.begin(), without.end(),
                         [&](const std::string& start) { return text.starts_with(start); }))
            kept.push_back(*entry);
    }
    for (auto& variable : around.with)
        kept.push_back(variable.data());
    kept.push_back(nullptr);
    return kept;
}

// After an error, `text` holds what was read so far.
Expected<void> read_all(int fd, Clock::time_point deadline, std::string& text) {
    char block[65536];
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd watched{fd, POLLIN, 0};
        const int ready = ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
        if (ready == 0) return failed("no answer in time");
        if (ready < 0 && errno != EINTR) return failed(std::generic_category().message(errno));
        if (ready < 0) continue;
        const auto n = ::read(fd, block, sizeof block);
        if (n == 0) return {};
        if (n < 0 && errno != EINTR) return failed(std::generic_category().message(errno));
        if (n > 0) text.append(block, static_cast<std::size_t>(n));
        if (text.size() > longest_answer) return failed("its answer does not end");
    }
}

// The last line that a program printed before it timed out.
std::string last_line(std::string_view text) {
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    return printable(text.substr(text.rfind('\n') + 1), longest_line);
}

Expected<Ended> run(std::vector<std::string>& words, Duration patience, Around around) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return failed(std::generic_category().message(errno));
    const UniqueFd from(ends[0]);
    UniqueFd to(ends[1]);
    const auto variables = environment(around);
    const auto child =
        start_program(words, {to.get(), around.errors ? Start::Errors::with_output : Start::Errors::nowhere,
                              variables.data()});
    if (!child) return child.error();
    to = {};
    std::string text;
    auto done = read_all(from.get(), Clock::now() + patience, text);
    if (!done) ::kill(*child, SIGKILL);
    int status = 0;
    pid_t reaped;
    do
        reaped = ::waitpid(*child, &status, 0);
    while (reaped < 0 && errno == EINTR);
    if (!done) {
        auto error = std::move(done).error();
        if (const auto last = last_line(text); around.errors && !last.empty()) error.text += ": " + last;
        return error;
    }
    if (reaped < 0) return failed("how it ended cannot be known");
    return Ended{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), std::move(text)};
}

} // namespace

Expected<pid_t> start_program(std::vector<std::string> words, const Start& how) {
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&files, how.output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (how.errors == Start::Errors::with_output)
        ::posix_spawn_file_actions_adddup2(&files, how.output, STDERR_FILENO);
    if (how.errors == Start::Errors::nowhere)
        ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    // The child must not inherit our descriptors: a listening socket that lives on in a child keeps its port
    // in use.
    ::posix_spawn_file_actions_addclosefrom_np(&files, 3);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes,
                               static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  (how.own_group ? POSIX_SPAWN_SETPGROUP : 0)));
    pid_t child = -1;
    const int error = ::posix_spawnp(&child, argv[0], &files, &attributes, argv.data(),
                                     how.environment == nullptr ? environ : how.environment);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0)
        return failed(std::generic_category().message(error),
                      error == ENOENT ? Code::not_found : Code::unavailable);
    return child;
}

Expected<std::string> output_of(std::vector<std::string> words, Duration patience,
                                const std::vector<std::string>& without) {
    const auto program = words.at(0);
    auto ended = run(words, patience, {without, {}, false});
    if (!ended) return std::move(ended).error().within(program);
    if (ended->status != 0)
        return failed("ended with status " + std::to_string(ended->status)).within(program);
    return std::move(ended->output);
}

Expected<Ended> run_to_end(std::vector<std::string> words, Duration patience,
                           const std::vector<std::string>& with) {
    const auto program = words.at(0);
    auto ended = run(words, patience, {{}, with, true});
    if (!ended) return std::move(ended).error().within(program);
    return ended;
}

} // namespace base
