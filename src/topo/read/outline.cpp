#include "topo/read/outline.hpp"

#include "base/hostlist.hpp"
#include "topo/derive.hpp"
#include "topo/names.hpp"
#include "topo/read/raw_fabric.hpp"
#include "topo/read/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::size_t most_below = 200; // of a switch's 254 ports; the rest are uplinks
constexpr int most_ports = 254;

class Builder {
public:
    explicit Builder(const Outline& outline) : outline_(outline) {}

    Expected<Assembly> run() {
        if (auto done = index(); !done) return std::move(done).error();
        if (auto done = find_ring(); !done) return std::move(done).error();
        for (std::size_t g = 0; g < outline_.groups.size(); ++g)
            if (auto done = add_hosts(g); !done) return std::move(done).error();
        for (std::size_t g = 0; g < outline_.groups.size(); ++g)
            for (const auto& below : outline_.groups[g].groups)
                if (auto done = join(switch_of_[by_name_.at(below)], switch_of_[g], outline_.groups[g].line);
                    !done)
                    return std::move(done).error();
        if (outline_.joined)
            if (auto done = join_all(); !done) return std::move(done).error();
        Fabric& fabric = result_.fabric;
        if (fabric.hosts.empty())
            return Error{Code::input, fmt::format("{}: names no host", outline_.source)};
        fabric.source = outline_.source;
        result_.notes = outline_.notes;
        refuse_duplicates();
        result_.notes.push_back(
            fmt::format("{}: tells units but no rails: every host has one HCA here, for want "
                        "of better",
                        outline_.source));
        derive(fabric);
        return std::move(result_);
    }

private:
    Error error(std::uint32_t line, std::string_view what) const {
        return {Code::input, fmt::format("{}:{}: {}", outline_.source, line, what)};
    }

    Expected<void> index() {
        for (std::size_t g = 0; g < outline_.groups.size(); ++g) {
            const auto& group = outline_.groups[g];
            if (group.name.empty() || trimmed_printable(group.name) != group.name)
                return error(group.line, fmt::format("'{}': a name that can be printed is wanted",
                                                     trimmed_printable(group.name)));
            const auto [known, fresh] = by_name_.try_emplace(group.name, g);
            if (!fresh)
                return error(group.line,
                             fmt::format("{} stands in line {} already", trimmed_printable(group.name),
                                         outline_.groups[known->second].line));
            switch_of_.push_back(add_switch(group.name));
        }
        for (const auto& group : outline_.groups) {
            if (!group.hosts.empty() && !group.groups.empty())
                return error(group.line,
                             fmt::format("{} has both hosts and groups", trimmed_printable(group.name)));
            if (group.groups.size() > most_below)
                return error(group.line,
                             fmt::format("{} joins {} groups; {} are the most", trimmed_printable(group.name),
                                         group.groups.size(), most_below));
            std::unordered_set<std::string_view> seen;
            for (const auto& below : group.groups) {
                if (!by_name_.contains(below))
                    return error(group.line, fmt::format("{} is nowhere told", trimmed_printable(below)));
                if (!seen.insert(below).second)
                    return error(group.line, fmt::format("{} stands twice", trimmed_printable(below)));
            }
        }
        return {};
    }

    // Kahn's algorithm: what remains contains a cycle.
    Expected<void> find_ring() const {
        std::vector<std::size_t> above(outline_.groups.size(), 0), ready;
        for (const auto& group : outline_.groups)
            for (const auto& below : group.groups)
                ++above[by_name_.at(below)];
        for (std::size_t g = 0; g < above.size(); ++g)
            if (above[g] == 0) ready.push_back(g);
        std::size_t done = 0;
        for (; done < ready.size(); ++done)
            for (const auto& below : outline_.groups[ready[done]].groups)
                if (--above[by_name_.at(below)] == 0) ready.push_back(by_name_.at(below));
        if (done == above.size()) return {};
        const auto left = static_cast<std::size_t>(
            std::find_if(above.begin(), above.end(), [](std::size_t n) { return n != 0; }) - above.begin());
        return error(outline_.groups[left].line, fmt::format("{} is inside itself, by way of others",
                                                             trimmed_printable(outline_.groups[left].name)));
    }

    int add_switch(std::string_view name) {
        auto& switches = result_.fabric.switches;
        Switch& s = switches.emplace_back();
        s.name = name;
        s.guid = made_guid(Made::group, name);
        while (!guids_.insert(s.guid).second)
            ++s.guid;
        return static_cast<int>(switches.size() - 1);
    }

    Expected<void> add_hosts(std::size_t g) {
        const auto& group = outline_.groups[g];
        std::vector<const std::string*> fresh;
        for (const auto& name : group.hosts) {
            if (hosts_.insert(name).second)
                fresh.push_back(&name);
            else
                twice_.push_back(name);
        }
        if (fresh.size() <= most_below) {
            for (const auto* name : fresh)
                add_host(*name, switch_of_[g]);
            return {};
        }
        std::vector<int> parts;
        for (std::size_t i = 0; i < fresh.size(); ++i) {
            if (i % most_below == 0)
                parts.push_back(add_switch(fmt::format("{}/{}", group.name, parts.size() + 1)));
            add_host(*fresh[i], parts.back());
        }
        return join_below(std::move(parts), switch_of_[g], group.line);
    }

    void add_host(const std::string& name, int leaf) {
        Host& host = result_.fabric.hosts.emplace_back();
        host.name = name;
        Hca& hca = host.hcas.emplace_back();
        hca.rail = 0;
        hca.guid = made_guid(Made::host, name);
        while (!guids_.insert(hca.guid).second)
            ++hca.guid;
        hca.ports.emplace_back();
        Link link;
        link.a = {static_cast<int>(result_.fabric.hosts.size() - 1), 0, none, 1};
        link.b = {none, none, leaf, next_port(leaf)};
        result_.fabric.links.push_back(link);
    }

    std::uint8_t next_port(int s) {
        return static_cast<std::uint8_t>(++result_.fabric.switches[at(s)].ports);
    }

    Expected<void> join(int below, int above, std::uint32_t line) {
        for (const int s : {below, above})
            if (result_.fabric.switches[at(s)].ports >= most_ports)
                return error(line,
                             fmt::format("{} would need more than {} ports",
                                         trimmed_printable(result_.fabric.switches[at(s)].name), most_ports));
        Link link;
        link.a = {none, none, below, next_port(below)};
        link.b = {none, none, above, next_port(above)};
        result_.fabric.links.push_back(link);
        return {};
    }

    // Through intermediate switches, in as many tiers as needed.
    Expected<void> join_below(std::vector<int> below, int above, std::uint32_t line) {
        while (below.size() > most_below) {
            std::vector<int> between;
            for (std::size_t i = 0; i < below.size(); ++i) {
                if (i % most_below == 0) between.push_back(add_switch(fmt::format("joint/{}", ++joints_)));
                if (auto done = join(below[i], between.back(), line); !done) return done;
            }
            below = std::move(between);
        }
        for (const int s : below)
            if (auto done = join(s, above, line); !done) return done;
        return {};
    }

    Expected<void> join_all() {
        std::vector<bool> below(outline_.groups.size(), false);
        for (const auto& group : outline_.groups)
            for (const auto& name : group.groups)
                below[by_name_.at(name)] = true;
        std::vector<int> tops;
        for (std::size_t g = 0; g < below.size(); ++g)
            if (!below[g]) tops.push_back(switch_of_[g]);
        if (tops.size() < 2) return {};
        return join_below(std::move(tops), add_switch("joint"), outline_.groups.front().line);
    }

    void refuse_duplicates() {
        if (twice_.empty()) return;
        std::sort(twice_.begin(), twice_.end(), base::natural_less);
        twice_.erase(std::unique(twice_.begin(), twice_.end()), twice_.end());
        result_.notes.push_back(fmt::format("{}: in several groups, of which the first is taken: {}",
                                            outline_.source, base::fold_hostlist(twice_)));
    }

    const Outline& outline_;
    Assembly result_;
    std::unordered_map<std::string, std::size_t> by_name_;
    std::vector<int> switch_of_; // by group
    std::unordered_set<Guid> guids_;
    std::unordered_set<std::string> hosts_;
    std::vector<std::string> twice_;
    int joints_ = 0;
};

} // namespace

Expected<Assembly> assemble(const Outline& outline) {
    return Builder(outline).run();
}

bool is_outline(const Fabric& fabric) {
    return std::any_of(fabric.hosts.begin(), fabric.hosts.end(), [](const Host& host) {
        return std::any_of(host.hcas.begin(), host.hcas.end(),
                           [](const Hca& hca) { return is_made(hca.guid, Made::host); });
    });
}

} // namespace topo
