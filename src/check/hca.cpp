#include "check/hca.hpp"

#include "base/json.hpp"
#include "base/median.hpp"
#include "base/units.hpp"
#include "check/apart.hpp"
#include "check/net/ibv_ports.hpp"
#include "check/net/ibv_rail.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <thread>

namespace check {
namespace {

using namespace std::chrono_literals;

constexpr double patience_s = 5; // beyond what the measures take
constexpr double least_of_median = 0.9, most_of_median = 1.5;

double seconds_of(int level) {
    return level == 1 ? 0.1 : level == 2 ? 2 : 20;
}

// "mlx5_0:1", with its rail if the fabric file lists this HCA.
Part part_of(const std::string& name, const topo::Fabric& fabric) {
    Part part{.name = name};
    const auto colon = std::min(name.find(':'), name.size());
    part.hca = name.substr(0, colon);
    if (const auto port = base::parse_count(std::string_view(name).substr(std::min(colon + 1, name.size()))))
        part.port = static_cast<int>(*port);
    for (const auto& host : fabric.hosts)
        for (const auto& hca : host.hcas)
            if (hca.device == part.hca && hca.rail >= 0) part.rail = hca.rail;
    return part;
}

// The port sends to itself: this loads both directions of its PCIe link and its own engine.
void measure_port(const std::shared_ptr<const net::IbvCalls>& calls, const Part& part, double seconds,
                  Sink& sink) {
    auto first = net::IbvRail::open(calls, part.name), second = net::IbvRail::open(calls, part.name);
    const auto add = [&](std::string_view test, double value, std::string_view unit) {
        Result result{.check = "hca",
                      .test = std::string(test),
                      .part = part,
                      .value = value,
                      .unit = std::string(unit)};
        sink.add(result);
    };
    const auto fails = [&](Verdict verdict, const std::string& why) {
        Result result{.check = "hca", .test = "hca.start", .part = part, .verdict = verdict};
        result.says = why;
        sink.add(result);
    };
    if (!first || !second) return fails(Verdict::not_run, first ? second.error().text : first.error().text);
    sink.begin(part, "hca.write");
    const net::Effort effort{.seconds = seconds / 3, .patience_s = seconds + patience_s};
    std::thread other(
        [&] { static_cast<void>(second->measure(first->address(), 1, false, effort).has_value()); });
    const auto measured = first->measure(second->address(), 1, true, effort);
    other.join();
    // Only a warning: the network's configuration may keep a port from sending to itself.
    if (!measured) return fails(Verdict::warning, measured.error().text);
    add("hca.write", measured->gbps, "Gb/s");
    add("hca.read", measured->gbps_back, "Gb/s");
    add("hca.latency", measured->latency_us, "us");
}

// A value without an expectation is compared with the others of this host, if three have rails: these are
// alike.
void compare_ports(std::vector<Result>& results) {
    std::map<std::string, std::vector<double>> values;
    const auto compared = [](const Result& one) {
        return one.verdict == Verdict::measured && one.value && one.part.rail;
    };
    for (const auto& one : results)
        if (compared(one)) values[one.test].push_back(*one.value);
    for (auto& one : results) {
        if (!compared(one) || values[one.test].size() < 3) continue;
        const auto share = *one.value / base::upper_median(values[one.test]);
        const bool late = one.test == "hca.latency";
        if (late ? share <= most_of_median : share >= least_of_median) continue;
        one.verdict = Verdict::warning;
        one.says = fmt::format("{:.0f} % of the median of this host's {} rails", 100 * share,
                               values[one.test].size());
    }
}

} // namespace

std::vector<Result> Hca::run(const Request& request) {
    const Part all{.name = "hcas"};
    const auto not_run = [&](const std::string& why) {
        Result result{.check = "hca", .test = "hca.start", .part = all, .verdict = Verdict::not_run};
        result.says = why;
        return std::vector{std::move(result)};
    };
    // In a separate process, like everything that calls into a driver.
    Task list{.work = {}, .deadline = 10s, .part = all, .test = "hca.start"};
    list.work = [&](Sink& sink) {
        const auto calls = net::open_ibv(request.libraries);
        const auto ports =
            calls ? net::ibv_ports(**calls) : base::Expected<std::vector<std::string>>(calls.error());
        if (!ports) return sink.fact("why", ports.error().text);
        for (std::size_t i = 0; i < ports->size(); ++i)
            sink.fact(fmt::format("{:06}", i), (*ports)[i]);
    };
    auto listed = std::move(run_apart("hca", {std::move(list)}, request).front());
    if (!listed.results.empty()) return std::move(listed.results);
    if (const auto why = listed.facts.find("why"); why != listed.facts.end()) return not_run(why->second);
    if (listed.facts.empty()) return not_run("libibverbs shows no HCA");

    const auto seconds = seconds_of(request.level);
    const auto count = listed.facts.size();
    const auto deadline = 10s + count * std::chrono::ceil<std::chrono::seconds>(
                                            std::chrono::duration<double>(seconds + patience_s));
    std::vector<Task> tasks;
    for (const auto& [number, name] : listed.facts) {
        Task task{
            .work = {}, .deadline = deadline, .part = part_of(name, request.fabric), .test = "hca.start"};
        task.work = [&request, seconds, count, own = tasks.size(), part = task.part](Sink& sink) {
            // One after the other: in parallel they would measure this host's memory.
            for (std::size_t turn = 0; turn < count; ++turn) {
                sink.meet();
                if (turn != own) continue;
                const auto calls = net::open_ibv(request.libraries);
                if (calls) measure_port(*calls, part, seconds, sink);
            }
        };
        tasks.push_back(std::move(task));
    }
    std::vector<Result> results;
    for (auto& outcome : run_apart("hca", std::move(tasks), request))
        std::move(outcome.results.begin(), outcome.results.end(), std::back_inserter(results));
    for (auto& one : results)
        if (one.verdict == Verdict::measured) judge(one, request.expected, std::vector{one.part.name});
    compare_ports(results);
    return results;
}

} // namespace check
