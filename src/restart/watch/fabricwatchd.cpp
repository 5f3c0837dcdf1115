// fabricwatchd: sweeps the InfiniBand fabric and reports to restartd which hosts have lost links. Each sweep
// runs in a child process (run_apart.hpp), and another is told of links that change between two sweeps
// (link_notices.hpp); the daemon itself has one thread: sweep, judge, post, wait.
#include "base/cli.hpp"
#include "base/daemon.hpp"
#include "base/log.hpp"
#include "base/table.hpp"
#include "base/units.hpp"
#include "restart/watch/fabric_witness.hpp"
#include "restart/watch/link_notices.hpp"
#include "restart/watch/run_apart.hpp"
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
    std::string fabric;
    bool once = false, json = false;
};

void declare(base::Cli& cli, Options& options) {
    cli->add_option("--fabric", options.fabric, "Fabric file; overrides [placement] fabric");
    auto* once = cli->add_flag("--once", options.once, "Sweep once, print what is missing, then exit");
    cli->add_flag("--json", options.json, "With --once: print JSON")->needs(once);
}

struct Settings {
    std::string fabric;
    base::Duration interval{};
    topo::MadPort port;
    Delivery::Target target;
};

Settings settings_of(const base::Conf& conf, const Options& options) {
    return {options.fabric.empty() ? conf.placement.fabric : options.fabric,
            conf.fabricwatchd.interval,
            {conf.fabricwatchd.ca, static_cast<int>(conf.fabricwatchd.port)},
            {conf.restartd.url, conf.munge.socket, conf.restartd.user}};
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

struct Swept {
    FabricReport report;
    LeafAddresses addresses;
};

base::Expected<Swept> sweep(const topo::Fabric& file, const topo::MadPort& port, int interrupt = -1) {
    const auto began = std::chrono::steady_clock::now();
    const auto text = run_apart(
        [&]() -> base::Expected<std::string> {
            const auto swept = topo::discover_live(port);
            if (!swept) return swept.error();
            // A report has no line feed.
            return fmt::format("{}\n{}", testify(file, *swept).to_json(),
                               leaf_addresses(file, *swept).to_text());
        },
        sweep_deadline, interrupt);
    if (!text) return text.error();
    const auto end = std::min(text->find('\n'), text->size());
    auto report = FabricReport::from_json(std::string_view(*text).substr(0, end));
    if (!report) return std::move(report).error();
    auto addresses =
        LeafAddresses::from_text(std::string_view(*text).substr(std::min(end + 1, text->size())));
    if (!addresses) return std::move(addresses).error();
    report->age_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return Swept{*std::move(report), *std::move(addresses)};
}

int print_once(const base::Cli& cli, const topo::Fabric& file, const Settings& settings, bool json) {
    const auto swept = sweep(file, settings.port);
    if (!swept) return cli.fail(swept.error());
    const auto* report = &swept->report;
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

class Sweeper {
public:
    Sweeper(Options options, Settings settings, topo::Fabric file, Delivery delivery)
        : options_(std::move(options)), settings_(std::move(settings)), file_(std::move(file)),
          delivery_(std::move(delivery)) {}

    // One sweep; a signal ends it early, for run() to take.
    void step(const base::Daemon& daemon) {
        auto swept = sweep(file_, settings_.port, daemon.signals());
        if (!swept) {
            if (swept.error().code == base::Code::usage) return;
            if (failure_ != swept.error().text) log::warning("sweep: {}; trying on", swept.error().text);
            failure_ = swept.error().text;
            return;
        }
        notices_.tell(swept->addresses);
        auto& report = swept->report;
        if (failure_) log::info("sweeping again");
        failure_.reset();
        for (const auto& sentence : news(last_, report))
            log::info("{}", sentence);
        delivery_.post("/v1/fabric", report.to_json())
            .has_value(); // logged there; the next sweep repeats everything
        last_ = std::move(report);
    }

    // Where the file has links to be told of.
    void take_notices() {
        if (has_links_to_see(file_))
            notices_.start(file_, settings_.port, settings_.target);
        else
            notices_.stop();
    }

    // Between two sweeps, until asked to stop.
    void run(const base::Daemon& daemon) {
        using Clock = std::chrono::steady_clock;
        for (auto due = Clock::now();; step(daemon)) {
            for (due += settings_.interval; due <= Clock::now();)
                due += settings_.interval;
            for (auto left = due - Clock::now(); left > 0ms; left = due - Clock::now())
                if (!daemon.wait(std::chrono::ceil<base::Duration>(left))) return;
        }
    }

    base::Expected<void> reload(const base::Conf& conf) {
        auto settings = settings_of(conf, options_);
        auto file = read_file(settings.fabric);
        if (!file) return std::move(file).error();
        auto delivery = Delivery::make(settings.target);
        if (!delivery) return std::move(delivery).error().within("[restartd] url");
        if (!(settings.target == settings_.target)) delivery_ = *std::move(delivery);
        settings_ = std::move(settings);
        file_ = *std::move(file);
        take_notices();
        log::info("fabric {} read again: {} hosts", settings_.fabric, file_.hosts.size());
        return {};
    }

private:
    Options options_;
    Settings settings_;
    topo::Fabric file_;
    Delivery delivery_;
    LinkNotices notices_;
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
    using Table = base::ConfTable;
    base::Daemon daemon(cli, {Table::placement, Table::restartd, Table::fabricwatchd, Table::munge});
    Options options;
    declare(cli, options);
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const auto conf = daemon.configure(status);
    if (!conf) return status;
    auto settings = settings_of(*conf, options);
    auto file = read_file(settings.fabric);
    if (!file) return cli.fail(file.error());
    if (options.once) return print_once(cli, *file, settings, options.json);
    auto delivery = Delivery::make(settings.target);
    if (!delivery) return cli.fail(std::move(delivery).error().within("[restartd] url"));

    if (auto begun = daemon.begin(); !begun) return cli.fail(begun.error());
    log::info("{} hosts of {}, a sweep every {}", file->hosts.size(), settings.fabric,
              base::format_duration(settings.interval));
    Sweeper sweeper(options, std::move(settings), *std::move(file), *std::move(delivery));
    sweeper.take_notices();
    sweeper.step(daemon);
    const auto reload = [&](const base::Conf& fresh) { return sweeper.reload(fresh); };
    if (auto said = daemon.serve(reload); !said) return cli.fail(said.error());
    sweeper.run(daemon);
    log::info("stopped");
    return base::exit_done;
}
