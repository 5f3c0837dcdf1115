// Orbax, checkpoint/orbax/checkpoint/_src/path: a step is a folder STEP or PREFIX_STEP (step.py), written
// under a name with .orbax-checkpoint-tmp (atomicity_types.py, TMP_DIR_SUFFIX). atomicity.py: if a rename is
// atomic, the finished folder is renamed (AtomicRenameTemporaryPath.finalize; recent releases write
// commit_success.txt before), otherwise it is written in place and marked by commit_success.txt
// (CommitFileTemporaryPath.finalize). So a folder without commit_success.txt counts only if no other has one:
// an older Orbax renamed it.
#include "restart/ckpt/kinds/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::ckpt::kinds {
namespace {

using base::Expected;

constexpr std::string_view temporary = ".orbax-checkpoint-tmp", success = "commit_success.txt";
constexpr std::size_t most_steps = 16;

bool is_step_folder(const std::string& name) {
    const auto last = name.find_last_not_of("0123456789");
    return (last == std::string::npos || name[last] == '_') && step_of(name) && last + 1 != name.size();
}

struct OrbaxStep {
    std::string name;
    Names names;
};

std::string orbax_flaw(const OrbaxStep& step, bool marked) {
    if (step.names.empty()) return "is empty: it is being written";
    if (marked && !has(step.names, success)) return "has no commit_success.txt: its save has not ended";
    for (const auto& name : step.names)
        if (name.find(temporary) != std::string::npos) return "has an item whose save has not ended";
    return {};
}

} // namespace

Expected<void> find_orbax(Files& files, const Names& names, Found& found) {
    Names candidates;
    for (const auto& name : names) {
        if (name.find(temporary) != std::string::npos)
            pass_over(found, name, "is being written, or its save never ended");
        else if (is_step_folder(name))
            candidates.push_back(name);
    }
    std::vector<OrbaxStep> steps;
    bool marked = false;
    for (auto& name : by_step(std::move(candidates), found)) {
        if (steps.size() == most_steps) break;
        auto inside = files.names(name);
        if (!inside) return inside.error();
        if (!*inside) continue; // not a folder, or gone
        marked = marked || has(**inside, success);
        steps.push_back({std::move(name), **std::move(inside)});
    }
    for (const auto& step : steps) {
        found.signs.push_back(step.name);
        if (const auto why = orbax_flaw(step, marked); !why.empty()) {
            pass_over(found, step.name, why);
            continue;
        }
        const auto path = has(step.names, success) ? fmt::format("{}/{}", step.name, success) : step.name;
        const auto mark = files.entry(path);
        if (!mark) return mark.error();
        if (!*mark) continue; // gone in the meantime
        const auto weight = weigh(files, step.name, 6);
        if (!weight) return weight.error();
        const auto done = std::max((*mark)->modified, weight->last.value_or((*mark)->modified));
        found.newest = to_whole(step.name, step_of(step.name), *weight, done);
        return {};
    }
    return {};
}

} // namespace restart::ckpt::kinds
