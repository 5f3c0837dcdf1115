// nodewatchd: watches one host and reports for it and its jobs. main shows the structure; the parts are
// sources (readings), watcher (findings), job_socket (the jobs), peer_looker (other hosts), cut_off (whether
// this host is cut off), reporter (to restartd), metrics_socket (scrapes).
//
// The main thread sleeps until there is work: a signal, a job, a scrape, the watchdog. Sampling, evaluating
// and reporting are tasks of one loop, executed in turn by one thread that wakes once per interval.
#include "base/agent_paths.hpp"
#include "base/child.hpp"
#include "base/cli.hpp"
#include "base/daemon.hpp"
#include "base/file.hpp"
#include "base/host_port.hpp"
#include "base/job_folder.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"
#include "restart/watch/cut_off.hpp"
#include "restart/watch/job_socket.hpp"
#include "restart/watch/metrics_board.hpp"
#include "restart/watch/metrics_socket.hpp"
#include "restart/watch/nccl_looks.hpp"
#include "restart/watch/peer_looker.hpp"
#include "restart/watch/print.hpp"
#include "restart/watch/reporter.hpp"
#include "restart/watch/rules_file.hpp"
#include "restart/watch/served.hpp"
#include "restart/watch/signal_table.hpp"
#include "restart/watch/task_loop.hpp"
#include "restart/watch/watcher.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <mutex>
#include <unistd.h>

namespace {

using namespace restart;
using namespace std::chrono_literals;
namespace log = base::log;

struct Options {
    std::string host, sysfs, nvml, kmsg, rules;
    bool once = false, json = false, signals = false, print_rules = false;
    base::Option *sysfs_given = nullptr, *nvml_given = nullptr, *kmsg_given = nullptr;
};

void declare(base::Cli& cli, Options& options) {
    cli->add_option("--host", options.host,
                    "This host's name in the resource manager; default: the short host name");
    options.sysfs_given =
        cli->add_option("--sysfs", options.sysfs, "Root of the sysfs tree; overrides [agent] sysfs");
    options.nvml_given = cli->add_option("--nvml", options.nvml, "NVML library; overrides [agent] nvml");
    options.kmsg_given = cli->add_option("--kmsg", options.kmsg, "Kernel log; overrides [agent] kmsg");
    cli->add_option("--rules", options.rules,
                    "Rules (health.conf(5)); default: health.conf beside the configuration file");
    cli->add_flag("--print-rules", options.print_rules, "Print every rule as a rules file has it and exit");
    auto* once = cli->add_flag("--once", options.once, "Print one sample and what it means, then exit");
    cli->add_flag("--signals", options.signals, "With --once: print each rule beside what it looks at")
        ->needs(once);
    cli->add_flag("--json", options.json, "With --once: print JSON")->needs(once);
}

SourceSettings source_settings(const base::Conf& conf, const Options& options, const std::string& host,
                               const RuleSet& rules) {
    SourceSettings settings;
    settings.counters = RuleBook::counters(rules);
    if (conf.agent.pace > base::Duration{})
        for (const auto& counter : PaceMeter::counters())
            if (std::find(settings.counters.begin(), settings.counters.end(), counter) ==
                settings.counters.end())
                settings.counters.push_back(counter);
    settings.sysfs = *options.sysfs_given ? options.sysfs : conf.agent.sysfs;
    settings.nvml = *options.nvml_given ? options.nvml : conf.agent.nvml;
    settings.kmsg = *options.kmsg_given ? options.kmsg : conf.agent.kmsg;
    settings.ignored_devices = conf.agent.ignore_devices;
    settings.interval = conf.agent.interval;
    settings.mounts = conf.agent.mounts;
    settings.fabric = conf.placement.fabric;
    settings.host = host;
    settings.folder = std::filesystem::path(conf.agent.job_socket).parent_path();
    return settings;
}

// A finding's component is the path, whose length in a report is limited.
base::Expected<void> check_mounts(const base::Conf& conf) {
    constexpr std::size_t longest = 60, most = 16;
    const auto wrong = [](std::string_view what) {
        return base::Error{base::Code::input, fmt::format("[agent] mounts: {}", what)};
    };
    for (const auto& path : conf.agent.mounts)
        if (!path.starts_with('/') || path.size() > longest || base::printable(path) != path)
            return wrong(fmt::format("\"{}\" is no path from the root of at most {} printable characters",
                                     base::printable(path, 80), longest));
    if (conf.agent.mounts.size() > most)
        return wrong(
            fmt::format("are {}, of which at most {} are looked at", conf.agent.mounts.size(), most));
    return {};
}

Limits limits_of(const base::Conf& conf) {
    Limits limits;
    limits.throttle_evicts = {conf.throttle.reasons.begin(), conf.throttle.reasons.end()};
    limits.throttle_window = conf.throttle.window;
    limits.clear = conf.throttle.clear;
    limits.interval = conf.agent.interval;
    return limits;
}

Delivery::Target target_of(const base::Conf& conf) {
    return {conf.restartd.url, conf.munge.socket, conf.restartd.user};
}

// Possible addresses of restartd.
std::vector<Witness> restartd_at(const base::Conf& conf) {
    std::vector<Witness> places;
    for (const auto& url : conf.restartd.url)
        if (const auto at = base::parse_url(url)) places.push_back({at->host, at->host, at->port});
    return places;
}

MetricsSocket::At metrics_at(const base::Conf& conf) {
    return {base::metrics_socket(conf.agent), conf.agent.metrics_listen};
}

std::string short_host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const std::string whole = name.data();
    return whole.substr(0, whole.find('.'));
}

// Requests contain the resource manager's name for this host; restartd rejects reports with another name.
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

// Whether systemd is shutting down or rebooting the host, so that this agent's silence is not a loss.
bool host_stops() {
    const auto said = base::run_to_end({"systemctl", "is-system-running"}, 2s);
    return said && said->output.starts_with("stopping");
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

// Each rule with its last values, in the form of railctl signals (wire/signals.hpp).
std::string print_signals(const std::string& host, const Reading& reading, Judge& judge, bool json) {
    const auto now = reading.sample.now;
    const auto table = signal_table({host, now, {}, reading.watching, reading.not_watching}, judge.view(now));
    if (!json) return show(table);
    const auto document = base::parse_json(table.to_json());
    return document ? base::to_pretty(*document) : std::string();
}

// One reading, as text or JSON. Exit status 1 when there are findings.
int print_once(const base::Cli& cli, SourceSettings settings, const Limits& limits, const RuleSet& rules,
               const std::string& host, const Options& options) {
    settings.every_counter = true;
    settings.event_wait = 50ms;
    Sources sources(settings);
    sources.await_first(10s);
    const auto reading = sources.read(base::now());
    Judge judge(limits, rules);
    const auto findings = judge.judge(reading.sample);
    const auto text = options.signals ? print_signals(host, reading, judge, options.json)
                      : options.json  ? print_json(host, reading, findings)
                                      : print_text(host, reading, findings);
    fmt::print("{}", text);
    return base::finish_output(cli, findings.empty() ? base::exit_done : base::exit_finding);
}

// Requests a report earlier than the interval would. Thread-safe.
class ReportTask {
public:
    using Clock = TaskLoop::Clock;

    // There is something to report: soon, but not immediately after the last report, as more may come.
    void has_news() {
        news_ = true;
        task_.by(std::max(Clock::now(), reported_.load() + after_news));
    }
    // Call before other threads use this.
    void add_to(TaskLoop& loop, TaskLoop::Work work) { task_ = loop.add(std::move(work)); }

    // Called by the task: whether a report is due, and when to ask again.
    bool is_due(JobBook::Awaited awaited, base::Duration interval) {
        const auto now = Clock::now(), since = reported_.load();
        if (now < next_ && !(news_ && now - since >= after_news) &&
            !(awaited == JobBook::Awaited::now && now - since >= while_awaited))
            return false;
        news_ = false;
        reported_ = now;
        next_ = next_beat(interval);
        return true;
    }
    Clock::time_point ask_again(JobBook::Awaited awaited) const {
        auto at = next_;
        if (news_) at = std::min(at, reported_.load() + after_news);
        // A railrun that waits for restartd's decision gets it within a fraction of the usual interval.
        if (awaited != JobBook::Awaited::nothing) at = std::min(at, Clock::now() + while_awaited);
        return at;
    }

private:
    static constexpr base::Duration after_news{100}, while_awaited{200};
    TaskLoop::Task task_;
    std::atomic<bool> news_ = false;
    std::atomic<Clock::time_point> reported_{};
    Clock::time_point next_{}; // used by the task only
};

class Agent {
public:
    Agent(Options options, std::string host)
        : options_(std::move(options)), host_(std::move(host)),
          board_(std::make_shared<MetricsBoard>(host_)) {}
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;
    ~Agent() {
        {
            const std::lock_guard lock(judging_);
            stopped_ = true;
        }
        loop_.reset(); // waits for its threads, except one that hangs, which starts nothing more
    }

    // Does everything that can fail at start. Signals must have been blocked.
    base::Expected<void> start(const base::Conf& conf, const RuleSet& rules) {
        interval_ = conf.agent.interval;
        loop_.emplace(task_patience(interval_));
        const auto has_news = [task = report_task_] { task->has_news(); };
        auto socket = JobSocket::open(conf.agent.job_socket, *book_, ucx_, has_news);
        if (!socket) return std::move(socket).error();
        socket_ = *std::move(socket);
        looker_ = std::make_shared<PeerLooker>(has_news);
        settings_ = source_settings(conf, options_, host_, rules);
        sources_.emplace(settings_, &*loop_);
        watcher_.emplace(host_, boot_id(), limits_of(conf), *sources_, *book_, rules, &ucx_);
        watcher_->set_pace(conf.agent.pace);
        sources_->await_first(1s);
        // At each beat sampling comes first, then the report, then tasks that depend on others.
        report_task_->add_to(*loop_, [this] { return report_when_due(); });
        cut_off_ = std::make_shared<CutOffWatch>(*loop_, book_, restartd_at(conf), conf.agent.cut_off_after);
        auto reporter = Reporter::start(
            *loop_, target_of(conf), book_, looker_,
            [asked = asked_, has_news] {
                *asked = true;
                has_news();
            },
            [cut_off = cut_off_](const Reply& reply) { cut_off->answered(reply); });
        if (!reporter) return std::move(reporter).error().within("[restartd] url");
        if (conf.agent.nccl_ras) nccl_.emplace(*loop_, book_);
        metrics_at_ = metrics_at(conf);
        serve_metrics();
        const std::lock_guard lock(judging_);
        reporter_ = *std::move(reporter);
        return {};
    }

    void run(const base::Daemon& daemon) {
        report_task_->has_news(); // report the start
        for (auto tidy = TaskLoop::Clock::now();;) {
            if (const auto now = TaskLoop::Clock::now(); now >= tidy) {
                remove_left_files();
                serve_metrics();
                tidy = now + 10min;
            }
            std::vector<pollfd> own{{daemon.signals(), POLLIN, 0}, {loop_->watchdog(), POLLIN, 0}};
            const std::array<Served*, 2> served{socket_.get(), metrics_.get()};
            poll_and_serve(own, served, tidy);
            if (own[1].revents != 0) loop_->relieve();
            if (own[0].revents != 0 && !daemon.wait(0ms)) return;
        }
    }

    base::Expected<void> reload(const base::Conf& conf) {
        const auto rules = read_rules(conf, options_.rules);
        if (!rules) return rules.error();
        if (auto sound = check_mounts(conf); !sound) return sound;
        if (auto done = reporter_->retarget(target_of(conf)); !done)
            return std::move(done).error().within("[restartd] url");
        cut_off_->retarget(restartd_at(conf), conf.agent.cut_off_after);
        const std::lock_guard lock(judging_);
        interval_ = conf.agent.interval;
        watcher_->set_rules(limits_of(conf), *rules);
        watcher_->set_pace(conf.agent.pace);
        if (conf.agent.nccl_ras != nccl_.has_value()) {
            nccl_.reset();
            if (conf.agent.nccl_ras) nccl_.emplace(*loop_, book_);
        }
        const auto settings = source_settings(conf, options_, host_, *rules);
        settings_.fabric = settings.fabric;
        settings_.counters = settings.counters;
        sources_->read_counters(settings.counters);
        sources_->look_at_fabric(settings.fabric);
        if (const auto at = metrics_at(conf); !(at == metrics_at_)) {
            metrics_.reset();
            metrics_at_ = at;
        }
        serve_metrics();
        if (!(settings == settings_))
            log::warning("[agent]: changes of sources and their interval take effect at the next start");
        return {};
    }

    void stop() {
        metrics_.reset();
        socket_.reset(); // no more commits
        const bool leaving = host_stops();
        {
            const std::lock_guard lock(judging_);
            stopped_ = true;
            if (!leaving && book_->undelivered() == 0) return;
            report(leaving);
        }
        if (reporter_->flush(2s)) return;
        if (book_->undelivered() > 0)
            log::error("restartd did not hear of {} checkpoints", book_->undelivered());
        if (leaving) log::warning("restartd did not hear that this host shuts down");
    }

private:
    TaskLoop::Clock::time_point report_when_due() {
        const std::lock_guard lock(judging_);
        if (stopped_) return TaskLoop::Clock::time_point::max();
        if (!reporter_) return next_beat(interval_); // not created yet
        if (report_task_->is_due(book_->awaited(), interval_)) report();
        return report_task_->ask_again(book_->awaited());
    }

    // Requires judging_.
    void report(bool leaving = false) {
        const auto began = std::chrono::steady_clock::now();
        const auto steady = clock_.now(), wall = base::now();
        auto [report, changes] = watcher_->next(steady, wall);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        board_->put(watcher_->last(), steady, wall, took.count());
        report.leaving = leaving;
        report.looks = true;
        report.tells = true;
        report.wants_witnesses = cut_off_->wants_witnesses();
        if (asked_->exchange(false)) reporter_->tell(watcher_->signals());
        report.sights = looker_->sights();
        log_transitions(changes);
        reporter_->offer(std::move(report));
    }

    // A cause of failure, such as another program at the port, may go away: the agent works without metrics.
    void serve_metrics() {
        if (metrics_ || (metrics_at_.socket.empty() && metrics_at_.listen.empty())) return;
        auto served = MetricsSocket::open(metrics_at_, [board = board_] { return board->page(); });
        if (!served) {
            if (served.error().text != metrics_trouble_)
                log::warning("metrics cannot be scraped: {}", served.error().text);
            metrics_trouble_ = served.error().text;
            return;
        }
        metrics_ = *std::move(served);
        metrics_trouble_.clear();
    }

    // Files of jobs whose slurmstepd was killed: only this cleans them up.
    void remove_left_files() {
        if (const auto removed = base::remove_left_job_folders(settings_.folder))
            log::info("{}: removed the files of {} jobs that are over", settings_.folder, removed);
    }

    Options options_;
    std::string host_;
    SourceSettings settings_;
    base::Duration interval_{};
    SteadyTime clock_;
    std::optional<TaskLoop> loop_; // of all tasks that may hang
    std::shared_ptr<ReportTask> report_task_ = std::make_shared<ReportTask>();
    std::mutex judging_; // protects interval_, stopped_, sources_, watcher_ and their reports
    bool stopped_ = false;
    std::shared_ptr<JobBook> book_ = std::make_shared<JobBook>();
    UcxBook ucx_;
    std::unique_ptr<JobSocket> socket_;
    std::shared_ptr<PeerLooker> looker_;
    std::shared_ptr<CutOffWatch> cut_off_;
    std::unique_ptr<Reporter> reporter_;
    std::optional<Sources> sources_;
    std::optional<Watcher> watcher_;
    std::optional<NcclLooks> nccl_;
    std::shared_ptr<std::atomic<bool>> asked_ = std::make_shared<std::atomic<bool>>(false); // for signals
    std::shared_ptr<MetricsBoard> board_;
    MetricsSocket::At metrics_at_;
    std::string metrics_trouble_; // as it was last logged
    std::unique_ptr<MetricsSocket> metrics_;
};

} // namespace

int main(int argc, char** argv) {
    // Its threads work in turn, and one frees what another allocated: a single arena for all.
    ::mallopt(M_ARENA_MAX, 1);
    base::Cli cli("nodewatchd",
                  "Watches this host's links, GPUs and kernel log, and speaks for it and its jobs.",
                  "nodewatchd(8)");
    using Table = base::ConfTable;
    base::Daemon daemon(cli,
                        {Table::placement, Table::restartd, Table::agent, Table::throttle, Table::munge});
    Options options;
    declare(cli, options);
    daemon.check_also([&](const base::Conf& conf) -> base::Expected<void> {
        if (const auto rules = read_rules(conf, options.rules); !rules) return rules.error();
        return check_mounts(conf);
    });
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const auto host = host_name(options);
    if (!host) return cli.fail(host.error());
    const auto conf = daemon.configure(status);
    if (!conf) return status;
    const auto rules = read_rules(*conf, options.rules);
    if (!rules) return cli.fail(rules.error());
    if (const auto sound = check_mounts(*conf); !sound) return cli.fail(sound.error());
    if (options.print_rules) {
        fmt::print("{}", rules->print());
        return base::finish_output(cli, base::exit_done);
    }
    if (options.once)
        return print_once(cli, source_settings(*conf, options, *host, *rules), limits_of(*conf), *rules,
                          *host, options);

    if (auto begun = daemon.begin(); !begun) return cli.fail(begun.error());
    Agent agent(options, *host);
    if (auto started = agent.start(*conf, *rules); !started) return cli.fail(started.error());
    const auto reload = [&](const base::Conf& fresh) { return agent.reload(fresh); };
    if (auto said = daemon.serve(reload); !said) return cli.fail(said.error());
    std::error_code ignored;
    if (const auto path = rules_path(*conf, options.rules); std::filesystem::exists(path, ignored))
        log::info("rules: {}", path.string());
    log::info("host {}: job socket {}, reports to {} every {}", *host, conf->agent.job_socket,
              fmt::join(conf->restartd.url, ", "), base::format_duration(conf->agent.interval));
    agent.run(daemon);
    agent.stop();
    log::info("stopped");
    return base::exit_done;
}
