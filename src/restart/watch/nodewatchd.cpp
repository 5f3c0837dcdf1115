// nodewatchd: watches one host and speaks for it and its jobs. main is the table of contents; the parts are
// sources (what the host tells), watcher (what it means), job_socket (what jobs say), reporter (to restartd).
#include "base/cli.hpp"
#include "base/conf.hpp"
#include "base/file.hpp"
#include "base/job_folder.hpp"
#include "base/log.hpp"
#include "base/ready.hpp"
#include "base/units.hpp"
#include "restart/watch/job_socket.hpp"
#include "restart/watch/print.hpp"
#include "restart/watch/reporter.hpp"
#include "restart/watch/signals.hpp"
#include "restart/watch/watcher.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace restart;
using namespace std::chrono_literals;
namespace log = base::log;

struct Options {
    std::string config, host, sysfs, nvml, kmsg;
    int ready_fd = -1;
    bool once = false, json = false, check_config = false;
    base::Option *sysfs_given = nullptr, *nvml_given = nullptr, *kmsg_given = nullptr;
};

void declare(base::Cli& cli, Options& options) {
    cli->add_option("--config", options.config, "Configuration file (railyard.conf(5))");
    cli->add_option("--host", options.host,
                    "This host's name in the resource manager; default: the short host name");
    options.sysfs_given =
        cli->add_option("--sysfs", options.sysfs, "Root of the sysfs tree; overrides [agent] sysfs");
    options.nvml_given = cli->add_option("--nvml", options.nvml, "NVML library; overrides [agent] nvml");
    options.kmsg_given = cli->add_option("--kmsg", options.kmsg, "Kernel log; overrides [agent] kmsg");
    cli->add_option("--ready-fd", options.ready_fd, "Write READY to this descriptor when serving");
    auto* once = cli->add_flag("--once", options.once, "Print one sample and what it means, then exit");
    cli->add_flag("--json", options.json, "With --once: print JSON")->needs(once);
    cli->add_flag("--check-config", options.check_config, "Check the configuration, print it and exit");
}

SourceSettings source_settings(const base::Conf& conf, const Options& options, const std::string& host) {
    SourceSettings settings;
    const auto pick = [&](base::Option* given, const std::string& option, std::string_view key) {
        return *given ? option : conf.text("agent", key);
    };
    settings.sysfs = pick(options.sysfs_given, options.sysfs, "sysfs");
    settings.nvml = pick(options.nvml_given, options.nvml, "nvml");
    settings.kmsg = pick(options.kmsg_given, options.kmsg, "kmsg");
    settings.ignored_devices = conf.text_list("agent", "ignore_devices");
    settings.interval = conf.duration("agent", "interval");
    settings.fabric = conf.text("placement", "fabric");
    settings.host = host;
    settings.folder = std::filesystem::path(conf.text("agent", "job_socket")).parent_path();
    return settings;
}

base::Expected<Limits> limits_of(const base::Conf& conf) {
    Limits limits;
    limits.throttle_evicts.clear();
    const auto known = throttle_reasons();
    for (const auto& name : conf.text_list("throttle", "reasons")) {
        if (std::none_of(known.begin(), known.end(),
                         [&](const auto& reason) { return reason.name == name; })) {
            std::string allowed;
            for (const auto& reason : known)
                allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", reason.name);
            return base::Error{base::Code::input, fmt::format("{}: [throttle] reasons: \"{}\" is none of {}",
                                                              conf.file().string(), name, allowed)};
        }
        limits.throttle_evicts.insert(name);
    }
    limits.throttle_window = conf.duration("throttle", "window");
    limits.clear = conf.duration("throttle", "clear");
    limits.interval = conf.duration("agent", "interval");
    if (limits.interval < 100ms || limits.interval > 60s)
        return base::Error{base::Code::input,
                           fmt::format("{}: [agent] interval: {} is not between 100ms and 60s",
                                       conf.file().string(), base::format_duration(limits.interval))};
    return limits;
}

Delivery::Target target_of(const base::Conf& conf) {
    return {conf.text("restartd", "url"), conf.text("munge", "socket")};
}

std::string short_host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const std::string whole = name.data();
    return whole.substr(0, whole.find('.'));
}

// The resource manager's name for this host goes into its requests; restartd refuses reports with any other.
base::Expected<std::string> host_name(const Options& options) {
    auto name = options.host.empty() ? short_host_name() : options.host;
    const auto allowed = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    };
    if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), allowed))
        return base::Error{base::Code::usage,
                           fmt::format("--host: \"{}\" is no host name: 1 to 64 letters, digits, "
                                       "'-', '_' and '.'",
                                       name)};
    return name;
}

std::string boot_id() {
    auto id = base::read_file("/proc/sys/kernel/random/boot_id", 4096).value_or("unknown");
    id.erase(std::remove_if(id.begin(), id.end(), [](unsigned char c) { return c <= 0x20; }), id.end());
    return id;
}

// A clock for windows: it starts at the time of day and never steps.
class SteadyTime {
public:
    base::Time now() const {
        return wall_ + std::chrono::duration_cast<base::Duration>(std::chrono::steady_clock::now() - steady_);
    }

private:
    base::Time wall_ = base::now();
    std::chrono::steady_clock::time_point steady_ = std::chrono::steady_clock::now();
};

// Each HCA keeps a dozen files open, each job a connection.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

void log_transitions(const Transitions& changes) {
    for (const auto& source : changes.watching_again)
        log::info("watching {}", source);
    for (const auto& sentence : changes.not_watching)
        log::info("not watching {}", sentence);
    for (const auto& f : changes.began) {
        const auto level = f.severity >= Severity::warn ? log::Level::warning : log::Level::info;
        log::write(level,
                   fmt::format("{} on {}: {} ({})", f.rule, f.component, f.evidence, to_string(f.severity)));
    }
    for (const auto& f : changes.ended)
        log::info("{} on {}: over", f.rule, f.component);
}

// One reading for a person or a machine. Exit status 1 when something is found.
int print_once(const base::Cli& cli, SourceSettings settings, const Limits& limits,
               const std::string& host, bool json) {
    settings.every_counter = true;
    Sources sources(settings);
    sources.await_first(10s);
    const auto reading = sources.read(base::now());
    const auto findings = Judge(limits).judge(reading.sample);
    fmt::print("{}", json ? print_json(host, reading, findings) : print_text(host, reading, findings));
    return base::finish_output(cli, findings.empty() ? base::exit_done : base::exit_finding);
}

class Daemon {
public:
    Daemon(Options options, std::string host) : options_(std::move(options)), host_(std::move(host)) {}

    // Everything that can fail at the start. Signals must have been blocked.
    base::Expected<void> start(const base::Conf& conf, Limits limits) {
        news_ = base::UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        interval_ = limits.interval;
        auto socket = JobSocket::open(conf.text("agent", "job_socket"), *book_, [fd = news_.get()] {
            const std::uint64_t one = 1;
            [[maybe_unused]] const auto n = ::write(fd, &one, sizeof one);
        });
        if (!socket) return std::move(socket).error();
        socket_ = *std::move(socket);
        auto reporter = Reporter::start(target_of(conf), book_);
        if (!reporter) return std::move(reporter).error().within("[restartd] url");
        reporter_ = *std::move(reporter);
        settings_ = source_settings(conf, options_, host_);
        sources_.emplace(settings_);
        watcher_.emplace(host_, boot_id(), std::move(limits), *sources_, *book_);
        sources_->await_first(1s);
        return {};
    }

    void run(const Signals& signals) {
        using Clock = std::chrono::steady_clock;
        for (auto due = Clock::now(), tidy = due;;) {
            report();
            if (Clock::now() >= tidy) {
                remove_left_files();
                tidy = Clock::now() + 10min;
            }
            const auto reported = Clock::now();
            while (due <= reported)
                due += interval_;
            bool news = false;
            for (auto at = reported; at < due && !(news && at - reported >= 100ms); at = Clock::now()) {
                const auto until = news ? std::min(due, reported + 100ms) : due;
                const auto wait = std::chrono::ceil<base::Duration>(until - at);
                switch (signals.wait(wait, news ? -1 : news_.get())) {
                case Signals::What::stop: return;
                case Signals::What::reload: reload(); break;
                case Signals::What::nothing: break;
                }
                std::uint64_t count = 0;
                news = ::read(news_.get(), &count, sizeof count) > 0 || news;
            }
        }
    }

    void stop() {
        socket_.reset(); // no more commits
        if (book_->undelivered() == 0) return;
        report();
        if (!reporter_->flush(2s))
            log::error("restartd did not hear of {} checkpoints", book_->undelivered());
    }

private:
    void report() {
        auto [report, changes] = watcher_->next(clock_.now(), base::now());
        log_transitions(changes);
        reporter_->offer(std::move(report));
    }

    // Of jobs whose slurmstepd was killed: nobody else may come by.
    void remove_left_files() {
        if (const auto removed = base::remove_left_job_folders(settings_.folder))
            log::info("{}: removed the files of {} jobs that are over", settings_.folder, removed);
    }

    void reload() {
        auto conf = base::load_conf(options_.config);
        if (!conf) return log::error("{}; the old configuration stands", conf.error().text);
        auto limits = limits_of(*conf);
        if (!limits) return log::error("{}; the old configuration stands", limits.error().text);
        if (auto done = reporter_->retarget(target_of(*conf)); !done)
            return log::error("[restartd] url: {}; the old configuration stands", done.error().text);
        interval_ = limits->interval;
        watcher_->set_limits(*std::move(limits));
        const auto settings = source_settings(*conf, options_, host_);
        settings_.fabric = settings.fabric;
        sources_->look_at_fabric(settings.fabric);
        if (!(settings == settings_))
            log::warning("[agent]: changes of sources and their interval take effect at the next start");
        log::info("configuration read again");
    }

    Options options_;
    std::string host_;
    SourceSettings settings_;
    base::Duration interval_{};
    SteadyTime clock_;
    base::UniqueFd news_;
    std::shared_ptr<JobBook> book_ = std::make_shared<JobBook>();
    std::unique_ptr<JobSocket> socket_;
    std::unique_ptr<Reporter> reporter_;
    std::optional<Sources> sources_;
    std::optional<Watcher> watcher_;
};

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("nodewatchd",
                  "Watches this host's links, GPUs and kernel log, and speaks for it and its jobs.",
                  "nodewatchd(8)");
    Options options;
    declare(cli, options);
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    log::open("nodewatchd", log::Level::info);

    auto conf = base::load_conf(options.config);
    if (!conf) return cli.fail(conf.error());
    const auto host = host_name(options);
    if (!host) return cli.fail(host.error());
    auto limits = limits_of(*conf);
    if (!limits) return cli.fail(limits.error());
    if (options.check_config) {
        fmt::print("{}", conf->print());
        return base::finish_output(cli, base::exit_done);
    }
    if (options.once)
        return print_once(cli, source_settings(*conf, options, *host), *limits, *host, options.json);

    raise_descriptor_limit();
    const Signals signals;
    Daemon daemon(options, *host);
    if (auto started = daemon.start(*conf, *std::move(limits)); !started) return cli.fail(started.error());
    if (auto told = base::tell_ready(options.ready_fd); !told) return cli.fail(told.error());
    log::info("host {}: job socket {}, reports to {} every {}", *host, conf->text("agent", "job_socket"),
              conf->text("restartd", "url"), base::format_duration(conf->duration("agent", "interval")));
    daemon.run(signals);
    daemon.stop();
    log::info("stopped");
    return base::exit_done;
}
