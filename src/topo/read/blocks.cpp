#include "topo/read/blocks.hpp"

#include "base/hostlist.hpp"
#include "topo/derive.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace topo {
namespace {

std::string_view short_name(std::string_view host) {
    return host.substr(0, host.find('.'));
}

std::string folded(std::vector<std::string> names) {
    std::sort(names.begin(), names.end(), base::natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return base::fold_hostlist(names);
}

// Domains that are in several units, the first as "nvl1 in su1, su2".
void note_torn(const Fabric& fabric, std::vector<std::string>& notes) {
    std::size_t torn = 0;
    std::string first;
    for (const Domain& domain : fabric.domains) {
        std::vector<std::string> units;
        for (const auto h : domain.hosts)
            if (const int unit = fabric.hosts[h].unit; unit != none)
                units.push_back(fabric.units[at(unit)].name);
        std::sort(units.begin(), units.end(), base::natural_less);
        units.erase(std::unique(units.begin(), units.end()), units.end());
        if (units.size() > 1 && ++torn == 1)
            first = fmt::format("{} in {}", domain.name, fmt::join(units, ", "));
    }
    if (torn != 0)
        notes.push_back(
            fmt::format("{} in several units, such as {}: hosts that share NVLink switches are in one; "
                        "railtopo check names them",
                        torn == 1 ? "a domain lies" : fmt::format("{} domains lie", torn), first));
}

} // namespace

std::vector<std::string> name_domains(Fabric& fabric, const Outline& blocks) {
    // Full names before short ones; of one name the first.
    std::unordered_map<std::string_view, std::size_t> index;
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
        index.emplace(fabric.hosts[h].name, h);
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
        index.emplace(short_name(fabric.hosts[h].name), h);
    std::vector<bool> placed(fabric.hosts.size(), false);
    std::vector<std::string> twice, unknown, left;
    for (const auto& block : blocks.groups)
        for (const auto& name : block.hosts) {
            auto found = index.find(name);
            if (found == index.end()) found = index.find(short_name(name));
            if (found == index.end()) {
                unknown.push_back(name);
            } else if (placed[found->second]) {
                twice.push_back(name);
            } else {
                placed[found->second] = true;
                fabric.hosts[found->second].domain = block.name;
            }
        }
    for (std::size_t h = 0; h < placed.size(); ++h)
        if (!placed[h] && fabric.hosts[h].unit != none) left.push_back(fabric.hosts[h].name);
    derive(fabric);
    auto notes = blocks.notes;
    if (!twice.empty())
        notes.push_back(fmt::format("in several blocks, of which the first is taken: {}", folded(twice)));
    if (!unknown.empty())
        notes.push_back(fmt::format("in a block, but not in the fabric: {}", folded(unknown)));
    if (!left.empty()) notes.push_back(fmt::format("in no block, and left as before: {}", folded(left)));
    note_torn(fabric, notes);
    return notes;
}

} // namespace topo
