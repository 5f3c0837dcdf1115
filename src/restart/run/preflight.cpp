#include "restart/run/preflight.hpp"

#include "base/hostlist.hpp"
#include "restart/wire/job_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace restart::run {
namespace {

int badness(const CheckWord& word) {
    switch (word.verdict) {
    case CheckVerdict::bad: return 0;
    case CheckVerdict::warning: return 1;
    case CheckVerdict::not_run: return 2;
    case CheckVerdict::measured:
    case CheckVerdict::sound: break;
    }
    return 3;
}

// The same result from several hosts, in one line.
struct Alike {
    int bad;
    std::string component, checks, says;
    std::set<std::string> hosts;
};

std::string list(const std::set<std::string>& hosts) {
    return base::fold_hostlist({hosts.begin(), hosts.end()});
}

// Sorted words, the worst first, without those that report no problem. Checks that could not be tried for the
// same reason, such as a missing library, share one line. Results that belong to no single host, such as a
// leaf's, stay separate.
std::vector<Alike> alike(const std::vector<CheckWord>& words) {
    std::vector<Alike> lines;
    std::map<std::tuple<int, bool, std::string, std::string, std::string>, std::size_t> known;
    for (const auto& word : words) {
        const auto bad = badness(word);
        if (bad > 2) break;
        const auto [at, fresh] = known.try_emplace(
            {bad, word.host.empty(), word.component, bad == 2 ? std::string() : word.check, word.says},
            lines.size());
        if (fresh) lines.push_back({bad, word.component, word.check, word.says, {}});
        auto& line = lines[at->second];
        if (line.checks.find(word.check) == std::string::npos) line.checks += ", " + word.check;
        if (!word.host.empty()) line.hosts.insert(word.host);
    }
    return lines;
}

std::string shown(const Alike& line) {
    return fmt::format("{}{}{}{}: {}{}{}",
                       line.bad == 0   ? ""
                       : line.bad == 1 ? "not as fast as it should be: "
                                       : "not tried: ",
                       list(line.hosts), line.hosts.empty() ? "" : " ", line.component, line.checks,
                       line.says.empty() ? "" : ": ", line.says);
}

} // namespace

Found find_failed(const Heard& heard, const Seats& seats) {
    Found found;
    std::set<std::string> tried(seats.ranks.begin(), seats.ranks.end());
    tried.insert(seats.spares.begin(), seats.spares.end());
    auto silent = tried;
    for (const auto& word : heard.words) {
        if (!word.host.empty() && !tried.contains(word.host)) continue;
        if (word.check == preflight_ended) {
            silent.erase(word.host);
            continue;
        }
        found.words.push_back(word);
        if (word.verdict == CheckVerdict::bad && !word.host.empty()) found.failed.insert(word.host);
    }
    std::stable_sort(found.words.begin(), found.words.end(), [](const auto& a, const auto& b) {
        return std::pair(badness(a), a.share().value_or(1)) < std::pair(badness(b), b.share().value_or(1));
    });
    constexpr std::size_t most_lines = 16;
    const auto lines = alike(found.words);
    for (const auto& line : lines)
        if (found.lines.size() < most_lines) found.lines.push_back(shown(line));
    if (lines.size() > most_lines)
        found.lines.push_back(fmt::format("and {} more", lines.size() - most_lines));
    if (!heard.trouble.empty()) found.lines.push_back(heard.trouble);
    if (!silent.empty())
        found.lines.push_back(fmt::format("{}: no end of the checks {}", list(silent),
                                          heard.in_time ? "was told" : "in time, they are given up"));
    const bool tells = std::any_of(found.words.begin(), found.words.end(),
                                   [](const auto& word) { return word.verdict != CheckVerdict::not_run; });
    found.verdict = !found.failed.empty()
                        ? fmt::format("{} fail{}", list(found.failed), found.failed.size() == 1 ? "s" : "")
                    : !tells              ? "nothing could be tried"
                    : found.lines.empty() ? "all pass"
                                          : "no host fails";
    const auto most = std::max<std::size_t>(1, tried.size() / 4);
    if (found.failed.size() > most) {
        found.lines.push_back(
            fmt::format("so many of {} hosts fail that it is the fault of none: none is left", tried.size()));
        found.failed.clear();
    }
    return found;
}

base::Expected<Seats> without_failed(const Seats& seats, const std::set<std::string>& failed) {
    auto next = without(seats, failed);
    if (!next) return next;
    next->spares.insert(next->spares.end(), failed.begin(), failed.end());
    return next;
}

Preflight to_tell(const Found& found, int level, bool requeue) {
    Preflight told{{}, requeue, found.words, static_cast<std::uint32_t>(level)};
    for (const auto& host : found.failed)
        if (told.without.size() < most_preflight_hosts) told.without.push_back(host);
    if (told.words.size() > most_preflight_words) told.words.resize(most_preflight_words);
    while (!told.words.empty() && to_line(JobRequest(told)).size() > longest_job_line)
        told.words.resize(told.words.size() * 9 / 10);
    return told;
}

} // namespace restart::run
