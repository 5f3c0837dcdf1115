// fabricwatchd: sweeps the InfiniBand fabric and reports to restartd which hosts have lost links, and
// problems of links by the counters of their ports (fabric/link_watch.hpp). Each sweep runs in a child
// process (run_apart.hpp), and another child receives notices of links that change between two sweeps
// (link_notices.hpp). The daemon itself has one thread: sweep, post, read counters, evaluate, wait. Counters
// come after the report, as jobs wait for the lost links.
#include "base/cli.hpp"
#include "base/daemon.hpp"
#include "base/log.hpp"
#include "base/table.hpp"
#include "base/units.hpp"
#include "restart/watch/fabric/link_watch.hpp"
#include "restart/watch/fabric_witness.hpp"
#include "restart/watch/link_notices.hpp"
#include "restart/watch/rules_file.hpp"
#include "restart/watch/run_apart.hpp"
#include "restart/wire/delivery.hpp"
#include "topo/fabric_json.hpp"
#include "topo/read/mad_discover.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <poll.h>

namespace {

using namespace restart;
using namespace std::chrono_literals;
namespace log = base::log;

struct Options {
    std::string fabric, rules;
    bool once = false, json = false;
};

void declare(base::Cli& cli, Options& options) {
    cli->add_option("--fabric", options.fabric, "Fabric file; overrides [placement] fabric");
    cli->add_option("--rules", options.rules,
                    "Rules (health.conf(5)); default: health.conf beside the configuration file");
    auto* once = cli->add_flag("--once", options.once,
                               "Sweep once, read counters twice, print what is wrong, then exit");
    cli->add_flag("--json", options.json, "With --once: print JSON")->needs(once);
}

struct Settings {
    std::string fabric;
    base::Duration interval{};
    topo::MadPort port;
    Delivery::Target target;
    bool counters = true;
    LinkWatch::Settings links;
};

base::Expected<Settings> settings_of(const base::Conf& conf, const Options& options) {
    auto rules = read_rules(conf, options.rules);
    if (!rules) return std::move(rules).error();
    Settings settings{options.fabric.empty() ? conf.placement.fabric : options.fabric,
                      conf.fabricwatchd.interval,
                      {conf.fabricwatchd.ca, static_cast<int>(conf.fabricwatchd.port)},
                      {conf.restartd.url, conf.munge.socket, conf.restartd.user},
                      conf.fabricwatchd.counters,
                      {}};
    settings.links.port = settings.port;
    settings.links.limits.window = static_cast<std::uint32_t>(conf.fabricwatchd.questions);
    settings.links.rules = *std::move(rules);
    settings.links.judging.clear = conf.throttle.clear;
    settings.links.judging.interval = settings.interval;
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

// A fabric of thousands of hosts is swept in seconds; longer is a hang.
constexpr base::Duration sweep_deadline = 30s;

struct Swept {
    FabricReport report;
    LeafAddresses addresses;
    std::vector<SeenEnd> ends;
};

base::Expected<Swept> sweep(const topo::Fabric& file, const topo::MadPort& port, int interrupt = -1) {
    const auto began = std::chrono::steady_clock::now();
    const auto text = run_apart(
        [&]() -> base::Expected<std::string> {
            const auto swept = topo::discover_live(port);
            if (!swept) return swept.error();
            // A report has no line feed, and addresses have no NUL.
            return fmt::format("{}\n{}", testify(file, *swept).to_json(),
                               leaf_addresses(file, *swept).to_text()) +
                   '\0' + to_bytes(seen_ends(*swept));
        },
        sweep_deadline, interrupt);
    if (!text) return text.error();
    const std::string_view all = *text;
    const auto line = std::min(all.find('\n'), all.size()), zero = std::min(all.find('\0'), all.size());
    auto report = FabricReport::from_json(all.substr(0, line));
    if (!report) return std::move(report).error();
    auto addresses =
        LeafAddresses::from_text(all.substr(std::min(line + 1, zero), zero - std::min(line + 1, zero)));
    if (!addresses) return std::move(addresses).error();
    auto ends = ends_from(all.substr(std::min(zero + 1, all.size())));
    if (!ends) return std::move(ends).error();
    report->age_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return Swept{*std::move(report), *std::move(addresses), *std::move(ends)};
}

// Growth needs two readings.
constexpr base::Duration between_readings = 2s;

base::Expected<void> read_links(const topo::Fabric& file, const Settings& settings, Swept& swept) {
    LinkWatch links(file, settings.links);
    for (int reading = 0; reading < 2; ++reading) {
        if (reading > 0) ::poll(nullptr, 0, static_cast<int>(between_readings.count()));
        if (auto done = links.step(swept.ends); !done) return done;
    }
    swept.report.findings = links.findings();
    swept.report.counters = links.coverage();
    return {};
}

void print_links(const FabricReport& report) {
    base::Table table({"RULE", "", "LINK", "HOSTS", "WHAT"});
    for (const auto& finding : report.findings.value_or(std::vector<LinkFinding>()))
        table.add({finding.rule, std::string(to_string(finding.severity)), name_of(finding), finding.hosts,
                   finding.evidence});
    if (!table.empty()) fmt::print("{}", table.print());
    if (const auto& counters = report.counters)
        fmt::print("counters of {} of {} ports read\n", counters->answered, counters->ports);
}

int print_once(const base::Cli& cli, const topo::Fabric& file, const Settings& settings, bool json) {
    auto swept = sweep(file, settings.port);
    if (!swept) return cli.fail(swept.error());
    if (settings.counters)
        if (auto done = read_links(file, settings, *swept); !done) return cli.fail(done.error());
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
        print_links(*report);
    }
    const bool sound =
        report->hosts.empty() && report->complete && (!report->findings || report->findings->empty());
    return base::finish_output(cli, sound ? base::exit_done : base::exit_finding);
}

class Sweeper {
public:
    Sweeper(Options options, Settings settings, topo::Fabric file, Delivery delivery)
        : options_(std::move(options)), settings_(std::move(settings)), file_(std::move(file)),
          delivery_(std::move(delivery)), links_(file_, settings_.links) {}

    // One sweep; a signal ends it early and is handled by run().
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
        if (settings_.counters) {
            // Those of the last reading; changes found by this one follow it.
            report.findings = links_.findings();
            report.counters = links_.coverage();
        }
        post(report);
        last_ = std::move(report);
        if (settings_.counters) read_counters(swept->ends, daemon);
    }

    // Only if the file has links with GUIDs.
    void take_notices() {
        if (has_links_to_see(file_))
            notices_.start(file_, settings_.port, settings_.target);
        else
            notices_.stop();
    }

    // Runs sweeps until asked to stop.
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
        if (!settings) return std::move(settings).error();
        auto file = read_file(settings->fabric);
        if (!file) return std::move(file).error();
        auto delivery = Delivery::make(settings->target);
        if (!delivery) return std::move(delivery).error().within("[restartd] url");
        if (!(settings->target == settings_.target)) delivery_ = *std::move(delivery);
        settings_ = *std::move(settings);
        file_ = *std::move(file);
        links_.set(file_, settings_.links);
        take_notices();
        log::info("fabric {} read again: {} hosts", settings_.fabric, file_.hosts.size());
        return {};
    }

private:
    // Failures are logged by the delivery; the next sweep repeats everything.
    void post(const FabricReport& report) { delivery_.post("/v1/fabric", report.to_json()).has_value(); }

    void read_counters(const std::vector<SeenEnd>& ends, const base::Daemon& daemon) {
        const auto before = links_.findings().value_or(std::vector<LinkFinding>());
        const auto done = links_.step(ends, daemon.signals());
        if (!done && done.error().code == base::Code::usage) return; // a signal, handled by run()
        tell_trouble(done ? std::string() : done.error().text);
        if (!done) return;
        const auto& after = *links_.findings();
        const auto sentences = news(before, after);
        for (const auto& sentence : sentences)
            log::info("{}", sentence);
        if (sentences.empty()) return;
        FabricReport changes;
        changes.changes = true;
        changes.findings = after;
        changes.counters = links_.coverage();
        post(changes);
    }

    // The number of silent devices changes with every lost datagram; only whether there are any is logged.
    void tell_trouble(const std::string& failure) {
        const auto read = links_.coverage().value_or(CounterCoverage());
        const auto now = !failure.empty()             ? failure
                         : read.answered < read.ports ? std::string("some ports do not answer")
                                                      : std::string();
        if (now == counter_trouble_) return;
        counter_trouble_ = now;
        if (!failure.empty())
            log::warning("counters: {}; links are not judged; trying on", failure);
        else if (now.empty())
            log::info("counters: all {} ports answer", read.ports);
        else
            log::info("counters: {} of {} ports do not answer", read.ports - read.answered, read.ports);
    }

    Options options_;
    Settings settings_;
    topo::Fabric file_;
    Delivery delivery_;
    LinkNotices notices_;
    LinkWatch links_;
    std::string counter_trouble_ = "not yet read";
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
                  "Sweeps the InfiniBand fabric and tells restartd which hosts have lost links, and which "
                  "links are bad.",
                  "fabricwatchd(8)");
    using Table = base::ConfTable;
    base::Daemon daemon(
        cli, {Table::placement, Table::restartd, Table::fabricwatchd, Table::throttle, Table::munge});
    Options options;
    declare(cli, options);
    daemon.check_also([&](const base::Conf& conf) -> base::Expected<void> {
        if (const auto rules = read_rules(conf, options.rules); !rules) return rules.error();
        return {};
    });
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const auto conf = daemon.configure(status);
    if (!conf) return status;
    auto settings = settings_of(*conf, options);
    if (!settings) return cli.fail(settings.error());
    auto file = read_file(settings->fabric);
    if (!file) return cli.fail(file.error());
    if (options.once) return print_once(cli, *file, *settings, options.json);
    auto delivery = Delivery::make(settings->target);
    if (!delivery) return cli.fail(std::move(delivery).error().within("[restartd] url"));

    if (auto begun = daemon.begin(); !begun) return cli.fail(begun.error());
    log::info("{} hosts of {}, a sweep every {}", file->hosts.size(), settings->fabric,
              base::format_duration(settings->interval));
    Sweeper sweeper(options, *std::move(settings), *std::move(file), *std::move(delivery));
    sweeper.take_notices();
    sweeper.step(daemon);
    const auto reload = [&](const base::Conf& fresh) { return sweeper.reload(fresh); };
    if (auto said = daemon.serve(reload); !said) return cli.fail(said.error());
    sweeper.run(daemon);
    log::info("stopped");
    return base::exit_done;
}
