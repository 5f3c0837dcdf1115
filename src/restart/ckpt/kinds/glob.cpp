// A plain pattern: files or folders of a custom program, one per checkpoint. There is no marker; a file
// counts if no process writes to it, a folder if nothing in it has changed for a while.
#include "restart/ckpt/kinds/rules.hpp"

#include <algorithm>
#include <fnmatch.h>

namespace restart::ckpt::kinds {
namespace {

using base::Expected;

constexpr std::size_t most_matches = 64;
constexpr unsigned glob_depth = 4;

Expected<Judged> judge_match(Files& files, const std::string& name, const Entry& entry, base::Time now,
                             bool& settled) {
    auto weight = weight_of(entry);
    auto writers = Writers::unknown;
    if (entry.is_folder()) {
        auto weighed = weigh(files, name, glob_depth);
        if (!weighed) return std::move(weighed).error();
        weight = *std::move(weighed);
    } else {
        writers = files.writers(name);
    }
    const auto last = weight.last.value_or(entry.modified);
    if (writers == Writers::some || (writers == Writers::unknown && now - last < quiet)) {
        settled = false;
        return Judged{"is being written, or was a moment ago"};
    }
    if (weight.bytes == 0 || !weight.empty.empty()) return Judged{"is empty: it is torn, as by a full disk"};
    return Judged{"", weight, last};
}

} // namespace

Expected<void> find_glob(Files& files, const Names& names, const std::string& pattern, base::Time now,
                         Found& found) {
    Names matches;
    for (const auto& name : names)
        if (::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0) matches.push_back(name);
    matches = by_step(std::move(matches), found);
    if (matches.size() > most_matches) matches.resize(most_matches);
    // Without steps in their names they are ordered by time.
    std::vector<std::pair<std::string, Entry>> there;
    for (const auto& name : matches) {
        const auto entry = files.entry(name);
        if (!entry) return entry.error();
        if (!*entry || !((*entry)->is_file() || (*entry)->is_folder())) continue; // links are not followed
        there.emplace_back(name, **entry);
    }
    std::stable_sort(there.begin(), there.end(), [](const auto& a, const auto& b) {
        return std::pair(step_of(a.first), a.second.modified) >
               std::pair(step_of(b.first), b.second.modified);
    });
    for (const auto& [name, entry] : there) {
        const auto judged = judge_match(files, name, entry, now, found.settled);
        if (!judged) return judged.error();
        found.signs.push_back(name);
        if (!judged->flaw.empty()) {
            pass_over(found, name, judged->flaw);
            continue;
        }
        found.newest = to_whole(name, step_of(name), judged->weight, judged->done);
        return {};
    }
    return {};
}

} // namespace restart::ckpt::kinds
