#include "restart/ckpt/prune.hpp"

#include "restart/ckpt/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace restart::ckpt {
namespace {

std::string count_of(std::size_t count, std::string_view what) {
    return fmt::format("{} checkpoint{} {}", count, count == 1 ? "" : "s", what);
}

std::string kept_sentence(const std::filesystem::path& dir, const Id& newcomer, const Pruning& chosen) {
    std::string text;
    if (!chosen.ahead.empty())
        text = fmt::format("step {} is behind {}: {} kept until passed", newcomer.step,
                           to_name(published_prefix, chosen.ahead.front()),
                           count_of(chosen.ahead.size(), "with more steps, by this job,"));
    if (!chosen.others.empty())
        text += fmt::format("{}{} up to {} kept for good: remove them by hand when they are not wanted",
                            text.empty() ? "" : "; ", count_of(chosen.others.size(), "of earlier jobs,"),
                            to_name(published_prefix, chosen.others.front()));
    return text.empty() ? text : fmt::format("{}: {}", dir.string(), text);
}

} // namespace

Pruning choose(const std::vector<Id>& ids, const Id& newcomer, std::uint32_t base, unsigned keep,
               const std::function<bool(const Id&)>& whole) {
    Pruning chosen;
    unsigned kept = 1; // the new one
    for (const Id& id : ids) {
        if (id.epoch > newcomer.epoch || id == newcomer) continue;
        if (id.epoch < base)
            chosen.others.push_back(id);
        else if (id.step > newcomer.step)
            chosen.ahead.push_back(id);
        else if (kept < keep)
            kept += whole(id) ? 1 : 0;
        else
            chosen.remove.push_back(id);
    }
    std::reverse(chosen.remove.begin(), chosen.remove.end());
    std::stable_sort(chosen.ahead.begin(), chosen.ahead.end(),
                     [](const Id& a, const Id& b) { return a.step > b.step; });
    return chosen;
}

Pruned prune(const std::filesystem::path& dir, const Id& newcomer, std::uint32_t base, unsigned keep,
             const std::set<Id>& damaged) {
    const auto ids = list_published(dir);
    if (!ids) return {{ids.error().text}, 0, {}};
    if (const auto there = load_published(dir, newcomer, Depth::sizes); !there)
        return {{there.error().text + ": no older checkpoint is removed"}, 0, {}};
    const auto chosen = choose(*ids, newcomer, base, keep, [&](const Id& id) {
        return !damaged.contains(id) && load_published(dir, id, Depth::sizes);
    });
    Pruned pruned;
    for (const Id& id : chosen.remove) {
        const auto name = dir / to_name(published_prefix, id), trash = dir / to_name(trash_prefix, id);
        std::error_code failed;
        remove_tree(trash); // from a prune that was killed
        std::filesystem::rename(name, trash, failed);
        if (failed && failed.value() != ENOENT)
            pruned.troubles.push_back(base::system_error(name.string(), failed.value()).text);
        if (!failed && !remove_tree(trash))
            pruned.troubles.push_back(fmt::format("{}: could not be removed whole", trash.string()));
    }
    pruned.beside = chosen.ahead.size() + chosen.others.size();
    pruned.kept = kept_sentence(dir, newcomer, chosen);
    return pruned;
}

} // namespace restart::ckpt
