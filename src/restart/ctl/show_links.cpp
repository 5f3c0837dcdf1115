#include "restart/ctl/show_links.hpp"

#include "base/table.hpp"
#include "restart/ctl/show_time.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace restart {
namespace {

std::string read_text(const UsedLinksStatus& links) {
    if (!links.judged || !links.counters) return {};
    return fmt::format("judged {} ago, by the counters of {} of {} ports", lasting(*links.judged),
                       links.counters->answered, links.counters->ports);
}

} // namespace

std::string show_links(const Status& status, const base::Look& look) {
    base::Table table({"LINK", "FINDING", "SINCE", "HOSTS", "JOBS", "WHAT"});
    for (const auto& [finding, jobs] : status.links)
        table.add({name_of(finding), fmt::format("{} ({})", finding.rule, to_string(finding.severity)),
                   when(finding.since, status.time), finding.hosts.empty() ? "-" : finding.hosts,
                   jobs.empty() ? "-" : fmt::format("{}", fmt::join(jobs, ",")), finding.evidence},
                  finding.severity >= Severity::evict ? base::Tint::bad : base::Tint::doubtful);
    return table.empty() ? std::string() : "\n" + table.print(look);
}

std::string show(const UsedLinksStatus& links, base::Time now, std::string_view what) {
    std::string out;
    if (!links.unknown.empty())
        out = fmt::format("{}: how they are is not known: {}{}\n", what, links.unknown,
                          links.findings.empty() ? "" : "; they were:");
    else if (links.findings.empty())
        out = fmt::format("{}: none of them has a finding ({})\n", what, read_text(links));
    else
        out = fmt::format("{}: {} ({})\n", what,
                          links.findings.size() == 1 ? std::string("1 finding")
                                                     : fmt::format("{} findings", links.findings.size()),
                          read_text(links));
    for (const auto& [finding, hosts, passing, says] : links.findings)
        out += fmt::format("  {}: {}, {}{}, since {}: {}\n    {}\n", name_of(finding), finding.rule,
                           to_string(finding.severity),
                           finding.rail < 0 ? std::string() : fmt::format(", rail {}", finding.rail),
                           when(finding.since, now), finding.evidence, says);
    for (const auto& link : links.down)
        out += fmt::format("  down: {}\n", link);
    return out;
}

} // namespace restart
