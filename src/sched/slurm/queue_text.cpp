#include "sched/slurm/queue_text.hpp"

#include "base/hostlist.hpp"
#include "base/split.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <limits>

namespace sched {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::next_line;
using base::next_word;

Expected<void> each_line(std::string_view text, std::string_view name,
                         const std::function<Expected<void>(std::string_view)>& take) {
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto line = next_line(text);
        auto rest = line;
        if (line.starts_with('#') || next_word(rest).empty()) continue;
        if (auto taken = take(line); !taken)
            return Error{taken.error().code, fmt::format("{}:{}: {}", name, number, taken.error().text)};
    }
    return {};
}

Expected<std::vector<std::uint32_t>> hosts_in(std::string_view list, const topo::Fabric& fabric) {
    const auto names = base::expand_hostlist(list);
    if (!names) return names.error();
    std::vector<std::uint32_t> hosts;
    for (const auto& name : *names)
        if (const auto host = fabric.find_host(name)) hosts.push_back(*host);
    std::sort(hosts.begin(), hosts.end());
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    return hosts;
}

bool means_none(std::string_view word) {
    constexpr std::array<std::string_view, 5> words{"none", "n/a", "unknown", "unlimited", "invalid"};
    std::string lower(word);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return std::find(words.begin(), words.end(), lower) != words.end();
}

} // namespace

Expected<base::Time> parse_moment(std::string_view text) {
    const Error bad{Code::input, fmt::format("{}: a moment as Slurm prints it is wanted: 2026-03-01T14:20:00",
                                             text.substr(0, 40))};
    const std::string copy(text);
    std::tm parts{};
    parts.tm_isdst = -1;
    const char* end = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M", &parts);
    if (end != nullptr && *end == ':') end = ::strptime(end, ":%S", &parts);
    if (end == nullptr || *end != '\0') return bad;
    const auto seconds = std::mktime(&parts);
    if (seconds == -1) return bad;
    return base::Time(std::chrono::seconds(seconds));
}

Expected<std::vector<Holder>> parse_holders(std::string_view text, std::string_view name,
                                            const topo::Fabric& fabric) {
    std::vector<Holder> holders;
    const auto read = each_line(text, name, [&](std::string_view line) -> Expected<void> {
        const auto job = next_word(line), end = next_word(line), list = next_word(line);
        if (list.empty() || !next_word(line).empty())
            return Error{Code::input, "a line is JOB END HOSTLIST, as squeue -h -t R -o \"%A %e %N\" prints"};
        const auto number = base::JobId::parse(job);
        if (!number)
            return Error{Code::input, fmt::format("{}: a job's number is wanted (squeue's %A)", job)};
        Holder holder{*number, {}, {}};
        if (!means_none(end)) {
            const auto moment = parse_moment(end);
            if (!moment) return moment.error();
            holder.ends = *moment;
        }
        auto hosts = hosts_in(list, fabric);
        if (!hosts) return std::move(hosts).error();
        holder.hosts = *std::move(hosts);
        holders.push_back(std::move(holder));
        return {};
    });
    if (!read) return read.error();
    return holders;
}

Expected<std::vector<std::string>> parse_reasons(std::string_view text, std::string_view name,
                                                 const topo::Fabric& fabric) {
    std::vector<std::string> why(fabric.hosts.size());
    const auto read = each_line(text, name, [&](std::string_view line) -> Expected<void> {
        const auto hosts = hosts_in(next_word(line), fabric);
        if (!hosts) return hosts.error();
        for (const auto h : *hosts)
            why[h] = remark_of(line);
        return {};
    });
    if (!read) return read.error();
    return why;
}

} // namespace sched
