#include "restart/watch/ucx_signals.hpp"

#include "base/ucx_words.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>

namespace restart {
namespace {

constexpr std::size_t most_ways = 4; // in a description

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

UcxReach reach_of_lane(std::string_view lane) {
    const auto slash = std::min(lane.find('/'), lane.size());
    const auto transport = lane.substr(0, slash), device = lane.substr(std::min(slash + 1, lane.size()));
    if (transport == "tcp") return device == "lo" ? UcxReach::local : UcxReach::tcp;
    if (is_one_of(transport,
                  {"self", "posix", "sysv", "cma", "knem", "xpmem", "cuda_ipc", "rocm_ipc", "ze_ipc"}))
        return UcxReach::local;
    for (const std::string_view of_hca : {"rc_", "ud_", "dc_", "gga_"})
        if (transport.starts_with(of_hca)) return UcxReach::infiniband;
    return UcxReach::unknown;
}

// The number of endpoints of each way.
using Ways = std::map<std::string, std::uint64_t>;

std::string in_words(const Ways& ways) {
    std::vector<std::pair<std::uint64_t, std::string>> most;
    for (const auto& [over, endpoints] : ways)
        most.emplace_back(endpoints, over);
    std::sort(most.rbegin(), most.rend());
    std::string text;
    for (std::size_t i = 0; i < std::min(most.size(), most_ways); ++i)
        text += fmt::format("{}{} over {}", i == 0 ? "" : ", ", most[i].first, most[i].second);
    if (most.size() > most_ways) text += fmt::format(" and {} more ways", most.size() - most_ways);
    return text;
}

struct Off {
    std::uint64_t endpoints = 0;
    std::size_t ranks = 0;
    std::string first; // "rank 3 (rail mlx5_3:1)"
    std::string to;    // the peer of one of these endpoints
    std::string why;   // the variable that excludes InfiniBand
    Ways ways;
};

std::string in_words(const Off& off) {
    auto text = off.first;
    if (off.ranks > 1) text += fmt::format(" and {} more", off.ranks - 1);
    text += fmt::format(": {}", in_words(off.ways));
    if (!off.why.empty()) text += fmt::format(" by {}", off.why);
    if (!off.to.empty()) text += fmt::format(", such as to {}", off.to);
    return text;
}

std::string why_not_infiniband(const UcxJob::Rank& rank) {
    if (!base::ucx_tls_has_infiniband(rank.tls)) return "UCX_TLS=" + rank.tls;
    if (!base::ucx_devices_have_infiniband(rank.devices)) return "UCX_NET_DEVICES=" + rank.devices;
    return {};
}

} // namespace

UcxReach reach_of(std::string_view over) {
    bool local = false, tcp = false;
    while (!over.empty()) {
        const auto lane = over.substr(0, over.find('+'));
        const auto reach = reach_of_lane(lane);
        if (reach == UcxReach::infiniband) return reach;
        local = local || reach == UcxReach::local;
        tcp = tcp || reach == UcxReach::tcp;
        over.remove_prefix(std::min(over.size(), lane.size() + 1));
    }
    return local ? UcxReach::local : tcp ? UcxReach::tcp : UcxReach::unknown;
}

void read_ucx(const UcxJob& job, bool infiniband, std::vector<Signal>& into) {
    Ways all;
    Off fallback, chosen;
    std::uint64_t to_others = 0;
    std::size_t unseen = 0;
    std::string unseen_text;
    for (const auto& rank : job.ranks) {
        if (!rank.unseen.empty() && unseen++ == 0)
            unseen_text = fmt::format("rank {}: {}", rank.rank, rank.unseen);
        const auto why = why_not_infiniband(rank);
        auto& off = why.empty() ? fallback : chosen;
        bool first = true;
        for (const auto& path : rank.paths) {
            // Unchecked input: a sum of garbage must remain a number.
            const auto endpoints = std::min<std::uint64_t>(path.endpoints, 1U << 30);
            all[path.over] += endpoints;
            const auto reach = reach_of(path.over);
            if (reach == UcxReach::infiniband || reach == UcxReach::tcp) to_others += endpoints;
            if (reach != UcxReach::tcp || endpoints == 0) continue;
            off.endpoints += endpoints;
            off.ways[path.over] += endpoints;
            if (off.to.empty()) off.to = path.to;
            if (std::exchange(first, false) && off.ranks++ == 0) {
                off.first = fmt::format("rank {}", rank.rank);
                if (!rank.devices.empty()) off.first += fmt::format(" (rail {})", rank.devices);
                off.why = why;
            }
        }
    }
    const auto summary =
        fmt::format("{} {}: {}", job.ranks.size(), job.ranks.size() == 1 ? "process" : "processes",
                    all.empty() ? "no endpoints" : in_words(all));
    const auto of = static_cast<double>(to_others);
    for (const auto& [name, off] : {std::pair<std::string_view, const Off&>("ucx.fallback", fallback),
                                    std::pair<std::string_view, const Off&>("ucx.chosen_tcp", chosen)}) {
        const bool there = infiniband && off.endpoints > 0;
        into.push_back({name, job.name, there ? static_cast<double>(off.endpoints) : 0.0, of,
                        there ? in_words(off) : summary});
    }
    const auto count = [&](std::string_view name, const UcxCount& sum) {
        into.push_back({name, job.name, static_cast<double>(sum.total), 0, sum.last});
    };
    count("ucx.failures", job.failed);
    count("ucx.timeouts", job.timeouts);
    count("ucx.refused", job.refused);
    count("ucx.resent", job.resent);
    if (job.tcp_bytes && infiniband) count("ucx.tcp_bytes", *job.tcp_bytes);
    if (job.dropped) count("ucx.dropped", *job.dropped);
    into.push_back({"ucx.unseen", job.name, static_cast<double>(unseen), 0, unseen_text});
}

} // namespace restart
