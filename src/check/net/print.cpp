#include "check/net/print.hpp"

#include "base/table.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace check::net {

namespace {

namespace json = boost::json;

constexpr std::size_t most_rows = 64;

double gbps_of(const Fit& fit, std::uint32_t host, std::uint32_t rail) {
    return std::exp(-(fit.level[rail] + fit.end(host, rail).slowness));
}
double latency_of(const Fit& fit, std::uint32_t host, std::uint32_t rail) {
    return std::exp(fit.level[rail] + fit.end(host, rail).slowness);
}

std::string cell(const Verdict& verdict, std::uint32_t host, std::uint32_t rail) {
    if (verdict.bandwidth.end(host, rail).heard == 0) return "-";
    const bool slow = std::any_of(verdict.slow.begin(), verdict.slow.end(), [&](const Slow& one) {
        return one.culprit.part == Part::cable && one.culprit.host == host && one.culprit.rail == rail;
    });
    return fmt::format("{:.3g} / {:.3g}{}", gbps_of(verdict.bandwidth, host, rail),
                       latency_of(verdict.latency, host, rail), slow ? " !" : "");
}

std::string matrix(const Gathered& gathered, const Verdict& verdict) {
    std::vector<std::string> heading{"HOST"};
    for (std::uint32_t rail = 0; rail < verdict.bandwidth.rails; ++rail)
        heading.push_back(fmt::format("RAIL {}", rail));
    base::Table table(heading);
    for (std::uint32_t host = 0; host < gathered.hosts.size(); ++host) {
        const bool named = std::any_of(verdict.slow.begin(), verdict.slow.end(),
                                       [&](const Slow& one) { return one.culprit.host == host; });
        if (gathered.hosts.size() > most_rows && !named) continue;
        std::vector<std::string> row{gathered.hosts[host]};
        for (std::uint32_t rail = 0; rail < verdict.bandwidth.rails; ++rail)
            row.push_back(cell(verdict, host, rail));
        table.add(std::move(row));
    }
    if (table.empty()) return {};
    return table.print() + "Gb/s / us that each end is good for; ! is named below\n";
}

json::value measured_or_null(double value, std::uint32_t heard) {
    return heard == 0 ? json::value(nullptr) : json::value(value);
}

} // namespace

std::string print(const Gathered& gathered, const Verdict& verdict) {
    std::string text = matrix(gathered, verdict);
    for (const auto& lost : gathered.lost)
        text += fmt::format("{}: {}\n", gathered.hosts[lost.host], lost.why);
    for (const auto& one : verdict.unusable)
        text += one + "\n";
    for (const auto& one : verdict.slow)
        text += one.says + "\n";
    if (gathered.refused > 0) text += fmt::format("{} were refused: they had no proof\n", gathered.refused);
    if (!gathered.in_time) text += "the time was over before the last round\n";
    text += fmt::format("{} hosts, {} of {} rounds in {:.1f} s: {}\n",
                        gathered.hosts.size() - gathered.lost.size(), gathered.rounds, gathered.all_rounds,
                        gathered.seconds, verdict.sound(gathered) ? "nothing is slow" : "see above");
    return text;
}

json::object to_json(const Gathered& gathered, const Verdict& verdict) {
    json::array hosts, slow, lost, unusable, ends, pairs;
    for (const auto& host : gathered.hosts)
        hosts.push_back(json::string(host));
    for (const auto& one : verdict.slow) {
        json::object entry{{"part", json::string(to_string(one.culprit.part))}};
        if (!one.host.empty()) entry["host"] = one.host;
        if (one.culprit.rail) entry["rail"] = *one.culprit.rail;
        if (!one.device.empty()) entry["device"] = one.device;
        if (!one.leaf.empty()) entry["leaf"] = one.leaf;
        entry["bandwidth_share"] = one.bandwidth_share;
        entry["latency_times"] = one.latency_times;
        entry["says"] = one.says;
        slow.push_back(std::move(entry));
    }
    for (const auto& one : gathered.lost)
        lost.push_back(json::object{{"host", gathered.hosts[one.host]}, {"says", one.why}});
    for (const auto& one : verdict.unusable)
        unusable.push_back(json::string(one));
    for (std::uint32_t host = 0; host < gathered.hosts.size(); ++host)
        for (std::uint32_t rail = 0; rail < gathered.rails[host].size(); ++rail) {
            const auto heard = verdict.bandwidth.end(host, rail).heard;
            ends.push_back(
                json::object{{"host", gathered.hosts[host]},
                             {"rail", rail},
                             {"device", gathered.rails[host][rail].device},
                             {"gbps", measured_or_null(gbps_of(verdict.bandwidth, host, rail), heard)},
                             {"latency_us", measured_or_null(latency_of(verdict.latency, host, rail), heard)},
                             {"heard", heard}});
        }
    for (const auto& one : gathered.measures) {
        json::object pair{{"a", gathered.hosts[one.a]}, {"b", gathered.hosts[one.b]}, {"rail", one.rail}};
        if (one.measured) {
            pair["gbps"] = one.measured->gbps;
            pair["gbps_back"] = one.measured->gbps_back;
            pair["latency_us"] = one.measured->latency_us;
        }
        if (!one.trouble.empty()) pair["trouble"] = one.trouble;
        pairs.push_back(std::move(pair));
    }
    return {
        {"hosts", std::move(hosts)},
        {"rounds", gathered.rounds},
        {"all_rounds", gathered.all_rounds},
        {"seconds", gathered.seconds},
        {"in_time", gathered.in_time},
        {"refused", gathered.refused},
        {"noise", json::object{{"bandwidth", verdict.bandwidth.noise}, {"latency", verdict.latency.noise}}},
        {"slow", std::move(slow)},
        {"lost", std::move(lost)},
        {"unusable", std::move(unusable)},
        {"ends", std::move(ends)},
        {"pairs", std::move(pairs)}};
}

} // namespace check::net
