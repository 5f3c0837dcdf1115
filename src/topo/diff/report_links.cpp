// States and rates of remaining cables; by whole hosts and switches if all of their cables changed.
#include "topo/diff/report.hpp"

#include "topo/fabric_json.hpp"
#include "topo/names.hpp"
#include "topo/rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace topo::drift {
namespace {

// How a link changed; equal changes can be reported together.
struct How {
    std::string code, text; // "link.slow", "4xHDR instead of 4xNDR"
    auto operator<=>(const How&) const = default;
};

// Nothing if it is unknown in one of the two.
How compare(const Link& old, const Link& now) {
    if (old.state != now.state && old.state != LinkState::unknown && now.state != LinkState::unknown) {
        const auto text = fmt::format("{} instead of {}", to_string(now.state), to_string(old.state));
        if (now.state == LinkState::down) return {"link.down", text};
        return {old.state == LinkState::down ? "link.up" : "link.state", text};
    }
    const auto text = fmt::format("{} instead of {}", format_rate({now.width, now.mbps}),
                                  format_rate({old.width, old.mbps}));
    if (old.width != now.width && old.width != 0 && now.width != 0)
        return {now.width < old.width ? "link.narrow" : "link.wide", text};
    if (old.mbps != now.mbps && old.mbps != 0 && now.mbps != 0)
        return {now.mbps < old.mbps ? "link.slow" : "link.fast", text};
    return {};
}

class LinkReporter {
public:
    LinkReporter(const Report& report, const Cables& cables) : report_(report) {
        for (const auto& [old, now] : cables.same)
            add(old, now);
        for (const Move& move : cables.moves)
            add(move.old_link, move.new_link);
        for (const auto& ring : cables.rings)
            for (const Move& move : ring)
                add(move.old_link, move.new_link);
    }

    void report_all() {
        for (auto& [how, links] : changed_) {
            std::sort(links.begin(), links.end());
            if (links.size() > 3 && links.size() == compared_) {
                report_.add(how.code, {fmt::format("{} links", links.size())},
                            fmt::format("all {} links: {}", links.size(), how.text));
                continue;
            }
            switches(how, links);
            hosts(how, links);
            for (const int l : links) {
                const Link& link = report_.after.links[at(l)];
                const auto a = end_name(report_.after, link.a), b = end_name(report_.after, link.b);
                report_.add(how.code, {a, b}, fmt::format("the link {} - {}: {}", a, b, how.text));
            }
        }
    }

private:
    void add(int old, int now) {
        ++compared_;
        const Link& link = report_.after.links[at(now)];
        for (const End* end : {&link.a, &link.b})
            ++(end->host != none ? of_host_[end->host] : of_switch_[end->switch_]);
        if (auto how = compare(report_.before.links[at(old)], link); !how.code.empty())
            changed_[std::move(how)].push_back(now);
    }

    // Things of which at least `least` links changed in the same way and none did not; their links are
    // removed.
    template <class Of, class Add>
    void whole(std::vector<int>& links, const std::map<int, std::size_t>& all, std::size_t least, Of of,
               Add add_whole) {
        std::map<int, std::vector<int>> found;
        for (const int l : links)
            for (const End* end : {&report_.after.links[at(l)].a, &report_.after.links[at(l)].b})
                if (const int thing = of(*end); thing != none) found[thing].push_back(l);
        std::vector<char> reported(report_.after.links.size(), 0);
        for (const auto& [thing, its] : found) {
            if (its.size() < least || its.size() != all.at(thing)) continue;
            // A switch whose links are all reported already, at their other ends.
            if (std::all_of(its.begin(), its.end(), [&](int l) { return reported[at(l)] != 0; })) continue;
            add_whole(thing, its.size());
            for (const int l : its)
                reported[at(l)] = 1;
        }
        std::erase_if(links, [&](int l) { return reported[at(l)] != 0; });
    }

    void switches(const How& how, std::vector<int>& links) {
        whole(
            links, of_switch_, 3, [](const End& end) { return end.switch_; },
            [&](int s, std::size_t count) {
                const auto name = switch_name(report_.after, s);
                report_.add(how.code, {name}, fmt::format("all {} links of {}: {}", count, name, how.text));
            });
    }
    void hosts(const How& how, std::vector<int>& links) {
        whole(
            links, of_host_, 2, [](const End& end) { return end.host; },
            [&](int h, std::size_t count) {
                const auto& name = report_.after.hosts[at(h)].name;
                report_.add(how.code, {name}, fmt::format("all {} links of {}: {}", count, name, how.text));
            });
    }

    const Report& report_;
    std::size_t compared_ = 0;
    std::map<int, std::size_t> of_host_, of_switch_; // links that are in both fabrics
    std::map<How, std::vector<int>> changed_;        // links of `after`
};

} // namespace

void report_links(const Report& report, const Cables& cables) {
    LinkReporter(report, cables).report_all();
}

} // namespace topo::drift
