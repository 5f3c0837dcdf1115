#include "topo/check/against_plan.hpp"

#include "base/hostlist.hpp"
#include "topo/diff/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace topo {
namespace {

// How a change from plan to fabric is reported. Changes without a row are not part of a plan.
struct Told {
    std::string_view change, code;
    Severity severity;
    std::string_view fix;
};

constexpr std::array told{
    Told{"cable.moved", "plan.moved", Severity::error, "move it back"},
    Told{"cable.port", "plan.port", Severity::warning, "move it back, or change the plan"},
    Told{"cable.swapped", "plan.swapped", Severity::error, "swap the two cables"},
    Told{"cable.rotated", "plan.rotated", Severity::error,
         "move each cable to the place of the one before it"},
    Told{"link.removed", "plan.missing", Severity::error, "look for an unplugged or dead cable"},
    Told{"link.added", "plan.extra", Severity::warning, "unplug it, or add it to the plan"},
    Told{"host.swapped", "plan.hosts_exchanged", Severity::error,
         "exchange the cables of the hosts, all of them, or the hosts"},
    Told{"host.moved", "plan.host_moved", Severity::error, "move all its cables back, or change the plan"},
    Told{"host.removed", "plan.host_missing", Severity::error,
         "look whether it is powered, booted and cabled"},
    Told{"unit.removed", "plan.host_missing", Severity::error, "look whether they are powered"},
    Told{"pod.removed", "plan.host_missing", Severity::error, "look whether they are powered"},
    Told{"host.added", "plan.host_extra", Severity::warning,
         "add it to the plan, or look what it does there"},
    Told{"unit.added", "plan.host_extra", Severity::warning, "add them to the plan"},
    Told{"pod.added", "plan.host_extra", Severity::warning, "add them to the plan"},
    Told{"host.renamed", "plan.name", Severity::warning, "name it as planned, or change the plan"},
    Told{"hca.removed", "plan.hca_missing", Severity::error, "look for a dead or disabled HCA"},
    Told{"hca.added", "plan.hca_extra", Severity::warning, "add it to the plan"},
    Told{"hca.moved", "plan.hca_moved", Severity::warning, "put it back, or change the plan"},
    Told{"hca.nameless", "plan.name", Severity::warning, "let rdma-ndd set descriptions"},
    Told{"switch.removed", "plan.switch_missing", Severity::error, "look whether it is powered"},
    Told{"switch.added", "plan.switch_extra", Severity::warning, "add it to the plan"},
    Told{"switch.swapped", "plan.switches_exchanged", Severity::error,
         "exchange their cables, or the switches"},
    Told{"switch.recabled", "plan.ports", Severity::warning, "move them back, or change the plan"},
    Told{"switch.renamed", "plan.name", Severity::warning, "name it as planned, or change the plan"},
    Told{"link.down", "plan.down", Severity::error, "look at the cable and both ports"},
    Told{"link.narrow", "plan.narrow", Severity::warning, "reseat or replace the cable"},
    Told{"link.slow", "plan.slow", Severity::warning, "look at cable, transceivers and speed setting"}};

// diff() describes what has happened, a plan what should be.
std::string by_plan(std::string text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> words{
        {{" were swapped: now on ", " are swapped: on "},
         {" were rotated: each is where the next one was",
          " are rotated: each is where the next one should be"},
         {" have changed places: each is where the next one was",
          " have changed places: each is where the next one should be"},
         {" where the other's did", " where the other's should"},
         {" they lead where they led before", " they lead where they should"},
         {" is gone", " is planned and not seen"},
         {" are gone", " are planned and not seen"},
         {" is new", " is not in the plan"}}};
    for (const auto& [from, to] : words)
        if (const auto at = text.find(from); at != std::string::npos) {
            text.replace(at, from.size(), to);
            return text;
        }
    if (const auto at = text.find(" are new"); at != std::string::npos)
        text.replace(at, std::string_view(" are new").size(), " are not in the plan");
    if (const auto at = text.find(" is now called "); at != std::string::npos)
        text.replace(at, std::string_view(" is now called ").size(), " of the plan is called ");
    return text;
}

void tell(Finding& finding, const Change& change) {
    if (change.code == "cable.moved" || change.code == "cable.port") { // end that stays, old end, new end
        finding.evidence = fmt::format("{} leads to {}, not to {} as planned", change.ends[0], change.ends[2],
                                       change.ends[1]);
        finding.fix = fmt::format("move the cable from {} to {}", change.ends[2], change.ends[1]);
        if (change.code == "cable.port") finding.fix += ", or change the plan";
        return;
    }
    finding.evidence = by_plan(change.text);
    if (change.code != "host.moved") return;
    constexpr std::string_view from = " was moved from ", to = " to ";
    const auto first = change.text.find(from), last = change.text.rfind(to);
    if (first != std::string::npos && last != std::string::npos && first < last)
        finding.evidence = fmt::format("{} should be on {} and is on {}", change.text.substr(0, first),
                                       change.text.substr(first + from.size(), last - first - from.size()),
                                       change.text.substr(last + to.size()));
}

// Findings of check() about what is not in a plan.
bool beside_plan(const Finding& finding) {
    for (const auto* start : {"link.", "gpu.", "name.", "tier.", "host.facts", "host.slow"})
        if (finding.code.starts_with(start)) return true;
    return false;
}

} // namespace

std::vector<Finding> check_against(const Fabric& plan, const Fabric& fabric) {
    auto findings = check(fabric);
    std::erase_if(findings, [](const Finding& finding) { return !beside_plan(finding); });
    for (const Change& change : diff(plan, fabric)) {
        const auto row =
            std::find_if(told.begin(), told.end(), [&](const Told& t) { return t.change == change.code; });
        if (row == told.end()) continue;
        // A link that is slow or down is reported only once, by check().
        const bool said = change.code.starts_with("link.") &&
                          std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
                              return finding.code == change.code &&
                                     std::is_permutation(finding.ends.begin(), finding.ends.end(),
                                                         change.ends.begin(), change.ends.end());
                          });
        if (said) continue;
        Finding finding;
        finding.code = row->code;
        finding.severity = row->severity;
        finding.ends = change.ends;
        finding.fix = row->fix;
        tell(finding, change);
        finding.text = finding.evidence + "; " + finding.fix;
        findings.push_back(std::move(finding));
    }
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
        if (a.severity != b.severity) return a.severity < b.severity;
        if (a.code != b.code) return a.code < b.code;
        return !a.ends.empty() && !b.ends.empty() && base::natural_less(a.ends.front(), b.ends.front());
    });
    return findings;
}

} // namespace topo
