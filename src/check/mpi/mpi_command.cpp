#include "check/mpi/mpi_command.hpp"

#include "base/conf.hpp"
#include "base/median.hpp"
#include "base/units.hpp"
#include "check/mpi/mpi_collective.hpp"
#include "check/mpi/nccl_collective.hpp"
#include "check/mpi/watch.hpp"
#include "check/net/devices.hpp"
#include "check/net/tournament.hpp"
#include "check/words.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace check::mpi {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t pair_rounds = 4; // the median of all pairs is used: a few rounds have enough pairs

// Before MPI starts: binds this process's traffic to its rail. What the user has set is kept.
void keep_to(const std::string& device, const std::string& host) {
    constexpr int stand = 0;
    // A communicator has one process of each host. Where several hosts share a machine, NCCL would otherwise
    // take two processes for one host, and refuse the GPU that both use.
    ::setenv("NCCL_HOSTID", host.c_str(), stand);
    if (!device.empty()) {
        const bool hca = device.find(':') != std::string::npos; // with its port; else a network interface
        ::setenv("UCX_NET_DEVICES", device.c_str(), stand);
        ::setenv(hca ? "NCCL_IB_HCA" : "NCCL_SOCKET_IFNAME", ("=" + device).c_str(), stand);
        if (!hca) ::setenv("OMPI_MCA_btl_tcp_if_include", device.c_str(), stand);
        if (!hca) ::setenv("NCCL_IB_DISABLE", "1", stand);
    }
    // A ring: its bandwidth is that of its slowest link whatever the size of the gang and the message.
    ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", stand);
    ::setenv("OMPI_MCA_coll_tuned_allreduce_algorithm", "4", stand);
}

// "64K", "8M".
base::Expected<std::uint64_t> bytes_of(std::string_view text) {
    const auto unit = text.empty() ? ' ' : text.back();
    const auto count = base::parse_count(text.substr(0, text.empty() ? 0 : text.size() - 1));
    if ((unit != 'K' && unit != 'M') || !count || *count < 1 || *count > (unit == 'K' ? 1U << 20 : 1U << 10))
        return base::Error{base::Code::usage, fmt::format("--size: \"{}\" must be 1K to 1024M", text)};
    return *count << (unit == 'K' ? 10 : 20);
}

// The name that Slurm uses, if it gives one.
std::string own_host() {
    const char* node = std::getenv("SLURMD_NODENAME");
    return node != nullptr ? node : net::own_name();
}

std::string phrase(const GangRun& run, const std::vector<std::string>& names) {
    return fmt::format("{} of {} hosts, {} to {}{}", run.members.size(), names.size(),
                       names[run.members.front()], names[run.members.back()],
                       run.rail ? fmt::format(", rail {}", *run.rail) : "");
}

} // namespace

struct MpiCommand::Plan {
    double seconds = 0;
    std::uint64_t bytes = 0;
    base::Duration whole{};
    std::vector<Operation> operations;
    std::string own_name;
    Local local;
    std::string device;
};

void MpiCommand::add_options(base::Words& words) {
    add_config(words, config_);
    add_fabric(words, fabric_);
    words
        .add_option("--devices", devices_,
                    "Devices of the rails, one for each process of a host (mlx5_0:1,mlx5_1:1 or eth0,eth1)")
        ->type_name("LIST");
    if (over_ == Over::nccl)
        words.add_option("--test", test_, "all_reduce, all_gather or all of them")
            ->one_of({"all", "all_reduce", "all_gather"})
            ->capture_default_str();
    else
        words
            .add_option("--test", test_,
                        "all_reduce (bandwidth), barrier (latency and jitter) or all of them")
            ->one_of({"all", "all_reduce", "barrier"})
            ->capture_default_str();
    words.add_option("--time", time_, "For each run")->type_name("TIME")->capture_default_str();
    words
        .add_option("--size", size_,
                    over_ == Over::nccl ? "Of what is reduced or gathered, 1K to 1024M"
                                        : "Of an all-reduce, 1K to 1024M")
        ->type_name("SIZE")
        ->capture_default_str();
    words
        .add_option("--expected", expected_,
                    "What a rail is to reach, in Gb/s; otherwise what most pairs of hosts do")
        ->range(1, 100'000)
        ->type_name("GBPS");
    words.add_option("--least", least_, "Slow is what reaches less than so many percent of it")
        ->range(1, 100)
        ->capture_default_str();
    if (over_ == Over::mpi)
        words.add_option("--times", times_, "Slow is a barrier that takes more than so many times a pair's")
            ->range(2, 1000)
            ->capture_default_str();
    words.add_option("--deadline", whole_, "It is given up after this")
        ->type_name("TIME")
        ->capture_default_str();
    words
        .add_option("--library", libraries_,
                    over_ == Over::nccl
                        ? "libmpi, libcuda or libnccl, where the dynamic linker finds none; may be repeated"
                        : "Open MPI's libmpi, where the dynamic linker finds none")
        ->repeatable()
        ->type_name("FILE");
    add_json(words, as_json_);
    words.add_flag("--lines", lines_, "Print a line of JSON a result, as railcheck preflight does");
}

// Reports what prevents this process from taking part.
void MpiCommand::complain(const std::string& host, const std::string& text) const {
    if (lines_) {
        fmt::print("{}", restart::to_line({host,
                                           fmt::format("{}.start", name()),
                                           "gang",
                                           restart::CheckVerdict::not_run,
                                           {},
                                           {},
                                           {},
                                           text}));
        std::fflush(stdout);
        return;
    }
    fmt::print(stderr, "railcheck {}: {}: {}\n", name(), host, text);
}

base::Expected<MpiCommand::Plan> MpiCommand::plan() const {
    Plan plan;
    const auto time = base::parse_duration(time_), whole = base::parse_duration(whole_);
    if (!time) return base::Error{time.error()}.within("--time");
    if (!whole) return base::Error{whole.error()}.within("--deadline");
    const auto bytes = bytes_of(size_);
    if (!bytes) return bytes.error();
    plan.bytes = *bytes;
    plan.seconds = base::to_seconds(*time);
    plan.whole = *whole;
    const bool nccl = over_ == Over::nccl;
    if (test_ == "all" || test_ == "all_reduce")
        plan.operations.push_back(nccl ? Operation::nccl_all_reduce : Operation::all_reduce);
    if (test_ != "all_reduce")
        plan.operations.push_back(nccl ? Operation::nccl_all_gather : Operation::barrier);
    const auto local = local_of([](const char* name) -> const char* { return std::getenv(name); });
    if (!local) return local.error();
    plan.local = *local;
    plan.own_name = own_host();
    const auto conf = base::load_conf(config_);
    if (!conf) return conf.error();
    const auto fabric = net::fabric_for(*conf, fabric_);
    if (!fabric) return fabric.error();
    auto devices = net::devices_of(devices_, *fabric, plan.own_name);
    if (!devices && plan.local.size > 1) return devices.error();
    // A single process without a device uses whatever MPI chooses.
    if (devices && static_cast<int>(devices->size()) < plan.local.size)
        return base::Error{base::Code::usage,
                           fmt::format("{} processes on a host, and {} devices: a process a rail is started",
                                       plan.local.size, devices->size())};
    if (devices && (plan.local.size > 1 || devices->size() == 1))
        plan.device = (*devices)[static_cast<std::size_t>(plan.local.rank)];
    return plan;
}

base::Expected<GangReport> MpiCommand::search(Gang& gang, const Plan& plan, Operation operation,
                                              const Progress& progress) const {
    const Work work{operation, plan.bytes, plan.seconds};
    const bool bandwidth = operation != Operation::barrier;
    const auto shown = [&](double rate) { return bandwidth ? rate : 1e6 / rate; };
    const auto start = Clock::now();
    GangReport report;
    report.test = fmt::format("{}.{}", name(),
                              operation == Operation::barrier           ? "barrier"
                              : operation == Operation::nccl_all_gather ? "all_gather"
                                                                        : "all_reduce");
    report.unit = bandwidth ? "Gb/s" : "us";
    report.hosts = gang.names();
    report.rails = gang.seat().rails;
    double sound = bandwidth ? expected_ : 0;
    const net::Tournament tournament(static_cast<std::uint32_t>(report.hosts.size()));
    std::vector<std::vector<double>> pairs(static_cast<std::size_t>(report.rails));
    for (const auto round : net::some_rounds(tournament.rounds(), sound > 0 ? 0 : pair_rounds, 1)) {
        if (sound > 0) break;
        progress(fmt::format("{}: pairs of hosts, round {}", report.test, round));
        auto rates = gang.run_pairs(work, round);
        if (!rates) return rates.error();
        for (std::size_t rail = 0; rail < pairs.size(); ++rail)
            pairs[rail].insert(pairs[rail].end(), (*rates)[rail].begin(), (*rates)[rail].end());
    }
    // A rail may be slow as a whole: the best one shows what a rail can reach.
    for (auto& rail : pairs)
        sound = std::max(sound, base::upper_median(std::move(rail)));
    const double least = bandwidth ? sound * least_ / 100 : sound / times_;
    if (sound > 0) {
        report.sound = shown(sound);
        report.least = shown(least);
    }
    const int rails = report.rails > 1 ? report.rails : 0;
    report.verdict = find_slow(
        {report.hosts.size(), rails, least, least}, [&](const GangRun& run) -> base::Expected<double> {
            progress(fmt::format("{}: {}", report.test, phrase(run, report.hosts)));
            auto rate = gang.run(work, run);
            report.runs.push_back(
                {run, rate ? std::optional(shown(*rate)) : std::nullopt, rate ? "" : rate.error().text});
            return rate;
        });
    report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return report;
}

base::Expected<int> MpiCommand::take_part() const {
    const auto plan = this->plan();
    if (!plan) return plan.error();
    keep_to(plan->device, plan->own_name);
    const auto calls = open_mpi(libraries_);
    if (!calls) return calls.error();
    const GiveUp give_up(plan->whole,
                         [this, own = plan->own_name](const std::string& text) { complain(own, text); });
    auto make = mpi_collectives(*calls);
    std::string version;
    if (over_ == Over::nccl) {
        say_where("CUDA begins");
        auto host = open_nccl(libraries_, plan->local.rank);
        if (!host) return std::move(host).error();
        version = version_of(**host);
        make = nccl_collectives(*calls, *std::move(host));
    }
    say_where("MPI begins");
    auto gang = Gang::begin(*calls, plan->local, plan->own_name, std::move(make));
    if (!gang) return gang.error();
    const auto status = gang->leads() ? lead(*gang, *plan, version) : serve(*gang);
    // The others wait for this process; MPI ends them.
    if (!status) {
        complain(plan->own_name, status.error().text);
        calls->MPI_Abort(calls->ompi_mpi_comm_world, base::exit_usage);
    }
    return status;
}

base::Expected<int> MpiCommand::serve(Gang& gang) {
    say_where("waits to be told what to do");
    if (auto served = gang.serve(); !served) return served.error();
    return base::exit_done;
}

namespace {

boost::json::object told_of(const Gang& gang, const std::string& nccl, boost::json::array searches) {
    boost::json::object told{{"mpi", boost::json::string(gang.version())}};
    if (!nccl.empty()) told["nccl"] = nccl;
    told["searches"] = std::move(searches);
    return told;
}

} // namespace

base::Expected<int> MpiCommand::lead(Gang& gang, const Plan& plan, const std::string& nccl) const {
    if (gang.seat().hosts < 2)
        return base::Error{base::Code::usage, "one host is no gang: start it on two hosts or more"};
    const bool terminal = !as_json_ && !lines_ && ::isatty(STDERR_FILENO) != 0;
    const auto progress = [&](const std::string& text) {
        say_where(text);
        if (terminal) fmt::print(stderr, "\r{}\033[K", text);
    };
    boost::json::array told;
    bool sound = true;
    for (const auto operation : plan.operations) {
        const auto report = search(gang, plan, operation, progress);
        if (!report) return report.error();
        if (terminal) fmt::print(stderr, "\r\033[K");
        sound = sound && report->is_sound();
        if (as_json_)
            told.push_back(to_json(*report));
        else if (lines_)
            for (const auto& word : words_of(*report))
                fmt::print("{}", restart::to_line(word));
        else
            fmt::print("{}", print(*report));
    }
    if (as_json_) fmt::print("{}", base::to_pretty(told_of(gang, nccl, std::move(told))));
    std::fflush(stdout);
    if (auto ended = gang.end(); !ended) return ended.error();
    return sound ? base::exit_done : base::exit_finding;
}

int MpiCommand::run(const base::Cli& cli) const {
    const auto status = take_part();
    if (!status && lines_) {
        complain(own_host(), status.error().text);
        return base::exit_usage;
    }
    if (!status) return cli.fail(status.error());
    return base::finish_output(cli, *status);
}

} // namespace check::mpi
