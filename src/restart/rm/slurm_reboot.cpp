#include "restart/rm/slurm_reboot.hpp"

#include "base/child.hpp"
#include "base/utf8.hpp"
#include "restart/core/facts/kept_out.hpp"

#include <fmt/format.h>

namespace restart {
namespace {

using base::Code;
using base::Error;

constexpr base::Duration scontrol_within = std::chrono::seconds(30); // it only notifies slurmctld

} // namespace

base::Expected<void> reboot_node(const RmNode& node, const RepairHost& action) {
    if (action.rung != Rung::reboot)
        return Error{Code::internal, fmt::format("{} is none of Slurm's", to_string(action.rung))};
    if (node.rebooting) return {};
    if (!is_our_drain(node))
        return Error{Code::denied,
                     fmt::format("{} is not drained by Railyard: {}", action.host, node.reason)};
    if (node.occupied) return Error{Code::denied, fmt::format("jobs are on {}: {}", action.host, node.state)};
    const auto ran =
        base::run_to_end({"scontrol", "reboot", "reason=" + action.reason, action.host}, scontrol_within);
    if (!ran) return ran.error();
    if (ran->status == 0) return {};
    const auto said = base::printable(ran->output, 256);
    const bool away = said.find("Unable to contact") != std::string::npos;
    return Error{away ? Code::unavailable : Code::unfit,
                 fmt::format("scontrol reboot {}: status {}: {}", action.host, ran->status, said)};
}

} // namespace restart
