#include "restart/run/process.hpp"

#include "base/unique_fd.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace restart::run {
namespace {

std::vector<std::string> environment_with(const std::map<std::string, std::optional<std::string>>& changes) {
    std::vector<std::string> variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string text(*entry);
        if (!changes.contains(text.substr(0, text.find('=')))) variables.push_back(text);
    }
    for (const auto& [name, value] : changes)
        if (value) variables.push_back(name + '=' + *value);
    return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (auto& text : texts)
        list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

} // namespace

base::Expected<void> Process::start(const Started& what, int output) {
    auto words = what.words;
    auto variables = environment_with(what.environment);
    const auto argv = pointers(words), envp = pointers(variables);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::system_error("pipe", errno);
    const base::UniqueFd from(ends[0]);
    base::UniqueFd to(ends[1]);
    const auto parent = ::getpid();
    const auto child = ::fork();
    if (child < 0) return base::system_error("fork", errno);
    if (child == 0) {
        sigset_t none;
        ::sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(1); // it died before
        if (output >= 0) ::dup2(output, STDOUT_FILENO);
        ::execvpe(argv[0], argv.data(), envp.data());
        const int number = errno;
        [[maybe_unused]] const auto n = ::write(to.get(), &number, sizeof number);
        ::_exit(127);
    }
    to = {};
    int number = 0;
    ssize_t n = 0;
    do
        n = ::read(from.get(), &number, sizeof number);
    while (n < 0 && errno == EINTR);
    if (n == sizeof number) {
        ::waitpid(child, nullptr, 0);
        auto error = base::system_error(words.front(), number);
        if (number == ENOENT) error.code = base::Code::not_found;
        return error;
    }
    pid_ = child;
    return {};
}

void Process::send(int number) const {
    if (pid_ > 0) ::kill(pid_, number);
}

std::optional<int> Process::reap() {
    int status = 0;
    if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return {};
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace restart::run
