#include "spank/rank_lists.hpp"

#include "base/hostlist.hpp"
#include "base/split.hpp"
#include "sched/ask/rank_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace spank {
namespace {

// Host indices ordered by unit.
using Indices = std::vector<std::uint32_t>;

// Moves `first` to the front: its unit by rotating the order, and the host within its unit. With nested
// segments or NVLink domains: its pod, its unit within the pod, and its domain within the unit.
void put_first(const sched::PlacementIndex& index, sched::RankedHosts& ranked, std::uint32_t first,
               bool nested) {
    const auto unit = [&](std::uint32_t host) { return index.unit_of[host]; };
    const bool domains = !index.domains.empty();
    auto& ranks = ranked.ranks;
    if (const auto spare = std::find(ranked.spares.begin(), ranked.spares.end(), first);
        spare != ranked.spares.end()) {
        const auto other = std::find_if(ranks.begin(), ranks.end(), [&](std::uint32_t host) {
            return domains ? index.domain_of[host] == index.domain_of[first] : unit(host) == unit(first);
        });
        if (other == ranks.end()) return;
        std::swap(*spare, *other);
        std::sort(ranked.spares.begin(), ranked.spares.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return index.position[a] < index.position[b]; });
    }
    const auto bring = [&](auto from, auto to, const auto& part) { // the run of hosts in the part of `first`
        const auto begin =
            std::find_if(from, to, [&](std::uint32_t host) { return part(host) == part(first); });
        const auto end =
            std::find_if(begin, to, [&](std::uint32_t host) { return part(host) != part(first); });
        return std::pair(begin, end);
    };
    if (!nested) {
        const auto [begin, end] = bring(ranks.begin(), ranks.end(), unit);
        std::rotate(ranks.begin(), begin, ranks.end());
    } else {
        // Groups of ranks are nested in pods, units and domains: each goes first in the enclosing one.
        const auto pod = [&](std::uint32_t host) { return index.units[unit(host)].pod; };
        const auto domain = [&](std::uint32_t host) { return domains ? index.domain_of[host] : unit(host); };
        auto end = ranks.end();
        const auto turn = [&](const auto& part) {
            const auto [begin, behind] = bring(ranks.begin(), end, part);
            const auto size = behind - begin;
            std::rotate(ranks.begin(), begin, behind);
            end = ranks.begin() + size;
        };
        turn(pod);
        turn(unit);
        turn(domain);
    }
    const auto found = std::find(ranks.begin(), ranks.end(), first);
    std::rotate(ranks.begin(), found, found + 1);
}

} // namespace

RankLists rank_lists(const topo::Fabric& fabric, const std::vector<std::string>& hosts,
                     const std::vector<std::uint32_t>& segments, std::uint32_t spares,
                     sched::RankOrder order) {
    RankLists lists;
    Indices indices;
    for (const auto& host : hosts)
        if (const auto index = fabric.find_host(host)) indices.push_back(*index);
    if (indices.size() != hosts.size()) {
        const auto ranks = hosts.size() - std::min<std::size_t>(spares, hosts.empty() ? 0 : hosts.size() - 1);
        lists.ranks.assign(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(ranks));
        lists.spares.assign(hosts.begin() + static_cast<std::ptrdiff_t>(ranks), hosts.end());
        return lists;
    }
    if (indices.empty()) return lists;
    const sched::PlacementIndex index(fabric);
    auto ranked = sched::order_ranks(index, indices, segments, spares, order);
    const auto steps = sched::steps_of(index, segments);
    put_first(index, ranked, indices.front(), !index.domains.empty() || steps.pod != steps.unit);
    const auto names = [&](const Indices& of) {
        std::vector<std::string> list;
        for (const auto host : of)
            list.push_back(fabric.hosts[host].name);
        return list;
    };
    lists.spares = names(ranked.spares);
    if (order != sched::RankOrder::none) {
        lists.ranks = names(ranked.ranks);
        return lists;
    }
    const std::set<std::string> away(lists.spares.begin(), lists.spares.end());
    for (const auto& host : hosts)
        if (away.count(host) == 0) lists.ranks.push_back(host);
    return lists;
}

std::optional<RankLists> read_rank_lists(std::string_view text) {
    std::optional<std::vector<std::string>> ranks, spares;
    while (!text.empty()) {
        auto line = base::next_line(text);
        if (line.find('=') == std::string_view::npos) continue;
        const auto name = base::next_part(line, '=');
        auto* list = name == "RAIL_NODELIST" ? &ranks : name == "RAIL_SPARE_NODELIST" ? &spares : nullptr;
        if (list == nullptr) continue;
        auto hosts = base::expand_hostlist(line);
        if (hosts) *list = *std::move(hosts);
    }
    if (!ranks || !spares) return {};
    return RankLists{*std::move(ranks), *std::move(spares)};
}

bool same_hosts(const RankLists& lists, const std::vector<std::string>& hosts) {
    auto ours = lists.ranks;
    ours.insert(ours.end(), lists.spares.begin(), lists.spares.end());
    auto theirs = hosts;
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    return !lists.ranks.empty() && ours == theirs;
}

std::vector<std::uint32_t> expand_counts(std::string_view text) {
    constexpr std::size_t most = 1048576;
    std::vector<std::uint32_t> counts;
    while (!text.empty()) {
        const char* at = text.data();
        const char* end = at + text.size();
        std::uint32_t count = 0, times = 1;
        auto read = std::from_chars(at, end, count);
        if (read.ec != std::errc()) return {};
        at = read.ptr;
        if (end - at > 2 && at[0] == '(' && at[1] == 'x') {
            read = std::from_chars(at + 2, end, times);
            if (read.ec != std::errc() || read.ptr == end || *read.ptr != ')') return {};
            at = read.ptr + 1;
        }
        if (times > most - counts.size()) return {};
        counts.insert(counts.end(), times, count);
        if (at != end && (*at != ',' || ++at == end)) return {};
        text.remove_prefix(static_cast<std::size_t>(at - text.data()));
    }
    return counts;
}

std::string hostfile(const RankLists& lists, const std::vector<std::string>& hosts,
                     const std::vector<std::uint32_t>& tasks) {
    // The user has set impossible counts in the environment: write one line per host.
    constexpr std::uint64_t most = 1048576;
    std::map<std::string_view, std::uint32_t> count;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < hosts.size() && i < tasks.size(); ++i) {
        count[hosts[i]] = tasks[i];
        all += tasks[i];
    }
    if (all > most) count.clear();
    std::string text = "# Made by Railyard: hosts in the order of ranks, once for each task.\n";
    for (const auto& host : lists.ranks) {
        const auto found = count.find(host);
        const auto times = found == count.end() || found->second == 0 ? 1 : found->second;
        for (std::uint32_t i = 0; i < times; ++i)
            text += host + '\n';
    }
    return text;
}

std::vector<Variable> rank_environment(const RankLists& lists, const std::vector<std::string>& hosts,
                                       const std::string& hostfile, const Lookup& get) {
    std::vector<Variable> variables = {{"RAIL_NODELIST", base::fold_hostlist(lists.ranks)},
                                       {"RAIL_NUM_NODES", fmt::format("{}", lists.ranks.size())}};
    if (!lists.spares.empty())
        variables.push_back({"RAIL_SPARE_NODELIST", base::fold_hostlist(lists.spares)});
    if (hostfile.empty()) return variables;
    variables.push_back({"RAIL_HOSTFILE", hostfile});
    if (lists.ranks == hosts) return variables;
    for (const char* users :
         {"OMPI_MCA_orte_default_hostfile", "OMPI_MCA_orte_default_dash_host", "OMPI_MCA_rmaps",
          "OMPI_MCA_rmaps_base_mapping_policy", "OMPI_MCA_rmaps_base_schedule_policy",
          "OMPI_MCA_rmaps_base_pattern", "OMPI_MCA_rmaps_rank_file_path", "OMPI_MCA_orte_rankfile"})
        if (get(users)) return variables;
    // The sequential mapper is the only one in Open MPI 4 that keeps an order; mpirun's command line options
    // for mapping or hosts override it.
    const Variable launcher[] = {{"OMPI_MCA_orte_default_hostfile", hostfile},
                                 {"OMPI_MCA_rmaps_base_mapping_policy", "seq"}};
    std::string claims;
    for (const auto& variable : launcher) {
        variables.push_back(variable);
        claims += fmt::format("{}{}={}", claims.empty() ? "" : " ", variable.name, variable.value);
    }
    variables.push_back({"RAIL_LAUNCHERS", claims});
    return variables;
}

} // namespace spank
