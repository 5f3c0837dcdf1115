#include "check/net/net_command.hpp"

#include "base/conf.hpp"
#include "base/file.hpp"
#include "base/units.hpp"
#include "check/net/devices.hpp"
#include "check/net/ibv_ports.hpp"
#include "check/net/ibv_rail.hpp"
#include "check/net/picture.hpp"
#include "check/net/print.hpp"
#include "check/net/ucx_rail.hpp"
#include "check/words.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <thread>
#include <unistd.h>

namespace check::net {

namespace {

constexpr std::uint32_t quick_rounds = 6; // the fewest that name nothing wrong: tests/bench/netfit_bench
constexpr std::uint32_t all_up_to = 16;   // default: all rounds up to this many

Leaves leaves_of(const topo::Fabric& fabric, const Gathered& gathered) {
    Leaves leaves;
    for (const auto& one : fabric.switches)
        leaves.names.push_back(one.name);
    if (fabric.switches.empty()) return leaves;
    for (std::size_t host = 0; host < gathered.hosts.size(); ++host) {
        const auto* known = host_of(fabric, gathered.hosts[host]);
        for (std::size_t rail = 0; rail < gathered.most_rails(); ++rail) {
            const int leaf =
                known != nullptr && rail < known->leaves.size() ? known->leaves[rail] : topo::none;
            leaves.of_end.push_back(leaf == topo::none ? std::nullopt
                                                       : std::optional(static_cast<std::uint32_t>(leaf)));
        }
    }
    return leaves;
}

std::vector<std::string> units_of(const topo::Fabric& fabric, const std::vector<std::string>& hosts) {
    std::vector<std::string> units;
    for (const auto& host : hosts) {
        const auto* known = host_of(fabric, host);
        units.push_back(known != nullptr && known->unit != topo::none
                            ? fabric.units[static_cast<std::size_t>(known->unit)].name
                            : std::string());
    }
    return units;
}

// A means of measuring over one rail, and its address.
struct Rail {
    std::string address;
    std::function<base::Expected<Measured>(const std::string&, std::uint32_t, bool, const Effort&)> measure;
};

template <class R> base::Expected<Rail> rail_of(base::Expected<R> opened) {
    if (!opened) return std::move(opened).error();
    auto rail = std::make_shared<R>(*std::move(opened));
    return Rail{rail->address(),
                [rail](const std::string& peer, std::uint32_t meeting, bool first, const Effort& effort) {
                    return rail->measure(peer, meeting, first, effort);
                }};
}

std::vector<Done::Rail> measure(std::vector<std::optional<Rail>>& rails, const Go& go) {
    std::vector<Done::Rail> done;
    for (std::size_t i = 0; i < go.addresses.size(); ++i) {
        done.emplace_back();
        if (go.addresses[i].empty() || i >= rails.size() || !rails[i]) {
            done.back().trouble = "not measured";
            continue;
        }
        auto measured = rails[i]->measure(go.addresses[i], static_cast<std::uint32_t>(go.round * 64 + i + 1),
                                          go.first, go.effort);
        if (measured)
            done.back().measured = *measured;
        else
            done.back().trouble = measured.error().text;
    }
    return done;
}

} // namespace

void NetCommand::add_options(base::Words& words) {
    auto& o = options_;
    add_config(words, o.config);
    add_fabric(words, o.fabric);
    words
        .add_option("--hosts", o.hosts,
                    "Hosts that take part, in order of their ranks; srun says it by itself")
        ->type_name("LIST");
    words.add_option("--rank", o.rank, "Which of the hosts this one is; found by its name otherwise")
        ->range(0, 65535);
    words.add_option("--port", o.port, "TCP port on which the first host brings the others together")
        ->range(1, 65535);
    words
        .add_option("--secret-file", o.secret,
                    "Show by this file's content who takes part, instead of by MUNGE")
        ->type_name("FILE");
    words
        .add_option("--devices", o.devices,
                    "This host's devices, one a rail (mlx5_0:1,mlx5_1:1 or eth0,eth1)")
        ->type_name("LIST");
    words
        .add_option("--transports", o.transports,
                    "UCX's transports (UCX_TLS); else rc for HCAs, tcp otherwise")
        ->type_name("LIST");
    words.add_flag("--verbs", o.verbs, "Measure RDMA writes and reads of HCAs by libibverbs, without UCX");
    words
        .add_option("--library", o.libraries, "libibverbs, where the dynamic linker finds none, for --verbs")
        ->repeatable()
        ->type_name("FILE");
    words.add_flag("--quick", o.quick, "Six random rounds, and six more where these name anything");
    words.add_option("--rounds", o.rounds, "Random rounds of the tournament; 0: all")->type_name("N");
    words.add_option("--again", o.again, "Rounds more where the first ones name anything")->type_name("N");
    words.add_option("--seed", o.seed, "Which random rounds")->capture_default_str();
    words.add_option("--time", o.time, "For each of three measures of a pair and rail")
        ->type_name("TIME")
        ->capture_default_str();
    words.add_option("--patience", o.patience, "A pair and rail that take longer have failed")
        ->type_name("TIME")
        ->capture_default_str();
    words.add_option("--join", o.join, "Time for all hosts to come")
        ->type_name("TIME")
        ->capture_default_str();
    words.add_option("--deadline", o.whole, "No round begins later")
        ->type_name("TIME")
        ->capture_default_str();
    words.add_flag("--judge-latency", o.judge_latency,
                   "Name what is slow by latency, too: for idle hosts with HCAs only");
    words.add_option("--least", o.least, "Name nothing that is slower by fewer percent")
        ->range(1, 90)
        ->capture_default_str();
    words.add_option("--svg", svg_, "Draw what was measured, by rails and units, into this file")
        ->type_name("FILE");
    add_json(words, as_json_);
}

base::Expected<std::optional<NetOutcome>>
measure_net(const NetOptions& o, const std::function<void(const std::string&)>& progress) {
    Plan plan;
    for (const auto& [text, name, seconds] : {std::tuple{&o.time, "--time", &plan.effort.seconds},
                                              {&o.patience, "--patience", &plan.effort.patience_s},
                                              {&o.join, "--join", &plan.join_s},
                                              {&o.whole, "--deadline", &plan.whole_s}}) {
        const auto time = base::parse_duration(*text);
        if (!time) return base::Error{time.error()}.within(name);
        *seconds = base::to_seconds(*time);
    }
    Said said{o.hosts, {}, own_name()};
    if (o.rank >= 0) said.rank = static_cast<std::uint32_t>(o.rank);
    const auto launch = launch_of(said, [](const char* name) -> const char* { return std::getenv(name); });
    if (!launch) return launch.error();
    plan.seed = o.seed;
    plan.rounds = o.rounds != 0 ? o.rounds : o.quick || launch->hosts.size() > all_up_to ? quick_rounds : 0;
    plan.again = o.again != 0 ? o.again : o.rounds == 0 ? quick_rounds : 0;
    const auto conf = base::load_conf(o.config);
    if (!conf) return conf.error();
    const auto entry = o.secret.empty() ? base::Expected<Entry>(Entry::by_munge(conf->munge.socket))
                                        : Entry::by_secret(o.secret);
    if (!entry) return entry.error();
    const auto read = fabric_for(*conf, o.fabric);
    if (!read) return read.error();
    const auto& fabric = *read;
    const auto devices = devices_of(o.devices, fabric, launch->hosts[launch->rank]);
    if (!devices) return devices.error();

    std::shared_ptr<const IbvCalls> verbs;
    if (o.verbs) {
        auto opened = open_ibv(o.libraries);
        if (!opened) return std::move(opened).error();
        verbs = *std::move(opened);
    }
    std::vector<std::optional<Rail>> rails;
    std::vector<Hello::Rail> told;
    for (const auto& device : *devices) {
        auto rail =
            verbs ? rail_of(IbvRail::open(verbs, device)) : rail_of(UcxRail::open(device, o.transports));
        told.push_back({device, rail ? rail->address : "", rail ? "" : rail.error().text});
        rails.push_back(rail ? std::optional(*std::move(rail)) : std::nullopt);
    }
    std::signal(SIGPIPE, SIG_IGN);
    const auto ports =
        o.port != 0 ? std::vector{static_cast<std::uint16_t>(o.port)} : meeting_ports(launch->job);
    const auto partake = [&] {
        return take_part(*launch, ports, *entry, plan, told,
                         [&](const Go& go) { return measure(rails, go); });
    };
    if (launch->rank != 0) {
        const auto done = partake();
        if (!done) return done.error();
        return std::optional<NetOutcome>();
    }
    auto listener = listen_on(ports);
    if (!listener) return listener.error();
    const auto slower_by = [](int percent) { return -std::log(1 - percent / 100.0); };
    Bars bars{{.least = slower_by(o.least)}, {}};
    if (o.judge_latency) bars.latency = Bar{.least = slower_by(std::max(o.least, 20))};
    base::Expected<Gathered> gathered = base::Error{base::Code::internal, "nothing was gathered"};
    std::thread gathering([&] {
        gathered = gather(
            *std::move(listener), *launch, *entry, plan,
            [&](const Gathered& so_far) {
                return !judge(so_far, leaves_of(fabric, so_far), bars).slow.empty();
            },
            progress);
    });
    const auto own = partake();
    gathering.join();
    if (!gathered) return own ? gathered.error() : own.error();
    auto verdict = judge(*gathered, leaves_of(fabric, *gathered), bars);
    auto units = units_of(fabric, gathered->hosts);
    return std::optional(NetOutcome{*std::move(gathered), std::move(verdict), std::move(units)});
}

int NetCommand::run(const base::Cli& cli) const {
    const bool terminal = !as_json_ && ::isatty(STDERR_FILENO) != 0;
    const auto outcome = measure_net(options_, [&](const std::string& text) {
        if (terminal) fmt::print(stderr, "\r{}\033[K", text);
    });
    if (terminal) fmt::print(stderr, "\r\033[K");
    if (!outcome) return cli.fail(outcome.error());
    if (!*outcome) return base::exit_done;
    const auto& [gathered, verdict, units] = **outcome;
    if (!svg_.empty())
        if (auto written = base::write_file(svg_, draw_svg(gathered, verdict, units)); !written)
            return cli.fail(written.error());
    if (as_json_)
        fmt::print("{}", base::to_pretty(to_json(gathered, verdict)));
    else
        fmt::print("{}", print(gathered, verdict));
    return base::finish_output(cli, verdict.sound(gathered) ? base::exit_done : base::exit_finding);
}

} // namespace check::net
