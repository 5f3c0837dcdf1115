// PyTorch Lightning, src/lightning/pytorch/callbacks/model_checkpoint.py: files such as epoch=0-step=200.ckpt
// (format_checkpoint_name; -v1 and so on if the name was taken) and last.ckpt or last-v1.ckpt
// (_save_last_checkpoint), either a separate file or a symbolic link to one of those (_link_checkpoint).
// There is no marker: data is written through a temporary file if the file system allows it
// (src/lightning/fabric/utilities/cloud_io.py, _atomic_save, a transaction of fsspec, which copies it from
// /tmp if that is another file system), so a file counts if no process writes to it. A sharded one is a
// folder with a distributed checkpoint of PyTorch's (src/lightning/fabric/strategies/fsdp.py).
#include "restart/ckpt/kinds/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::ckpt::kinds {
namespace {

using base::Expected;

constexpr std::string_view lightning_file = ".ckpt";
constexpr std::size_t most_lightning = 256;

struct Saved {
    std::string name;
    Entry entry;
};

std::optional<std::uint64_t> named_step(const std::string& name) {
    return name.find("step") == std::string::npos ? std::nullopt : step_of(name);
}

// A copy named last.ckpt has no step in its name; it is saved right after the file of the same step.
std::optional<std::uint64_t> lightning_step(const Saved& saved, const std::vector<Saved>& all) {
    if (const auto step = named_step(saved.name)) return step;
    std::optional<std::uint64_t> before;
    for (const auto& other : all)
        if (other.entry.modified <= saved.entry.modified) before = std::max(before, named_step(other.name));
    return before;
}

Expected<Judged> judge_lightning(Files& files, const Saved& saved, base::Time now, bool& settled) {
    const auto& entry = saved.entry;
    if (entry.is_folder()) {
        const auto names = files.names(saved.name);
        if (!names) return names.error();
        if (!*names) return Judged{"is gone"};
        return judge_dcp(files, saved.name, **names, {});
    }
    if (entry.bytes == 0) return Judged{"is empty: it is being written, or it is torn, as by a full disk"};
    const auto writers = files.writers(saved.name);
    if (writers == Writers::some || (writers == Writers::unknown && now - entry.modified < quiet)) {
        settled = false;
        return Judged{"is being written, or was a moment ago"};
    }
    return Judged{"", weight_of(entry), entry.modified};
}

} // namespace

Expected<void> find_lightning(Files& files, const Names& names, base::Time now, Found& found) {
    Names candidates;
    for (const auto& name : names)
        if (name.ends_with(lightning_file)) candidates.push_back(name);
    candidates = by_step(std::move(candidates), found);
    // by_step() puts last.ckpt, which has no step, last.
    std::stable_partition(candidates.begin(), candidates.end(),
                          [](const auto& name) { return name.starts_with("last"); });
    if (candidates.size() > most_lightning) candidates.resize(most_lightning);
    std::vector<Saved> all;
    for (const auto& name : candidates) {
        const auto entry = files.entry(name);
        if (!entry) return entry.error();
        // A link refers to a file that is also in this directory.
        if (*entry && ((*entry)->is_file() || (*entry)->is_folder())) all.push_back({name, **entry});
        if (*entry && (*entry)->type == Entry::Type::link && found.signs.size() < 4)
            found.signs.push_back(name);
    }
    std::stable_sort(all.begin(), all.end(), [](const Saved& a, const Saved& b) {
        return std::pair(a.entry.modified, named_step(a.name)) >
               std::pair(b.entry.modified, named_step(b.name));
    });
    for (const auto& saved : all) {
        const auto judged = judge_lightning(files, saved, now, found.settled);
        if (!judged) return judged.error();
        found.signs.push_back(saved.name);
        if (!judged->flaw.empty()) {
            pass_over(found, saved.name, judged->flaw);
            continue;
        }
        found.newest = to_whole(saved.name, lightning_step(saved, all), judged->weight, judged->done);
        return {};
    }
    return {};
}

} // namespace restart::ckpt::kinds
