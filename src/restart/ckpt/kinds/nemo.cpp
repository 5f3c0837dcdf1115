// NVIDIA NeMo, nemo/lightning/pytorch/callbacks/model_checkpoint.py: _save_checkpoint() first creates the
// file NAME-unfinished (set_checkpoint_unfinished_marker) and removes it when all ranks are done, in an
// asynchronous save in its last step. The checkpoint is the folder NAME, with a distributed checkpoint of
// PyTorch's in NAME/weights (nemo/lightning/ckpt_utils.py), or in older releases NAME itself or the file
// NAME.ckpt; NAME-EMA shares the marker of NAME. nemo/lightning/resume.py resumes from a folder *-last; if
// save_last is "link" that is a symbolic link to another folder next to it.
#include "restart/ckpt/kinds/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::ckpt::kinds {
namespace {

using base::Expected;

constexpr std::string_view unfinished = "-unfinished", nemo_file = ".ckpt", ema = "-EMA";
constexpr std::size_t most_nemo_folders = 64;

std::string_view without_endings(std::string_view name) {
    if (name.ends_with(nemo_file)) name.remove_suffix(nemo_file.size());
    if (name.ends_with(ema)) name.remove_suffix(ema.size());
    return name;
}

bool is_last(std::string_view name) {
    return without_endings(name).ends_with("last");
}

Expected<Judged> judge_nemo_folder(Files& files, const std::string& name) {
    for (const auto& folder : {name + "/weights", name}) {
        const auto names = files.names(folder);
        if (!names) return names.error();
        if (!*names || !has(**names, ".metadata")) continue;
        return judge_dcp(files, folder, **names, {});
    }
    return Judged{"has no weights/.metadata"};
}

// Judges the entry of this name, or the target of a link within this directory. Nothing: not a checkpoint.
Expected<std::optional<Judged>> judge_nemo(Files& files, const Names& names, const std::string& name,
                                           bool linked = false) {
    const auto entry = files.entry(name);
    if (!entry) return entry.error();
    if (!*entry) return std::optional(Judged{"is not there: it was deleted"});
    if (has(names, fmt::format("{}{}", without_endings(name), unfinished)))
        return std::optional(Judged{"is marked unfinished"});
    if ((*entry)->is_folder()) {
        auto judged = judge_nemo_folder(files, name);
        if (!judged) return judged.error();
        return std::optional(*std::move(judged));
    }
    if ((*entry)->is_file() && name.ends_with(nemo_file)) {
        auto weight = weight_of(**entry);
        if (weight.bytes == 0) weight.empty = name;
        return std::optional(Judged{flaw(weight, (*entry)->modified), weight, (*entry)->modified});
    }
    if ((*entry)->type != Entry::Type::link || linked) return std::optional<Judged>();
    const auto target = files.target(name);
    if (!target) return target.error();
    if (!*target || !is_plain_name(**target))
        return std::optional(Judged{"is a link out of this directory: it is not followed"});
    return judge_nemo(files, names, **target, true);
}

} // namespace

Expected<void> find_nemo(Files& files, const Names& names, Found& found) {
    Names candidates;
    for (const auto& name : names)
        if (!name.ends_with(unfinished) && !name.starts_with('.')) candidates.push_back(name);
    candidates = by_step(std::move(candidates), found);
    // For one step, the one that resume.py uses.
    std::stable_sort(candidates.begin(), candidates.end(), [](const std::string& a, const std::string& b) {
        return std::pair(step_of(a), is_last(a)) > std::pair(step_of(b), is_last(b));
    });
    if (candidates.size() > most_nemo_folders) candidates.resize(most_nemo_folders);
    for (const auto& name : candidates) {
        const auto judged = judge_nemo(files, names, name);
        if (!judged) return judged.error();
        if (!*judged || (!step_of(name) && !(*judged)->flaw.empty())) continue; // an unrelated folder
        if (!(*judged)->flaw.empty()) {
            pass_over(found, name, (*judged)->flaw);
            continue;
        }
        found.newest = to_whole(name, step_of(name), (*judged)->weight, (*judged)->done);
        found.signs.push_back(name);
        return {};
    }
    return {};
}

} // namespace restart::ckpt::kinds
