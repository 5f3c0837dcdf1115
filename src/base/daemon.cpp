#include "base/daemon.hpp"

#include "base/ready.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace base {
namespace {

// One connection for each agent or job, a dozen files for each HCA. The limit of select() does not matter: it
// is not used here.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 65536));
    ::setrlimit(RLIMIT_NOFILE, &limit); // best effort
}

} // namespace

Daemon::Daemon(Cli& cli, ConfTables needs) : cli_(cli), needs_(needs) {
    cli->add_option("--config", config_, "Configuration file (railyard.conf(5))");
    cli->add_option("--ready-fd", ready_fd_, "Write READY to this descriptor when serving");
    cli->add_flag("--check-config", check_config_, "Check the configuration and exit");
    cli->add_flag("--print-config", print_config_, "Print every key with its value and meaning and exit");
}

std::optional<Conf> Daemon::configure(int& status, log::Level least) const {
    log::open(cli_.name(), least);
    const bool whole = check_config_ || print_config_; // check the other daemons' tables, too
    auto conf = load_conf(config_, whole ? ConfTables{} : needs_);
    if (!conf) {
        status = cli_.fail(conf.error());
        return {};
    }
    if (check_config_)
        if (const auto sound = check_also_(*conf); !sound) {
            status = cli_.fail(sound.error());
            return {};
        }
    if (print_config_) fmt::print("{}", conf->print());
    if (check_config_ && !print_config_) fmt::print("{}\n", source_of(*conf));
    if (check_config_ || print_config_) {
        status = finish_output(cli_, exit_done);
        return {};
    }
    log::info("{}", source_of(*conf));
    return *std::move(conf);
}

Expected<void> Daemon::begin() {
    raise_descriptor_limit();
    sigset_t taken;
    ::sigemptyset(&taken);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP})
        ::sigaddset(&taken, signal);
    ::pthread_sigmask(SIG_BLOCK, &taken, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    signals_ = UniqueFd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) return system_error("signalfd", errno);
    return {};
}

Expected<void> Daemon::serve(Apply apply) {
    apply_ = std::move(apply);
    return report_ready(ready_fd_);
}

bool Daemon::wait(Duration longest, int other) const {
    std::array<pollfd, 2> watched{pollfd{signals_.get(), POLLIN, 0}, pollfd{other, POLLIN, 0}};
    const auto ms = std::clamp<Duration::rep>(longest.count(), 0, INT_MAX);
    ::poll(watched.data(), watched.size(), static_cast<int>(ms));
    signalfd_siginfo about{};
    if (::read(signals_.get(), &about, sizeof about) != static_cast<ssize_t>(sizeof about)) return true;
    if (about.ssi_signo == SIGHUP) {
        reload();
        return true;
    }
    notify_systemd("STOPPING=1");
    return false;
}

void Daemon::reload() const {
    using std::chrono::steady_clock, std::chrono::microseconds;
    const auto now = std::chrono::duration_cast<microseconds>(steady_clock::now().time_since_epoch());
    notify_systemd(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.count()));
    const auto applied = [&]() -> Expected<void> {
        const auto fresh = load_conf(config_, needs_);
        if (!fresh) return fresh.error();
        return apply_(*fresh);
    }();
    if (applied)
        log::info("configuration read again");
    else
        log::error("{}; the old configuration stands", applied.error().text);
    notify_systemd("READY=1");
}

} // namespace base
