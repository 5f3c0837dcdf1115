#include "restart/ckpt/kinds/look.hpp"

#include "restart/ckpt/kinds/rules.hpp"
#include "restart/ckpt/name.hpp"

#include <algorithm>

namespace restart::ckpt::kinds {
namespace {

using base::Expected;

constexpr std::size_t most_folders_tried = 4;

bool any_name(const Names& names, bool (*is)(const std::string&)) {
    return std::any_of(names.begin(), names.end(), is);
}

bool is_published(const std::string& name) {
    return parse_name(published_prefix, name).has_value();
}

// railckpt's names, see name.hpp and fence.hpp.
bool is_own(const std::string& name) {
    return is_published(name) || name == "epoch" || name == ".lock" || name.starts_with(".writer-") ||
           name.starts_with(stage_prefix) || name.starts_with(trash_prefix) || is_nfs_leftover(name);
}

bool is_iteration(const std::string& name) {
    const auto numbers = numbers_after("iter_", name);
    return numbers && numbers->size() == 1 && name.size() >= std::string_view("iter_0000000").size();
}

// Decides by the content of the newest folders: some frameworks' folder names are too generic.
Expected<Known> known_by_folders(Files& files, const Names& names) {
    Found ignored;
    std::size_t tried = 0;
    for (const auto& name : by_step(names, ignored)) {
        if (name.front() == '.' || tried == most_folders_tried) continue;
        const auto inside = files.names(name);
        if (!inside) return inside.error();
        if (!*inside) continue;
        ++tried;
        if (has(**inside, "_CHECKPOINT_METADATA") || has(**inside, "commit_success.txt")) return Known::orbax;
        if (name.ends_with(".ckpt")) return Known::lightning;
        if (has(**inside, "weights")) return Known::nemo;
        const bool shards = any_name(**inside, [](const auto& file) { return file.ends_with(".distcp"); });
        if (has(**inside, ".metadata") || shards) return Known::dcp;
    }
    return any_name(names, [](const auto& name) { return name.ends_with(".ckpt"); }) ? Known::lightning
                                                                                     : Known::automatic;
}

Expected<Known> known_by(Files& files, const Names& names) {
    if (any_name(names, is_published)) return Known::railckpt;
    if (has(names, "latest_checkpointed_iteration.txt") || any_name(names, is_iteration))
        return Known::megatron;
    if (any_name(names, [](const auto& name) { return name.starts_with("global_step"); }))
        return Known::deepspeed;
    if (has(names, "latest")) {
        const auto pointer = files.entry("latest");
        if (!pointer) return pointer.error();
        if (*pointer && (*pointer)->is_file()) return Known::deepspeed;
    }
    if (any_name(names,
                 [](const auto& name) { return name.find(".orbax-checkpoint-tmp") != std::string::npos; }))
        return Known::orbax;
    if (has(names, ".metadata") ||
        any_name(names, [](const auto& name) { return name.ends_with(".distcp"); }))
        return Known::dcp;
    if (any_name(names, [](const auto& name) { return name.ends_with("-unfinished"); })) return Known::nemo;
    // Claimed by railckpt (fence.hpp), without a commit so far.
    if (has(names, "epoch") && has(names, ".lock")) return Known::railckpt;
    return known_by_folders(files, names);
}

Expected<void> find_newest(Files& files, const Names& names, base::Time now, Found& found) {
    switch (found.kind.known) {
    case Known::automatic:
    case Known::railckpt: return {};
    case Known::megatron: return find_megatron(files, names, found);
    case Known::deepspeed: return find_deepspeed(files, names, found);
    case Known::dcp: return find_dcp(files, names, found);
    case Known::nemo: return find_nemo(files, names, found);
    case Known::lightning: return find_lightning(files, names, now, found);
    case Known::orbax: return find_orbax(files, names, found);
    case Known::glob: return find_glob(files, names, found.kind.pattern, now, found);
    }
    return {};
}

} // namespace

Expected<Found> look(Files& files, const Kind& kind, base::Time now) {
    const auto names = files.names("");
    if (!names) return names.error();
    if (!*names) return base::Error{base::Code::not_found, files.dir() + ": no such checkpoint directory"};
    Found found{.kind = kind};
    found.others = !std::all_of((*names)->begin(), (*names)->end(), is_own);
    if (kind.known == Known::automatic) {
        const auto known = known_by(files, **names);
        if (!known) return known.error();
        found.kind.known = *known;
    }
    if (auto done = find_newest(files, **names, now, found); !done) return std::move(done).error();
    return found;
}

} // namespace restart::ckpt::kinds
