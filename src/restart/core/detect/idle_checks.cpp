// Takes the results of checks that restartd ran on idle hosts.

#include "restart/core/detect/detect.hpp"

namespace restart {

bool take_idle_check_word(StepContext& ctx, const std::string& name, const JobReport& report) {
    const auto found = ctx.state.hosts.find(name);
    if (found == ctx.state.hosts.end() || !found->second.idle_check) return false;
    auto& check = *found->second.idle_check;
    if (!check.under_way() || report.id != check.job || report.uid != check.uid) return false;
    if (!report.preflight || report.preflight->words.empty() || check.told) return true;
    for (const auto& word : report.preflight->words)
        if (word.host == name)
            take_check(found->second.checks, word,
                       {report.id, report.epoch, report.uid, true, report.preflight->level}, ctx.now);
    check.told = true;
    ctx.changed();
    return true;
}

} // namespace restart
