// The driver's threads that run the site's programs for repairs: however long these take, they delay neither
// the resource manager's thread nor the state.
#include "restart/daemon/driver.hpp"

#include "base/log.hpp"
#include "restart/core/act/act.hpp"
#include "restart/daemon/program.hpp"

#include <utility>

namespace restart {
namespace {

constexpr base::Duration look_again{250};

std::vector<std::string> words_of(const RepairHost& repair, const RepairPrograms& programs) {
    if (repair.rung == Rung::check)
        return {programs.check, repair.host, std::string(to_string(repair.fault)),
                std::string(to_string(repair.after))};
    if (repair.rung == Rung::power_cycle) return {programs.power_cycle, repair.host};
    std::vector<std::string> words{programs.gpu_reset, repair.host};
    words.insert(words.end(), repair.gpus.begin(), repair.gpus.end());
    return words;
}

} // namespace

void Driver::run_programs(const std::stop_token& stop, std::deque<Action>& queue) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        if (queue.empty() || !may_act()) { // another restartd may do what waits here
            wake_.wait_for(lock, stop, look_again, [] { return false; });
            continue;
        }
        const auto action = std::move(queue.front());
        queue.pop_front();
        if (const auto why = why_obsolete(state_, options_.policy, base::now(), action); !why.empty()) {
            metrics_.add(Metric::actions, {std::string(to_string(kind_of(action))), "overtaken"});
            apply(ActionDone{action.id, base::Error{base::Code::unfit, why}, true, {}});
            continue;
        }
        auto words = words_of(*as<RepairHost>(action), options_.programs);
        const auto limit = is_check(action) ? options_.programs.check_limit : options_.programs.limit;
        base::log::info("{}: {}: {}", action.id, describe(action), words.front());
        lock.unlock();
        auto said = words.front().empty()
                        ? base::Expected<std::string>(base::Error{base::Code::not_found, "no program is set"})
                        : run_program(std::move(words), limit, [&] { return stop.stop_requested(); });
        lock.lock();
        // Its effect is settled at the next start: it is not run again.
        if (!said && said.error().code == base::Code::unavailable) return;
        metrics_.add(Metric::actions, {std::string(to_string(kind_of(action))),
                                       said ? "done" : std::string(base::to_string(said.error().code))});
        ActionDone event{action.id, {}, false, {}};
        if (said) {
            event.said = *std::move(said);
        } else {
            base::log::warning("{}: {}: {}", action.id, describe(action), said.error().text);
            event.error = std::move(said).error();
        }
        apply(event);
    }
}

} // namespace restart
