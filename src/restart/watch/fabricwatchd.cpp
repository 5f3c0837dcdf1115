// fabricwatchd: sweeps the InfiniBand fabric and tells restartd which hosts have lost links. Each sweep runs
// in a child process (run_apart.hpp); the daemon itself has one thread: sweep, judge, post, wait.
#include "base/cli.hpp"
#include "base/conf.hpp"
#include "base/log.hpp"
#include "base/ready.hpp"
#include "base/table.hpp"
#include "base/units.hpp"
#include "restart/watch/fabric_witness.hpp"
#include "restart/watch/run_apart.hpp"
#include "restart/watch/signals.hpp"
#include "restart/wire/delivery.hpp"
#include "topo/fabric_json.hpp"
#include "topo/read/mad_discover.hpp"

#include <chrono>
#include <fmt/format.h>
#include <optional>

namespace {

using namespace restart;
using namespace std::chrono_literals;
namespace log = base::log;

struct Options {
    std::string config, fabric;
    int ready_fd = -1;
    bool once = false, json = false, check_config = false;
};

void declare(base::Cli& cli, Options& options) {
    cli->add_option("--config", options.config, "Configuration file (railyard.conf(5))");
    cli->add_option("--fabric", options.fabric, "Fabric file; overrides [placement] fabric");
    cli->add_option("--ready-fd", options.ready_fd, "Write READY to this descriptor after the first sweep");
    auto* once = cli->add_flag("--once", options.once, "Sweep once, print what is missing, then exit");
    cli->add_flag("--json", options.json, "With --once: print JSON")->needs(once);
    cli->add_flag("--check-config", options.check_config, "Check the configuration, print it and exit");
}

// What the configuration says, checked.
struct Settings {
    std::string fabric;
    base::Duration interval{};
    topo::MadPort port;
    Delivery::Target target;
};

base::Expected<Settings> settings_of(const base::Conf& conf, const Options& options) {
    Settings settings;
    settings.fabric = options.fabric.empty() ? conf.text("placement", "fabric") : options.fabric;
    settings.interval = conf.duration("fabricwatchd", "interval");
    if (settings.interval < 100ms || settings.interval > 1h)
        return base::Error{base::Code::input,
                           fmt::format("{}: [fabricwatchd] interval: {} is not between 100ms and 1h",
                                       conf.file().string(), base::format_duration(settings.interval))};
    settings.port.ca = conf.text("fabricwatchd", "ca");
    settings.port.port = static_cast<int>(conf.count("fabricwatchd", "port"));
    settings.target = {conf.text("restartd", "url"), conf.text("munge", "socket")};
    return settings;
}

base::Expected<topo::Fabric> read_file(const std::string& path) {
    auto file = topo::read_fabric(path);
    if (file && !has_links_to_see(*file))
        log::warning(
            "{}: tells no GUIDs of HCAs, so that sweeps say nothing about hosts; read the fabric itself "
            "with railtopo discover",
            path);
    return file;
}

// A fabric of thousands of hosts is swept in seconds; more is a hang.
constexpr base::Duration sweep_deadline = 30s;

base::Expected<FabricReport> sweep(const topo::Fabric& file, const topo::MadPort& port, int interrupt = -1) {
    const auto text = run_apart(
        [&]() -> base::Expected<std::string> {
            const auto swept = topo::discover_live(port);
            if (!swept) return swept.error();
            return testify(file, *swept).to_json();
        },
        sweep_deadline, interrupt);
    if (!text) return text.error();
    return FabricReport::from_json(*text);
}

int print_once(const base::Cli& cli, const topo::Fabric& file, const Settings& settings, bool json) {
    const auto report = sweep(file, settings.port);
    if (!report) return cli.fail(report.error());
    if (json) {
        fmt::print("{}\n", report->to_json());
    } else {
        base::Table table({"HOST", "LINKS UP", "OF"});
        for (const auto& [host, links] : report->hosts)
            table.add({host, fmt::format("{}", links.links_up), fmt::format("{}", links.links_total)});
        if (!table.empty()) fmt::print("{}", table.print());
        fmt::print("{} of {} hosts seen{}\n", report->hosts_seen, file.hosts.size(),
                   report->complete ? "" : "; switches that have hosts did not answer");
    }
    const bool sound = report->hosts.empty() && report->complete;
    return base::finish_output(cli, sound ? base::exit_done : base::exit_finding);
}

class Daemon {
public:
    Daemon(Options options, Settings settings, topo::Fabric file, Delivery delivery)
        : options_(std::move(options)), settings_(std::move(settings)), file_(std::move(file)),
          delivery_(std::move(delivery)) {}

    // One sweep; a signal ends it early, for run() to take.
    void step(const Signals& signals) {
        auto report = sweep(file_, settings_.port, signals.fd());
        if (!report) {
            if (report.error().code == base::Code::usage) return;
            if (failure_ != report.error().text) log::warning("sweep: {}; trying on", report.error().text);
            failure_ = report.error().text;
            return;
        }
        if (failure_) log::info("sweeping again");
        failure_.reset();
        for (const auto& sentence : news(last_, *report))
            log::info("{}", sentence);
        delivery_.post("/v1/fabric", report->to_json())
            .has_value(); // logged there; the next sweep says all anew
        last_ = *std::move(report);
    }

    // Between two sweeps, until asked to stop.
    void run(const Signals& signals) {
        using Clock = std::chrono::steady_clock;
        for (auto due = Clock::now();; step(signals)) {
            for (due += settings_.interval; due <= Clock::now();)
                due += settings_.interval;
            for (auto left = due - Clock::now(); left > 0ms; left = due - Clock::now()) {
                const auto what = signals.wait(std::chrono::ceil<base::Duration>(left));
                if (what == Signals::What::stop) return;
                if (what == Signals::What::reload) reload();
            }
        }
    }

private:
    void reload() {
        auto conf = base::load_conf(options_.config);
        if (!conf) return log::error("{}; the old configuration stands", conf.error().text);
        auto settings = settings_of(*conf, options_);
        if (!settings) return log::error("{}; the old configuration stands", settings.error().text);
        auto file = read_file(settings->fabric);
        if (!file) return log::error("{}; the old configuration and fabric stand", file.error().text);
        auto delivery = Delivery::make(settings->target);
        if (!delivery)
            return log::error("[restartd] url: {}; the old configuration stands", delivery.error().text);
        if (!(settings->target == settings_.target)) delivery_ = *std::move(delivery);
        settings_ = *std::move(settings);
        file_ = *std::move(file);
        log::info("configuration and fabric read again: {} hosts", file_.hosts.size());
    }

    Options options_;
    Settings settings_;
    topo::Fabric file_;
    Delivery delivery_;
    std::optional<std::string> failure_; // of the last sweep, as logged
    FabricReport last_ = [] {
        FabricReport sound;
        sound.complete = true;
        return sound;
    }();
};

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("fabricwatchd",
                  "Sweeps the InfiniBand fabric and tells restartd which hosts have lost links.",
                  "fabricwatchd(8)");
    Options options;
    declare(cli, options);
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    log::open("fabricwatchd", log::Level::info);

    auto conf = base::load_conf(options.config);
    if (!conf) return cli.fail(conf.error());
    auto settings = settings_of(*conf, options);
    if (!settings) return cli.fail(settings.error());
    if (options.check_config) {
        fmt::print("{}", conf->print());
        return base::finish_output(cli, base::exit_done);
    }
    auto file = read_file(settings->fabric);
    if (!file) return cli.fail(file.error());
    if (options.once) return print_once(cli, *file, *settings, options.json);
    auto delivery = Delivery::make(settings->target);
    if (!delivery) return cli.fail(std::move(delivery).error().within("[restartd] url"));

    const Signals signals;
    log::info("{} hosts of {}, a sweep every {}", file->hosts.size(), settings->fabric,
              base::format_duration(settings->interval));
    Daemon daemon(options, *std::move(settings), *std::move(file), *std::move(delivery));
    daemon.step(signals);
    if (auto told = base::tell_ready(options.ready_fd); !told) return cli.fail(told.error());
    daemon.run(signals);
    log::info("stopped");
    return base::exit_done;
}
