// restartd: decides what to do about broken hosts and does it. main is the table of contents; the parts are
// the journal (what was decided), the driver (step by step), the API (who may say what) and the server.
#include "base/cli.hpp"
#include "base/conf.hpp"
#include "base/host_health.hpp"
#include "base/log.hpp"
#include "base/ready.hpp"
#include "base/units.hpp"
#include "restart/daemon/api.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/daemon/journal.hpp"
#include "restart/daemon/why_writer.hpp"
#include "restart/rm/slurm_rm.hpp"
#include "restart/wire/http_server.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace restart;
namespace log = base::log;

constexpr base::Duration stop_patience{5'000};

struct Options {
    std::string config;
    int ready_fd = -1;
    bool check_config = false, print_config = false, verbose = false;
};

void declare(base::Cli& cli, Options& options) {
    cli->add_option("--config", options.config, "Configuration file (railyard.conf(5))");
    cli->add_option("--ready-fd", options.ready_fd, "Write READY to this descriptor when serving");
    cli->add_flag("--check-config", options.check_config, "Check the configuration and exit");
    cli->add_flag("--print-config", options.print_config,
                  "Print every key with its value and meaning and exit");
    cli->add_flag("--verbose", options.verbose, "Log what only developers need");
}

// What the key table cannot check: addresses, and values that make no sense together.
base::Expected<base::Conf> load(const Options& options) {
    auto conf = base::load_conf(options.config);
    if (!conf) return conf;
    const auto wrong = [&](std::string_view key, std::string_view text) {
        return base::Error{base::Code::input,
                           fmt::format("{}: [restartd] {}: {}",
                                       conf->file().empty() ? "defaults" : conf->file().string(), key, text)};
    };
    if (auto listen = parse_listen(conf->text("restartd", "listen")); !listen)
        return wrong("listen", listen.error().text);
    if (auto url = parse_url(conf->text("restartd", "url")); !url) return wrong("url", url.error().text);
    const auto poll = conf->duration("restartd", "poll_interval");
    if (poll < base::Duration(100) || poll > base::Duration(60'000))
        return wrong("poll_interval",
                     fmt::format("{} is not between 100ms and 1m", base::format_duration(poll)));
    if (conf->count("restartd", "agent_uid") > 0xfffffffe) return wrong("agent_uid", "is no user id");
    const auto percent = conf->number("restartd", "max_drained_percent");
    if (percent < 0 || percent > 100) return wrong("max_drained_percent", "is not between 0 and 100");
    return conf;
}

DriverOptions driver_options(const base::Conf& conf) {
    DriverOptions options;
    options.policy = Policy::from(conf);
    options.poll = conf.duration("restartd", "poll_interval");
    options.fabric = conf.text("placement", "fabric");
    options.health = base::health_path(conf);
    options.spare_risk = conf.number("placement", "spare_risk");
    options.repair_time = conf.duration("placement", "repair_time");
    options.keep_history = conf.duration("restartd", "keep_history");
    options.explain_pending = conf.boolean("placement", "explain_pending");
    return options;
}

// A connection for each agent.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// All threads inherit the mask; only main waits for these.
sigset_t block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGHUP})
        sigaddset(&signals, number);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    return signals;
}

// Whole or not at all: a file with an error changes nothing.
void reload(const Options& options, base::Conf& conf, Driver& driver, Api& api) {
    auto fresh = load(options);
    if (!fresh) {
        log::error("{}: the configuration stays as it was", fresh.error().text);
        return;
    }
    for (const char* key : {"listen", "journal"})
        if (fresh->text("restartd", key) != conf.text("restartd", key))
            log::warning("[restartd] {} changed: it counts after a restart of restartd", key);
    conf = *std::move(fresh);
    api.reload(Roles::from(conf), MungeAuth(conf.text("munge", "socket")));
    driver.reload(driver_options(conf));
    log::info("configuration read again");
}

int serve(const base::Cli& cli, const Options& options, base::Conf conf) {
    log::open("restartd", options.verbose ? log::Level::debug : log::Level::info);
    raise_descriptor_limit();
    const auto signals = block_signals();

    auto rm = make_slurm_rm();
    if (!rm) return cli.fail(rm.error());
    auto journal = Journal::open(conf.text("restartd", "journal"));
    if (!journal) return cli.fail(journal.error());
    Metrics metrics;
    auto driver = Driver::make(*std::move(journal), **rm, metrics, driver_options(conf));
    if (!driver) return cli.fail(driver.error());
    Api api(**driver, metrics, Roles::from(conf), MungeAuth(conf.text("munge", "socket")));
    HttpLimits limits;
    limits.workers = Api::workers();
    HttpServer::Callbacks callbacks;
    callbacks.handle = [&](const HttpRequest& request) { return api.handle(request); };
    callbacks.admit = [&](HttpRequest& request) { return api.admits(request); };
    callbacks.lane = Api::lane;
    callbacks.refused = [&](std::string_view reason) { api.refused(reason); };
    auto server = HttpServer::start(*parse_listen(conf.text("restartd", "listen")), limits, callbacks);
    if (!server) return cli.fail(std::move(server).error().within("[restartd] listen"));

    (*driver)->start();
    std::optional<WhyWriter> why_writer(**driver);
    if (auto told = base::tell_ready(options.ready_fd); !told) return cli.fail(told.error());
    log::info("serving on {}{}", conf.text("restartd", "listen"),
              conf.boolean("restartd", "observe_only") ? "; observe_only: nothing is drained or requeued"
                                                       : "");

    for (;;) {
        int number = 0;
        if (::sigwait(&signals, &number) != 0) continue;
        if (number != SIGHUP) break;
        reload(options, conf, **driver, api);
    }

    log::info("stopping");
    server->stop();
    why_writer.reset();
    if (!(*driver)->stop(stop_patience)) {
        log::warning(
            "the resource manager has not answered a call: what it did is settled at the next start");
        std::_Exit(base::exit_done); // the journal is whole
    }
    return base::exit_done;
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("restartd", "Decide what to do about broken hosts, drain them and requeue their jobs.",
                  "restartd(8)");
    Options options;
    declare(cli, options);
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    auto conf = load(options);
    if (!conf) return cli.fail(conf.error());
    if (options.print_config) std::cout << conf->print();
    if (options.check_config || options.print_config) return base::finish_output(cli, base::exit_done);
    return serve(cli, options, *std::move(conf));
}
