// What restartd, nodewatchd and fabricwatchd do alike as daemons: options, configuration, signals, reading
// the configuration again, the limit on descriptors, and saying when they serve. main() reads:
//
//     Cli cli(…); Daemon daemon(cli, {…}); options of its own, cli.parse()
//     auto conf = daemon.configure(status);  without one the program is over
//     daemon.begin();                        before any thread is made
//     …                                      everything that can fail at the start
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
    // tables that the daemon reads: a value out of its bounds in others does not keep it from serving.
    Daemon(Cli& cli, ConfTables needs);
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    // Before configure(): what --check-config checks beside the configuration. Its error is printed.
    using Check = std::function<Expected<void>(const Conf& conf)>;
    void check_also(Check check) { check_also_ = std::move(check); }

    // After the options are parsed: opens the log, with lines from level `least` on, and reads the
    // configuration. Nothing when the program is to exit with `status`: an error, which is printed, or all is
    // done that --check-config and --print-config ask.
    std::optional<Conf> configure(int& status, log::Level least = log::Level::info) const;

    // Lets many connections and files be open (65,536, or what the hard limit allows), takes SIGTERM, SIGINT
    // and SIGHUP from this thread and those it will make, and ignores SIGPIPE. Error: the system's.
    Expected<void> begin();

    // What the daemon does with a configuration read again: all of it, or an error and nothing.
    using Apply = std::function<Expected<void>(const Conf& fresh)>;

    // From now on it serves, and says so: to --ready-fd, whose error is returned, and to systemd. `apply` is
    // called by wait().
    Expected<void> serve(Apply apply);

    // Waits, at most so long, for a signal or until the descriptor `other` can be read; returns early now and
    // then. At SIGHUP the configuration is read again: one with an error, or that `apply` refuses, is logged
    // and the old one stands. False at SIGTERM and SIGINT, once: the daemon is to stop.
    bool wait(Duration longest, int other = -1) const;

    // Readable while a signal waits to be taken by wait().
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
