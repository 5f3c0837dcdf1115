#include "topo/draw/marks.hpp"

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "topo/guid.hpp"
#include "topo/names.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

namespace topo::draw {
namespace {

void add(Mark& mark, Severity severity, std::size_t finding) {
    mark.severity = mark.findings.empty() ? severity : std::min(mark.severity, severity);
    if (mark.findings.empty() || mark.findings.back() != finding) mark.findings.push_back(finding);
}

// Finds ends by name. Things with the same name are all found, unless a GUID follows it.
class Finder {
public:
    explicit Finder(const Fabric& fabric) : fabric_(fabric) {
        for (std::size_t s = 0; s < fabric.switches.size(); ++s) {
            switches_[fabric.switches[s].name].push_back(s);
            if (fabric.switches[s].namesake)
                switches_[switch_name(fabric, static_cast<int>(s))].push_back(s); // with its GUID
        }
        for (std::size_t l = 0; l < fabric.links.size(); ++l)
            for (const End* end : {&fabric.links[l].a, &fabric.links[l].b})
                if (end->switch_ != none) ports_[{end->switch_, end->port}] = l;
    }

    void mark(Marks& marks, const std::string& end, Severity severity, std::size_t finding) const {
        const auto slash = end.rfind('/');
        const auto port = slash == std::string::npos
                              ? base::Expected<std::uint64_t>(0)
                              : base::parse_count(std::string_view(end).substr(slash + 1));
        const bool has_port = slash != std::string::npos && port && *port <= 255;
        const auto name = has_port ? end.substr(0, slash) : end;
        if (mark_switch(marks, name, has_port, has_port ? static_cast<int>(*port) : 0, severity, finding))
            return;
        if (mark_hca(marks, name, has_port ? static_cast<int>(*port) : none, severity, finding)) return;
        if (const auto hosts = base::expand_hostlist(name))
            for (const auto& host : *hosts)
                if (const auto index = fabric_.find_host(host)) add(marks.hosts[*index], severity, finding);
    }

private:
    bool mark_switch(Marks& marks, const std::string& name, bool has_port, int port, Severity severity,
                     std::size_t finding) const {
        const auto found = switches_.find(name);
        if (found == switches_.end()) return false;
        for (const auto s : found->second) {
            const auto link = ports_.find({static_cast<int>(s), port});
            if (has_port && link != ports_.end())
                add(marks.links[link->second], severity, finding);
            else
                add(marks.switches[s], severity, finding);
        }
        return true;
    }

    // "n002 mlx5_1", or "n002" alone for an HCA without a device name; "n002 mlx5_1 (0x946dae0000020020)".
    bool mark_hca(Marks& marks, std::string name, int port, Severity severity, std::size_t finding) const {
        std::optional<Guid> guid;
        if (const auto bracket = name.rfind(" ("); bracket != std::string::npos && name.back() == ')') {
            guid = parse_guid(std::string_view(name).substr(bracket + 2, name.size() - bracket - 3));
            if (guid) name.resize(bracket);
        }
        const auto blank = name.rfind(' ');
        if (blank == std::string::npos && port == none) return false;
        const auto host = fabric_.find_host(name.substr(0, blank));
        if (!host) return false;
        const auto device = blank == std::string::npos ? std::string() : name.substr(blank + 1);
        bool marked = false;
        const auto& hcas = fabric_.hosts[*host].hcas;
        for (std::uint32_t i = 0; i < hcas.size(); ++i) {
            if (hcas[i].device != device || (guid && hcas[i].guid != *guid)) continue;
            marked = true;
            bool linked = false;
            for (const auto& p : hcas[i].ports) {
                if (p.link == none || (port != none && p.number != port)) continue;
                add(marks.links[at(p.link)], severity, finding);
                linked = true;
            }
            if (!linked) add(marks.hcas[{*host, i}], severity, finding);
        }
        if (!marked) add(marks.hosts[*host], severity, finding);
        return true;
    }

    const Fabric& fabric_;
    std::unordered_map<std::string, std::vector<std::size_t>> switches_;
    std::map<std::pair<int, int>, std::size_t> ports_;
};

void merge(std::optional<Mark>& into, const Mark& more) {
    if (!into) {
        into = more;
        return;
    }
    into->severity = std::min(into->severity, more.severity);
    into->findings.insert(into->findings.end(), more.findings.begin(), more.findings.end());
}

void tidy(std::optional<Mark>& mark) {
    if (!mark) return;
    auto& list = mark->findings;
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

} // namespace

const Mark* Marks::of_link(int link) const {
    const auto found = link == none ? links.end() : links.find(at(link));
    return found == links.end() ? nullptr : &found->second;
}

const Mark* Marks::of_hca(std::uint32_t host, std::uint32_t hca) const {
    const auto found = hcas.find({host, hca});
    return found == hcas.end() ? nullptr : &found->second;
}

Marks place_marks(const Fabric& fabric, const std::vector<Finding>& findings) {
    Marks marks;
    if (findings.empty()) return marks;
    const Finder finder(fabric);
    for (std::size_t f = 0; f < findings.size(); ++f) {
        if (findings[f].severity == Severity::info) continue;
        for (const auto& end : findings[f].ends)
            finder.mark(marks, end, findings[f].severity, f);
    }
    return marks;
}

std::optional<Mark> mark_of_host(const Fabric& fabric, const Marks& marks, std::uint32_t host) {
    std::optional<Mark> mark;
    if (const auto own = marks.hosts.find(host); own != marks.hosts.end()) merge(mark, own->second);
    const auto& hcas = fabric.hosts[host].hcas;
    for (std::uint32_t i = 0; i < hcas.size(); ++i) {
        if (const auto* hca = marks.of_hca(host, i)) merge(mark, *hca);
        for (const auto& port : hcas[i].ports)
            if (const auto* link = marks.of_link(port.link)) merge(mark, *link);
    }
    tidy(mark);
    return mark;
}

std::map<std::size_t, Mark> marks_of_switches(const Fabric& fabric, const Marks& marks) {
    std::map<std::size_t, std::optional<Mark>> gathered;
    for (const auto& [s, mark] : marks.switches)
        merge(gathered[s], mark);
    for (const auto& [l, mark] : marks.links) {
        const Link& link = fabric.links[l];
        if (link.a.switch_ == none || link.b.switch_ == none) continue; // shown at the host
        merge(gathered[at(link.a.switch_)], mark);
        merge(gathered[at(link.b.switch_)], mark);
    }
    std::map<std::size_t, Mark> out;
    for (auto& [s, mark] : gathered) {
        tidy(mark);
        out.emplace(s, *std::move(mark));
    }
    return out;
}

} // namespace topo::draw
