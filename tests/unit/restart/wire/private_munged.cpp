#include "private_munged.hpp"

#include "base/file.hpp"
#include "restart/wire/munge_auth.hpp"
#include "unit/patience.hpp"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace test {

PrivateMunged::PrivateMunged() {
    const char* program = "/usr/sbin/munged";
    if (::access(program, X_OK) != 0) {
        why_ = "munged is not installed (Debian: munge)";
        return;
    }
    std::string key;
    std::random_device random;
    while (key.size() < 128)
        key += static_cast<char>(random());
    const auto path = [this](const char* name) { return (folder_.path / name).string(); };
    if (!base::write_file(path("key"), key, 0400)) return;
    ::chmod(folder_.path.c_str(), 0755);
    const std::string arguments[] = {"--key-file=" + path("key"), "--socket=" + socket(),
                                     "--pid-file=" + path("pid"), "--seed-file=" + path("seed"),
                                     "--log-file=" + path("log"), "--num-threads=2"};
    pid_ = ::fork();
    if (pid_ == 0) {
        const int null = ::open("/dev/null", O_RDWR);
        ::dup2(null, STDOUT_FILENO);
        ::dup2(null, STDERR_FILENO);
        ::execl(program, "munged", "--foreground", arguments[0].c_str(), arguments[1].c_str(),
                arguments[2].c_str(), arguments[3].c_str(), arguments[4].c_str(), arguments[5].c_str(),
                nullptr);
        ::_exit(127);
    }
    const restart::MungeAuth auth(socket());
    const bool told = eventually([&] {
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) == pid_) {
            pid_ = -1;
            why_ = "munged did not start here: " + base::read_file(path("log")).value_or("(no log)");
            return true;
        }
        up_ = ::access(socket().c_str(), F_OK) == 0 && auth.sign("GET", "/", "");
        return up_;
    });
    if (!told) why_ = "munged did not answer in time";
}

PrivateMunged::~PrivateMunged() {
    if (pid_ <= 0) return;
    // munged looks for the signal before it waits for a client: one that comes in between goes unnoticed.
    while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
        ::kill(pid_, SIGTERM);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

} // namespace test
