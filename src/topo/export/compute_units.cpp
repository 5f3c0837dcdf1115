// LSF: host groups and compute units for lsb.hosts, and the compute unit types and timing parameters of the
// daemons for lsb.params.
//
// IBM's rules (LSF 10.1, "Configuring compute units"): hosts and host groups are members of the finest type
// only, all units of a type have members of one type, and the types are listed finest first; '!' marks the
// default. Ranges in names are not used, as LSF may not keep leading zeros.
#include "topo/export/formats.hpp"

#include <fmt/format.h>

namespace topo::exports {

using base::Expected;

Expected<std::string> lsf(Chosen& chosen) {
    if (auto sound = check_names(chosen, "LSF"); !sound) return std::move(sound).error();
    const auto tree = logical_tree(chosen.fabric, chosen.selection);
    std::vector<std::string> names;
    for (const Branch& branch : tree.branches) {
        names.push_back(branch.name);
        names.push_back(branch.name + "_hosts");
    }
    if (auto sound = check_lsf_names(chosen, names); !sound) return std::move(sound).error();
    std::string out = "# Made by railtopo export for lsb.hosts; changes made here are lost.\n"
                      "# lsb.params needs the types: railtopo export --format lsf-params.\n"
                      "Begin HostGroup\n"
                      "GROUP_NAME GROUP_MEMBER\n";
    auto put = std::back_inserter(out);
    for (const Branch& branch : tree.branches) {
        fmt::format_to(put, "{}_hosts (", branch.name);
        for (std::size_t i = 0; i < branch.hosts.size(); ++i)
            fmt::format_to(put, "{}{}", i == 0 ? "" : " ", chosen.fabric.hosts[branch.hosts[i]].name);
        for (std::size_t i = 0; i < branch.below.size(); ++i)
            fmt::format_to(put, "{}{}_hosts", i == 0 ? "" : " ", tree.branches[branch.below[i]].name);
        out += ")\n";
    }
    out += "End HostGroup\n"
           "\n"
           "Begin ComputeUnit\n"
           "NAME MEMBER TYPE\n";
    for (const Branch& branch : tree.branches) {
        fmt::format_to(put, "{} (", branch.name);
        if (branch.level == 0) fmt::format_to(put, "{}_hosts", branch.name);
        for (std::size_t i = 0; i < branch.below.size(); ++i)
            fmt::format_to(put, "{}{}", i == 0 ? "" : " ", tree.branches[branch.below[i]].name);
        fmt::format_to(put, ") {}\n", tree.levels[branch.level]);
    }
    out += "End ComputeUnit\n";
    return out;
}

Expected<std::string> lsf_params(Chosen& chosen) {
    const auto tree = logical_tree(chosen.fabric, chosen.selection);
    std::string out = "# Made by railtopo export for lsb.params; changes made here are lost.\n"
                      "Begin Parameters\n"
                      "COMPUTE_UNIT_TYPES =";
    for (std::size_t level = 0; level < tree.levels.size(); ++level)
        fmt::format_to(std::back_inserter(out), " {}{}", tree.levels[level], level == 0 ? "!" : "");
    // The measurements behind these numbers: railyard-lsf(7), TIMING.
    out += "\nMBD_SLEEP_TIME = 2\n"
           "SBD_SLEEP_TIME = 2\n"
           "RETRY_INTERVAL = 1\n"
           "MAX_SBD_FAIL = 3\n"
           "JOB_TERMINATE_INTERVAL = 2\n"
           "End Parameters\n";
    return out;
}

} // namespace topo::exports
