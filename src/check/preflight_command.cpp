#include "check/preflight_command.hpp"

#include "base/hostlist.hpp"
#include "check/cuda_check.hpp"
#include "check/net/devices.hpp"
#include "check/words.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

namespace check {
namespace {

using restart::CheckWord;

constexpr int least_slower = 20; // percent, below which a preflight names nothing

void tell(const CheckWord& word) {
    fmt::print("{}", restart::to_line(word));
    std::fflush(stdout);
}

CheckWord net_word(std::string host, std::string component, Verdict verdict, std::string says) {
    return {std::move(host), "net.bandwidth", std::move(component), verdict, {}, {}, {}, std::move(says)};
}

// How many processes of railcheck nccl can have their own unused GPU here, and a rail.
CheckWord places_of(const Request& request, const net::NetOptions& options, const std::string& host) {
    CheckWord word{host, std::string(restart::nccl_places), "gpus", Verdict::not_run};
    Result why;
    const auto gpus = cuda_devices("nccl", request, why);
    word.says = why.says;
    if (gpus.empty()) return word;
    for (const auto& gpu : gpus)
        if (!gpu.used_by.empty()) {
            word.says = fmt::format("{} uses {}: nothing was put on it", gpu.used_by, gpu.part.name);
            return word;
        }
    const auto devices = net::devices_of(options.devices, request.fabric, request.host);
    word.says = devices ? "" : devices.error().text;
    if (!devices) return word;
    word.verdict = Verdict::measured;
    word.value = static_cast<double>(std::min(gpus.size(), devices->size()));
    word.unit = "processes";
    return word;
}

// This host's name as the requesting resource manager knows it; `otherwise` if it gives none.
std::string name_of(const net::NetOptions& options, const std::string& otherwise) {
    const auto hosts = base::expand_hostlist(options.hosts);
    const auto rank = static_cast<std::size_t>(options.rank);
    if (hosts && options.rank >= 0 && rank < hosts->size()) return (*hosts)[rank];
    const char* node = std::getenv("SLURMD_NODENAME");
    return node != nullptr ? node : otherwise;
}

} // namespace

std::vector<CheckWord> words_of(const net::NetOutcome& outcome) {
    const auto& gathered = outcome.gathered;
    const auto& verdict = outcome.verdict;
    const auto& fit = verdict.bandwidth;
    std::vector<CheckWord> words;
    for (const auto& slow : verdict.slow)
        if (slow.culprit.part == net::Part::host)
            words.push_back(net_word(slow.host, "all rails", Verdict::bad, slow.how_much));
        else if (slow.culprit.part != net::Part::cable)
            words.push_back(net_word(
                {}, slow.leaf.empty() ? fmt::format("rail{}", slow.culprit.rail.value_or(0)) : slow.leaf,
                Verdict::warning, slow.how_much));
    for (const auto& lost : gathered.lost)
        words.push_back(net_word(gathered.hosts[lost.host], "host", Verdict::not_run, lost.why));
    for (std::uint32_t host = 0; host < gathered.hosts.size(); ++host)
        for (std::uint32_t rail = 0; rail < gathered.rails[host].size(); ++rail) {
            const auto& [device, address, trouble] = gathered.rails[host][rail];
            auto word = net_word(gathered.hosts[host], device, Verdict::not_run, trouble);
            if (!address.empty()) {
                if (rail >= fit.rails || fit.end(host, rail).heard == 0) continue;
                word.verdict = Verdict::sound;
                word.expected = std::exp(-fit.level[rail]);
                word.value = *word.expected * std::exp(-fit.end(host, rail).slowness);
                word.unit = "Gb/s";
            }
            for (const auto& slow : verdict.slow)
                if (slow.culprit.part == net::Part::cable && slow.culprit.host == host &&
                    slow.culprit.rail == rail) {
                    word.verdict = Verdict::bad;
                    word.says = slow.how_much;
                }
            words.push_back(std::move(word));
        }
    return words;
}

void PreflightCommand::add_options(base::Words& words) {
    add_level(words, checks_.level,
              "1: less than 2 s a check; 2: less than 1 min; 3: minutes, as for the checks by themselves");
    words.add_flag("--net", with_net_, "Measure between the hosts of the step, too");
    words.add_flag("--nccl", with_nccl_,
                   "Say how many processes of railcheck nccl have a GPU and a rail here");
    words.add_option("--deadline", net_.whole, "Within which the hosts' measuring among themselves ends")
        ->type_name("TIME")
        ->capture_default_str();
    words
        .add_option("--hosts", net_.hosts,
                    "Hosts that take part, in order of their ranks; srun says it by itself")
        ->type_name("LIST");
    words.add_option("--rank", net_.rank, "Which of the hosts this one is")->range(0, 65535);
    words
        .add_option("--devices", net_.devices,
                    "This host's devices, one a rail (mlx5_0:1,mlx5_1:1 or eth0,eth1)")
        ->type_name("LIST");
    add_config(words, checks_.config);
    add_rules(words, checks_.rules);
    add_fabric(words, checks_.fabric);
    add_nvml(words, checks_.nvml);
    add_libraries(words, checks_.libraries);
}

int PreflightCommand::run(const base::Cli& cli) {
    const auto began = std::chrono::steady_clock::now();
    std::signal(SIGPIPE, SIG_DFL); // end when the reader is gone
    const auto request = request_of(checks_);
    if (!request) return cli.fail(request.error());
    const auto host = name_of(net_, request->host);
    for (const auto& row : checks())
        if (row.in_all)
            for (const auto& result : row.make()->run(*request))
                tell(word_of(result, host));
    if (with_net_) {
        net_.config = checks_.config;
        net_.fabric = checks_.fabric;
        net_.quick = true;
        net_.time = checks_.level == 1 ? "20ms" : "50ms";
        net_.patience = "2s";
        net_.join = net_.whole;
        net_.least = least_slower;
        const auto outcome = net::measure_net(net_, [](const std::string&) {});
        if (!outcome)
            tell(net_word(host, "host", Verdict::not_run, outcome.error().text));
        else if (*outcome)
            for (const auto& word : words_of(**outcome))
                tell(word);
    }
    if (with_nccl_) tell(places_of(*request, net_, host));
    CheckWord end{host, std::string(restart::preflight_ended), "host", Verdict::measured};
    end.value = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    end.unit = "s";
    tell(end);
    return base::finish_output(cli, base::exit_done);
}

} // namespace check
