#include "restart/core/facts/ladder.hpp"

#include "restart/core/facts/names.hpp"

#include <algorithm>

namespace restart {
namespace {

constexpr const auto& rung_words = codec::Names<Rung>::names;

} // namespace

std::string_view to_string(Rung rung) {
    return rung_words.at(static_cast<std::size_t>(rung));
}

Rung rung_of(std::string_view word) {
    const auto found = std::find(rung_words.begin(), rung_words.end(), word);
    return found == rung_words.end() ? Rung::hands : static_cast<Rung>(found - rung_words.begin());
}

RepairPolicy RepairPolicy::from(const base::RepairConf& conf) {
    RepairPolicy policy;
    policy.max_at_once = conf.max_at_once;
    policy.attempts = conf.attempts;
    policy.forget_after = conf.forget_after;
    policy.relapse = conf.relapse;
    policy.clean_window = conf.clean_window;
    policy.rung_limit = conf.rung_limit;
    policy.resets_gpus = !conf.gpu_reset_program.empty();
    policy.cycles_power = !conf.power_cycle_program.empty();
    policy.checks = !conf.check_program.empty();
    const auto set = [&](FaultClass fault, const std::vector<std::string>& ladder) {
        policy.ladders[std::string(to_string(fault))] = ladder;
    };
    set(FaultClass::other, conf.other);
    set(FaultClass::gpu_slow, conf.gpu_slow);
    set(FaultClass::link, conf.link);
    set(FaultClass::pcie, conf.pcie);
    set(FaultClass::hca_gone, conf.hca_gone);
    set(FaultClass::gpu_error, conf.gpu_error);
    set(FaultClass::gpu_stuck, conf.gpu_stuck);
    set(FaultClass::gpu_gone, conf.gpu_gone);
    set(FaultClass::gpu_broken, conf.gpu_broken);
    set(FaultClass::host_lost, conf.host_lost);
    return policy;
}

std::vector<Rung> RepairPolicy::ladder(FaultClass fault) const {
    std::vector<Rung> rungs;
    if (const auto found = ladders.find(std::string(to_string(fault))); found != ladders.end())
        for (const auto& word : found->second)
            rungs.push_back(rung_of(word));
    if (rungs.empty()) rungs.push_back(Rung::nothing);
    return rungs;
}

} // namespace restart
