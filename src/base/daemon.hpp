// What restartd, nodewatchd and fabricwatchd have in common as daemons: options, configuration, signals,
// reloading the configuration, the descriptor limit, and readiness. main() reads:
//
//     Cli cli(…); Daemon daemon(cli, {…}); its own options, cli.parse()
//     auto conf = daemon.configure(status);  exit if there is none
//     daemon.begin();                        before any thread is created
//     …                                      everything that can fail at startup
//     daemon.serve(apply);
//     while (daemon.wait(…)) …               until SIGTERM or SIGINT
#pragma once

#include "base/cli.hpp"
#include "base/clock.hpp"
#include "base/conf.hpp"
#include "base/expected.hpp"
#include "base/log.hpp"
#include "base/unique_fd.hpp"

#include <functional>
#include <optional>
#include <string>

namespace base {

class Daemon {
public:
    // Adds --config, --ready-fd, --check-config and --print-config; `cli` must outlive this. `needs` are the
    // tables that the daemon reads: an out-of-bounds value in another table does not prevent startup.
    Daemon(Cli& cli, ConfTables needs);
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    // Call before configure(): what --check-config checks besides the configuration. An error is printed.
    using Check = std::function<Expected<void>(const Conf& conf)>;
    void check_also(Check check) { check_also_ = std::move(check); }

    // After the options are parsed: opens the log, which writes lines from level `least` on, and reads the
    // configuration. Returns nothing when the program is to exit with `status`: after an error, which is
    // printed, or when --check-config or --print-config is done.
    std::optional<Conf> configure(int& status, log::Level least = log::Level::info) const;

    // Raises the limit on open files (to 65,536, or the hard limit if lower), blocks SIGTERM, SIGINT and
    // SIGHUP in this thread and all that it creates later, and ignores SIGPIPE. Error: the system's.
    Expected<void> begin();

    // Applies a reloaded configuration: either completely, or not at all with an error.
    using Apply = std::function<Expected<void>(const Conf& fresh)>;

    // Reports that the daemon is ready: to --ready-fd, whose error is returned, and to systemd. `apply` is
    // called by wait().
    Expected<void> serve(Apply apply);

    // Waits for a signal or until the descriptor `other` is readable, at most `longest`; may return early. On
    // SIGHUP the configuration is reloaded: if it has an error, or `apply` rejects it, this is logged and the
    // old one remains. Returns false, once, on SIGTERM or SIGINT: the daemon must stop.
    bool wait(Duration longest, int other = -1) const;

    // Readable while a signal is pending for wait().
    int signals() const { return signals_.get(); }

private:
    void reload() const;

    Cli& cli_;
    const ConfTables needs_;
    std::string config_;
    int ready_fd_ = -1;
    bool check_config_ = false, print_config_ = false;
    Check check_also_ = [](const Conf&) { return Expected<void>(); };
    UniqueFd signals_;
    Apply apply_ = [](const Conf&) { return Expected<void>(); }; // before serve()
};

} // namespace base
