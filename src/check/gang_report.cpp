#include "check/gang_report.hpp"

#include "base/hostlist.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace check {
namespace {

namespace json = boost::json;

std::string value_of(const GangReport& report, const std::optional<double>& value) {
    return value ? fmt::format("{:.4g} {}", *value, report.unit) : "nothing";
}

// The last run that shows this member: with a fast one, or over one of its rails.
const GangRunDone* run_of(const GangReport& report, std::size_t member, const std::optional<int>& rail) {
    const auto found = std::find_if(report.runs.rbegin(), report.runs.rend(), [&](const GangRunDone& done) {
        const auto& members = done.run.members;
        return members.size() == 2 && done.run.rail == rail &&
               std::find(members.begin(), members.end(), member) != members.end();
    });
    return found == report.runs.rend() ? nullptr : &*found;
}

// "slows the gang: with n1 it reaches 49.8 Gb/s"
std::string how(const GangReport& report, std::size_t member) {
    const auto some = report.verdict.rails_of.find(member);
    const auto* run =
        run_of(report, member,
               some != report.verdict.rails_of.end() ? std::optional(some->second.front()) : std::nullopt);
    if (run == nullptr) return "slows the gang";
    const auto& pair = run->run.members;
    return fmt::format("slows the gang: with {} it reaches {}",
                       report.hosts[pair[0] == member ? pair[1] : pair[0]],
                       run->error.empty() ? value_of(report, run->reached) : run->error);
}

std::string words(const std::vector<int>& rails) {
    return fmt::format("rail{} {}", rails.size() == 1 ? "" : "s", fmt::join(rails, ", "));
}

} // namespace

bool GangReport::is_sound() const {
    return verdict.slow.empty() && verdict.rails.empty() && !verdict.all && !verdict.together &&
           verdict.error.empty();
}

std::vector<std::string> GangReport::findings() const {
    std::vector<std::string> lines;
    for (const auto member : verdict.slow) {
        const auto rails_slow = verdict.rails_of.find(member);
        const bool some = rails_slow != verdict.rails_of.end();
        lines.push_back(fmt::format("{}{}{} {}", hosts[member], some ? " " : "",
                                    some ? words(rails_slow->second) : "", how(*this, member)));
    }
    if (!verdict.rails.empty())
        lines.push_back(fmt::format("{} slow{} the gang on all its hosts", words(verdict.rails),
                                    verdict.rails.size() == 1 ? "s" : ""));
    if (verdict.all && verdict.rails.empty())
        lines.emplace_back("all hosts are slow: no two of them reach what is expected");
    if (verdict.together)
        lines.emplace_back("all are slow together and nobody alone: look at the switches that they share");
    if (!verdict.error.empty()) lines.push_back(verdict.error);
    return lines;
}

std::string print(const GangReport& report) {
    std::string text;
    for (const auto& line : report.findings())
        text += fmt::format("{}: {}\n", report.test, line);
    const auto whole = report.runs.empty() ? std::optional<double>() : report.runs.front().reached;
    text += fmt::format("{}: {} host{}, {} rail{}, {} run{} in {:.1f} s: the gang reaches {}{}: {}\n",
                        report.test, report.hosts.size(), report.hosts.size() == 1 ? "" : "s", report.rails,
                        report.rails == 1 ? "" : "s", report.runs.size(), report.runs.size() == 1 ? "" : "s",
                        report.seconds, value_of(report, whole),
                        report.sound > 0 ? fmt::format(" of {}", value_of(report, report.sound)) : "",
                        report.is_sound() ? "nothing is slow" : "see above");
    return text;
}

std::vector<restart::CheckWord> words_of(const GangReport& report) {
    const auto& verdict = report.verdict;
    std::vector<restart::CheckWord> told;
    const auto add = [&](std::string host, std::string component, restart::CheckVerdict is,
                         std::string says) {
        told.push_back({std::move(host), report.test, std::move(component), is, {}, {}, {}, std::move(says)});
    };
    for (const auto member : verdict.slow) {
        const auto some = verdict.rails_of.find(member);
        add(report.hosts[member], some != verdict.rails_of.end() ? words(some->second) : "all rails",
            restart::CheckVerdict::bad, how(report, member));
    }
    if (!verdict.rails.empty())
        add({}, words(verdict.rails), restart::CheckVerdict::warning, "slow on all hosts of the gang");
    else if (verdict.all || verdict.together)
        add({}, "gang", restart::CheckVerdict::warning, report.findings().front());
    else if (verdict.slow.empty() && !verdict.error.empty())
        add({}, "gang", restart::CheckVerdict::not_run, verdict.error);
    if (!told.empty()) return told;
    add({}, "gang", restart::CheckVerdict::sound, {});
    if (!report.runs.empty()) told.back().value = report.runs.front().reached;
    if (report.sound > 0) told.back().expected = report.sound;
    told.back().unit = report.unit;
    return told;
}

json::object to_json(const GangReport& report) {
    json::array hosts, slow, rails, runs, findings;
    for (const auto& host : report.hosts)
        hosts.push_back(json::string(host));
    for (const auto member : report.verdict.slow) {
        json::object one{{"host", json::string(report.hosts[member])}};
        if (const auto of = report.verdict.rails_of.find(member); of != report.verdict.rails_of.end()) {
            json::array some;
            for (const int rail : of->second)
                some.push_back(rail);
            one["rails"] = std::move(some);
        }
        slow.push_back(std::move(one));
    }
    for (const int rail : report.verdict.rails)
        rails.push_back(rail);
    for (const auto& line : report.findings())
        findings.push_back(json::string(line));
    const auto number = [](const std::optional<double>& value) {
        return value ? json::value(*value) : json::value(nullptr);
    };
    for (const auto& done : report.runs) {
        std::vector<std::string> names;
        for (const auto member : done.run.members)
            names.push_back(report.hosts[member]);
        json::object one{{"hosts", json::string(base::fold_hostlist(names))}};
        if (done.run.rail) one["rail"] = *done.run.rail;
        one["reached"] = number(done.reached);
        if (!done.error.empty()) one["error"] = json::string(done.error);
        runs.push_back(std::move(one));
    }
    return {{"test", json::string(report.test)},
            {"unit", json::string(report.unit)},
            {"hosts", std::move(hosts)},
            {"rails", report.rails},
            {"reached", report.runs.empty() ? json::value(nullptr) : number(report.runs.front().reached)},
            {"sound", report.sound > 0 ? json::value(report.sound) : json::value(nullptr)},
            {"least", report.least},
            {"slow", std::move(slow)},
            {"slow_rails", std::move(rails)},
            {"all", report.verdict.all},
            {"together", report.verdict.together},
            {"says", std::move(findings)},
            {"runs", std::move(runs)},
            {"seconds", report.seconds}};
}

} // namespace check
