// DeepSpeed, deepspeed/runtime/engine.py: save_checkpoint() writes DIR/TAG/ on all ranks, by default
// global_stepN, and then rank 0 writes the tag into DIR/latest: in place, so that a reader may find it empty;
// with a decoupled writer only after its commit (_commit_decoupled_checkpoint). load_checkpoint() resumes
// from the tag in it. Shards are mp_rank_MM_model_states.pt, under ZeRO 3
// zero_pp_rank_D_mp_rank_MM_model_states.pt (_get_ckpt_name), and
// [bf16_]zero_pp_rank_D_mp_rank_MM_optim_states.pt for each data- and model-parallel rank
// (_get_zero_ckpt_name); experts' shards have separate groups.
#include "base/units.hpp"
#include "restart/ckpt/kinds/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace restart::ckpt::kinds {
namespace {

using base::Expected;

constexpr std::string_view latest_file = "latest";

struct DeepSpeedShards {
    std::vector<std::vector<std::uint64_t>> model, optimizer; // {D, MM}; of the model without ZeRO 3 {MM}
    bool experts = false;
};

// The numbers of "[bf16_][zero_pp_rank_D_]mp_rank_MM" before `ending`.
std::optional<std::vector<std::uint64_t>> ranks_of(std::string_view name, std::string_view ending) {
    constexpr std::string_view zero = "zero_pp_rank_", mp = "mp_rank_";
    if (!name.ends_with(ending)) return {};
    name.remove_suffix(ending.size());
    if (name.starts_with("bf16_")) name.remove_prefix(5);
    if (!name.starts_with(zero)) return numbers_after(mp, name);
    const auto middle = name.find("_mp_rank_");
    if (middle == std::string_view::npos) return {};
    const auto data = numbers_after(zero, name.substr(0, middle)),
               model = numbers_after(mp, name.substr(middle + 1));
    if (!data || !model || data->size() != 1 || model->size() != 1) return {};
    return std::vector<std::uint64_t>{data->front(), model->front()};
}

DeepSpeedShards shards_of(const Names& names) {
    DeepSpeedShards shards;
    for (const auto& name : names) {
        shards.experts =
            shards.experts || name.find("expert_") != std::string::npos || name.starts_with("expp_");
        if (auto ranks = ranks_of(name, "_model_states.pt")) shards.model.push_back(std::move(*ranks));
        if (auto ranks = ranks_of(name, "_optim_states.pt")) shards.optimizer.push_back(std::move(*ranks));
    }
    return shards;
}

std::set<std::uint64_t> model_ranks(const std::vector<std::vector<std::uint64_t>>& shards) {
    std::set<std::uint64_t> ranks;
    for (const auto& shard : shards)
        ranks.insert(shard.back());
    return ranks;
}

std::string flaw_of(const DeepSpeedShards& shards) {
    std::string missing;
    if (shards.model.empty()) return "has no *_model_states.pt";
    if (shards.experts) return {};
    if (!is_grid(shards.model, missing) || !is_grid(shards.optimizer, missing)) return missing;
    if (shards.optimizer.empty()) return {};
    const bool zero_3 = shards.model.front().size() == 2;
    if (model_ranks(shards.model) == model_ranks(shards.optimizer) &&
        (!zero_3 || shards.model.size() == shards.optimizer.size()))
        return {};
    return fmt::format("its {} model and {} optimizer shards are not of one number of ranks",
                       shards.model.size(), shards.optimizer.size());
}

Expected<Judged> judge_tag(Files& files, const std::string& tag, base::Time said, std::uint64_t& ranks) {
    const auto entry = files.entry(tag);
    if (!entry) return entry.error();
    const auto names = files.names(tag);
    if (!names) return names.error();
    if (!*entry) return Judged{"is not there, but latest names it: it was deleted"};
    if (!(*entry)->is_folder() || !*names) return Judged{"is not a folder: links are not followed"};
    const auto shards = shards_of(**names);
    ranks = std::max(shards.model.size(), shards.optimizer.size());
    if (auto flawed = flaw_of(shards); !flawed.empty()) return Judged{std::move(flawed)};
    auto weight = weigh(files, tag, 2);
    if (!weight) return std::move(weight).error();
    return Judged{flaw(*weight, said), *weight, said};
}

// Notes folders with DeepSpeed's names and more steps than the one in latest.
void note_newer_tags(const Names& names, std::optional<std::uint64_t> than, Found& found) {
    Names newer;
    for (const auto& name : names)
        if (name.starts_with("global_step") && (!than || step_of(name) > than)) newer.push_back(name);
    for (const auto& name : by_step(std::move(newer), found))
        pass_over(found, name, "latest does not name it: it is being written, or its save never ended");
}

} // namespace

Expected<void> find_deepspeed(Files& files, const Names& names, Found& found) {
    const std::string pointer(latest_file);
    found.signs.push_back(pointer);
    const auto latest = read_pointer(files, pointer, found);
    if (!latest) return latest.error();
    if (!*latest) note_newer_tags(names, {}, found);
    if (!*latest || !(*latest)->name) return {};
    const auto& tag = *(*latest)->name;
    const auto written = (*latest)->written;
    const auto step = step_of(tag);
    if (step) note_newer_tags(names, step, found);
    std::uint64_t ranks = 0;
    const auto judged = judge_tag(files, tag, written, ranks);
    if (!judged) return judged.error();
    found.signs.push_back(tag);
    take_pointed(found, tag, step, *judged, written, ranks);
    return {};
}

} // namespace restart::ckpt::kinds
