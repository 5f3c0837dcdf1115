// LSF: what its files need besides host groups and compute units: resources for lsf.shared, their locations
// for lsf.cluster.NAME, the two queues of gangs for lsb.queues, and the line for lsf.conf.
//
// IBM's rules (LSF 10.1, lsf.shared(5), lsf.cluster(5)): a static resource has its value in the ResourceMap,
// a dynamic one has none; the hosts in one bracket share an instance, so each host needs its own. A backslash
// continues a line.
#include "topo/export/formats.hpp"

#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace topo::exports {

using base::Code;
using base::Error;
using base::Expected;

namespace {

constexpr std::size_t hosts_a_line = 8;

std::string head(std::string_view file) {
    return fmt::format("# Made by railtopo export for {}; changes made here are lost.\n", file);
}

// One resource: VALUE@[HOST] for each host, in the order of ranks.
template <class Value>
void map_line(std::string& out, const Chosen& chosen, std::string_view name, Value value) {
    auto put = std::back_inserter(out);
    fmt::format_to(put, "{} (", name);
    std::size_t count = 0;
    for (const auto& part : chosen.selection.parts)
        for (const auto h : part.hosts) {
            if (count > 0) out += count % hosts_a_line == 0 ? " \\\n  " : " ";
            fmt::format_to(put, "{}@[{}]", value(part, h, count), chosen.fabric.hosts[h].name);
            ++count;
        }
    out += ")\n";
}

// The leaf of the first rail that has one; "none" if no cable is known.
std::string leaf_of(const Fabric& fabric, const Host& host) {
    for (const int leaf : host.leaves)
        if (leaf != none) return SafeNames().add(switch_name(fabric, leaf));
    return "none";
}

// A queue or user name that is written to an LSF file.
Expected<void> check_word(std::string_view option, const std::string& word) {
    const auto bad = [&](std::string_view why) {
        return Error{Code::usage, fmt::format("{} {}: {}", option, word, why)};
    };
    if (!safe_name(word) || word.size() > longest_lsf_name)
        return bad(
            fmt::format("LSF takes names of 1 to {} letters, digits, '.', '-' and '_'", longest_lsf_name));
    if (reserved_in_lsf(word)) return bad("is a word of LSF's own: choose another name");
    return {};
}

} // namespace

Expected<std::string> lsf_shared(Chosen& chosen) {
    static_cast<void>(chosen); // the same for every fabric
    return head("lsf.shared") +
           "Begin Resource\n"
           "RESOURCENAME TYPE    INTERVAL INCREASING DESCRIPTION\n"
           "unit         String  ()       ()         (hosts on the same leaves, rail by rail)\n"
           "leaf         String  ()       ()         (the leaf switch of the first rail)\n"
           "podpos       Numeric ()       Y          (place in the order of pods and units)\n"
           "health       Numeric 5        N          (how sound the host is, 0 to 100)\n"
           "planned      Numeric 5        Y          (0 everywhere: gangs wait for it)\n"
           "End Resource\n";
}

Expected<std::string> lsf_cluster(Chosen& chosen) {
    if (auto sound = check_names(chosen, "LSF"); !sound) return std::move(sound).error();
    const auto& fabric = chosen.fabric;
    auto out = head("lsf.cluster.NAME, after its Host section") + "Begin Parameters\n"
                                                                  "EXINTERVAL = 5\n"
                                                                  "ELIM_POLL_INTERVAL = 5\n"
                                                                  "HOST_INACTIVITY_LIMIT = 2\n"
                                                                  "RETRY_LIMIT = 1\n"
                                                                  "End Parameters\n"
                                                                  "\n"
                                                                  "Begin ResourceMap\n"
                                                                  "RESOURCENAME LOCATION\n";
    std::vector<std::string> units; // by part, as in the compute units
    for (const auto& branch : logical_tree(fabric, chosen.selection).branches)
        if (branch.level == 0) units.push_back(branch.name);
    const auto* first = chosen.selection.parts.data();
    map_line(out, chosen, "unit", [&](const Selection::Part& part, std::uint32_t, std::size_t) {
        return units[static_cast<std::size_t>(&part - first)];
    });
    map_line(out, chosen, "leaf", [&](const Selection::Part&, std::uint32_t h, std::size_t) {
        return leaf_of(fabric, fabric.hosts[h]);
    });
    map_line(out, chosen, "podpos",
             [](const Selection::Part&, std::uint32_t, std::size_t place) { return place + 1; });
    out += "health [default]\n"
           "planned [default]\n"
           "End ResourceMap\n";
    return out;
}

Expected<std::string> lsf_queues(Chosen& chosen) {
    const auto& options = chosen.options;
    const auto parking = options.parking_queue.empty() ? std::string("gang") : options.parking_queue;
    const auto run = options.run_queue.empty() ? std::string("gangrun") : options.run_queue;
    const auto admin = options.admin.empty() ? std::string("lsfadmin") : options.admin;
    for (const auto& [option, word] : {std::pair{"--parking-queue", &parking}, std::pair{"--run-queue", &run},
                                       std::pair{"--admin", &admin}})
        if (auto sound = check_word(option, *word); !sound) return std::move(sound).error();
    if (parking == run)
        return Error{
            Code::usage,
            fmt::format("--parking-queue and --run-queue are both {}: gangs wait in the one and run from "
                        "the other",
                        run)};
    return head("lsb.queues") +
           fmt::format("# Users submit gangs here. Nothing starts from it: restartd chooses the "
                       "hosts and moves each to {1}.\n"
                       "Begin Queue\n"
                       "QUEUE_NAME = {0}\n"
                       "PRIORITY = 40\n"
                       "RES_REQ = select[planned>0]\n"
                       "RERUNNABLE = yes\n"
                       "DESCRIPTION = gangs wait here for their hosts; Railyard places them\n"
                       "End Queue\n"
                       "\n"
                       "# Only restartd's user may put jobs here.\n"
                       "Begin Queue\n"
                       "QUEUE_NAME = {1}\n"
                       "PRIORITY = 45\n"
                       "USERS = {2}\n"
                       "RERUNNABLE = yes\n"
                       "JOB_ACCEPT_INTERVAL = 0\n"
                       "DESCRIPTION = gangs start here on the hosts that were chosen\n"
                       "End Queue\n",
                       parking, run, admin);
}

Expected<std::string> lsf_conf(Chosen& chosen) {
    static_cast<void>(chosen); // the same for every fabric
    return head("lsf.conf") + "LSB_SUB_COMMANDNAME=Y\n"
                              "LSB_MBD_CONNTIMEOUT=2\n";
}

bool reserved_in_lsf(std::string_view name) {
    constexpr std::array words{"all", "allremote", "default", "none", "others"};
    return std::find(words.begin(), words.end(), name) != words.end();
}

Expected<void> check_lsf_names(const Chosen& chosen, const std::vector<std::string>& names) {
    std::vector<std::string_view> hosts;
    for (const auto& part : chosen.selection.parts)
        for (const auto h : part.hosts) {
            const auto& host = chosen.fabric.hosts[h];
            if (reserved_in_lsf(host.name))
                return Error{Code::unfit,
                             fmt::format("host \"{}\": is a word of LSF's own, which its lists do not "
                                         "take as a host; leave the host out with --nodes",
                                         host.name)};
            hosts.push_back(host.name);
        }
    std::sort(hosts.begin(), hosts.end());
    std::vector<std::string_view> seen;
    for (const std::string& name : names) {
        const auto refuse = [&](std::string_view why) {
            return Error{Code::unfit,
                         fmt::format("{}: {}. Rename the units or pods in the fabric file", name, why)};
        };
        if (name.size() > longest_lsf_name)
            return refuse(fmt::format("has {} characters, and LSF takes {}", name.size(), longest_lsf_name));
        if (reserved_in_lsf(name)) return refuse("is a word of LSF's own");
        if (std::binary_search(hosts.begin(), hosts.end(), name))
            return refuse("would be a group and a host at once, of which LSF takes the host");
        seen.push_back(name);
    }
    std::sort(seen.begin(), seen.end());
    if (const auto twice = std::adjacent_find(seen.begin(), seen.end()); twice != seen.end())
        return Error{Code::unfit,
                     fmt::format("{}: would be two groups of LSF. Rename the units or pods in the "
                                 "fabric file",
                                 *twice)};
    return {};
}

} // namespace topo::exports
