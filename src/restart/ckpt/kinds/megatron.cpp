// Megatron-LM, megatron/training/checkpointing.py: save_checkpoint() writes iter_%07d (get_checkpoint_name)
// and, once all ranks are done, or in the last step of an asynchronous save, rank 0 writes the iteration, or
// "release", into latest_checkpointed_iteration.txt (get_checkpoint_tracker_filename): in place, so that a
// reader may find it empty. Megatron resumes only from the iteration in it (read_metadata). A distributed
// checkpoint has metadata.json (megatron/core/dist_checkpointing/core.py, CONFIG_FNAME) in addition to
// PyTorch's files; with --ckpt-format torch_dcp it has only these; a legacy one has
// mp_rank_TT[_PPP][_EEE]/model_optim_rng.pt for each tensor-, pipeline- and expert-parallel rank.
#include "base/units.hpp"
#include "restart/ckpt/kinds/rules.hpp"
#include "restart/ckpt/name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::ckpt::kinds {
namespace {

using base::Expected;

constexpr std::string_view tracker = "latest_checkpointed_iteration.txt", iteration_prefix = "iter_",
                           release = "release", legacy_prefix = "mp_rank_";

Expected<Judged> judge_legacy(Files& files, const std::string& folder, const Names& names, base::Time said,
                              std::uint64_t& ranks) {
    std::vector<std::vector<std::uint64_t>> shards;
    std::string missing;
    for (const auto& name : names) {
        const auto numbers = numbers_after(legacy_prefix, name);
        if (!numbers) continue;
        shards.push_back(*numbers);
        if (is_nearly_out(files)) continue; // weigh() reports that it is cut
        const auto model = files.entry(fmt::format("{}/{}/model_optim_rng.pt", folder, name));
        if (!model) return model.error();
        if (!*model || !(*model)->is_file())
            return Judged{fmt::format("{}/model_optim_rng.pt is missing", name)};
    }
    ranks = shards.size();
    if (!is_grid(shards, missing)) return Judged{missing};
    auto weight = weigh(files, folder, 1);
    if (!weight) return std::move(weight).error();
    return Judged{flaw(*weight, said), *weight, said};
}

Expected<Judged> judge_iteration(Files& files, const std::string& folder, base::Time said,
                                 std::uint64_t& ranks) {
    const auto entry = files.entry(folder);
    if (!entry) return entry.error();
    const auto names = files.names(folder);
    if (!names) return names.error();
    if (!*entry) return Judged{fmt::format("is not there, but {} names it: it was deleted", tracker)};
    if (!(*entry)->is_folder() || !*names) return Judged{"is not a folder: links are not followed"};
    if (has(**names, ".metadata")) return judge_dcp(files, folder, **names, said);
    const bool legacy = std::any_of((*names)->begin(), (*names)->end(), [](const std::string& name) {
        return numbers_after(legacy_prefix, name).has_value();
    });
    if (legacy) return judge_legacy(files, folder, **names, said, ranks);
    // The retired backend zarr: arrays in separate folders, and metadata.json last.
    if (!has(**names, "metadata.json") ||
        std::any_of((*names)->begin(), (*names)->end(), [](const auto& n) { return n.ends_with(".distcp"); }))
        return Judged{"has no .metadata, no metadata.json and no mp_rank_ folder"};
    auto weight = weigh(files, folder, 4);
    if (!weight) return std::move(weight).error();
    return Judged{flaw(*weight, said), *weight, said};
}

void note_newer(const Names& names, std::optional<std::uint64_t> than, Found& found) {
    std::vector<std::uint64_t> newer;
    for (const auto& name : names) {
        const auto numbers = numbers_after(iteration_prefix, name);
        if (numbers && numbers->size() == 1 && (!than || numbers->front() > *than))
            newer.push_back(numbers->front());
    }
    std::sort(newer.rbegin(), newer.rend());
    for (const auto iteration : newer)
        pass_over(found, fmt::format("{}{:07}", iteration_prefix, iteration),
                  fmt::format("{} does not name it: it is being written, or its save never ended", tracker));
}

} // namespace

Expected<void> find_megatron(Files& files, const Names& names, Found& found) {
    const std::string pointer(tracker);
    found.signs.push_back(pointer);
    const auto latest = read_pointer(files, pointer, found);
    if (!latest) return latest.error();
    if (!*latest) note_newer(names, {}, found);
    if (!*latest || !(*latest)->name) return {};
    const auto& said = *(*latest)->name;
    const auto iteration = base::parse_count(said);
    if (said != release && (!iteration || *iteration > max_step)) {
        pass_over(found, pointer, fmt::format("says \"{}\": not an iteration", said));
        return {};
    }
    const auto written = (*latest)->written;
    const auto step = iteration ? *iteration : 0;
    const auto folder = iteration ? fmt::format("{}{:07}", iteration_prefix, step) : std::string(release);
    note_newer(names, step, found);
    std::uint64_t ranks = 0;
    const auto judged = judge_iteration(files, folder, written, ranks);
    if (!judged) return judged.error();
    found.signs.push_back(folder);
    take_pointed(found, folder, step, *judged, written, ranks);
    return {};
}

} // namespace restart::ckpt::kinds
