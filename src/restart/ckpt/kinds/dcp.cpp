// PyTorch's distributed checkpoints, torch/distributed/checkpoint/filesystem.py: each rank writes
// __RANK_N.distcp files; when all are done, also in an asynchronous save, the coordinator's finish() writes
// .metadata.tmp, fsyncs it and renames it to .metadata (older releases write .metadata directly). So a folder
// with .metadata and no .metadata.tmp is complete. Programs use one folder per checkpoint, or write into the
// directory itself.
#include "restart/ckpt/kinds/rules.hpp"

#include <algorithm>

namespace restart::ckpt::kinds {
namespace {

using base::Expected;

constexpr std::string_view dcp_metadata = ".metadata";
constexpr std::size_t most_candidates = 64, most_unfinished_watched = 4;

bool has_shards(const Names& names) {
    return std::any_of(names.begin(), names.end(),
                       [](const auto& name) { return name.ends_with(".distcp"); });
}

// Examines one folder; true: it is the newest complete one.
Expected<bool> try_folder(Files& files, const std::string& folder, Found& found) {
    const auto names = files.names(folder);
    if (!names) return names.error();
    if (!*names) return false; // a file, a link, or gone in the meantime
    const bool complete = has(**names, dcp_metadata);
    if (!complete && !has_shards(**names) && !(*names)->empty()) return false; // something else
    if (found.signs.size() <= most_unfinished_watched)
        found.signs.push_back(folder);
    else
        found.settled = false;
    if (!complete) {
        pass_over(found, folder, "has no .metadata: it is being written, or its save never ended");
        return false;
    }
    const auto judged = judge_dcp(files, folder, **names, {});
    if (!judged) return judged.error();
    if (!judged->flaw.empty()) {
        pass_over(found, folder.empty() ? dcp_metadata : std::string_view(folder), judged->flaw);
        found.settled = false;
        return false;
    }
    found.newest = to_whole(folder, step_of(folder), judged->weight, judged->done);
    return true;
}

} // namespace

Expected<Judged> judge_dcp(Files& files, const std::string& folder, const Names& names,
                           std::optional<base::Time> said) {
    const auto path = folder.empty() ? std::string(dcp_metadata) : folder + '/' + std::string(dcp_metadata);
    const auto metadata = files.entry(path);
    if (!metadata) return metadata.error();
    if (!*metadata || !(*metadata)->is_file()) return Judged{"has no .metadata: it is being written"};
    if ((*metadata)->bytes == 0) return Judged{".metadata is empty: it is torn, as by a full disk"};
    if (has(names, ".metadata.tmp")) return Judged{"is being written again"};
    if (!has_shards(names)) return Judged{"has no .distcp file beside its .metadata"};
    auto weight = weigh(files, folder, folder.empty() ? 0 : 1);
    if (!weight) return std::move(weight).error();
    const auto done = said.value_or((*metadata)->modified);
    return Judged{flaw(*weight, done), *weight, done};
}

Expected<void> find_dcp(Files& files, const Names& names, Found& found) {
    if (has(names, dcp_metadata)) {
        if (auto whole = try_folder(files, "", found); !whole) return std::move(whole).error();
        return {};
    }
    std::size_t looked_at = 0;
    for (const auto& name : by_step(names, found)) {
        if (name.front() == '.') continue;
        if (++looked_at > most_candidates) break;
        const auto whole = try_folder(files, name, found);
        if (!whole) return whole.error();
        if (*whole) break;
    }
    return {};
}

} // namespace restart::ckpt::kinds
