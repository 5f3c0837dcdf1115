#include "topo/meeting.hpp"

#include "topo/derive_parts.hpp"
#include "topo/names.hpp"
#include "topo/sets.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

namespace topo {
namespace {

// The share of a leaf's uplinks that leads, on any upward path, to each switch, by number of steps.
using Share = std::map<int, double>;

class Above {
public:
    explicit Above(const Fabric& fabric) : fabric_(fabric), neighbours_(fabric) {}

    const Share& of(int leaf, int steps) {
        auto& shares = shares_[leaf];
        if (shares.empty()) shares.push_back({{leaf, 1.0}});
        while (shares.size() <= at(steps)) {
            Share next;
            for (const auto& [s, share] : shares.back())
                spread(s, share, next);
            shares.push_back(std::move(next));
        }
        return shares[at(steps)];
    }

private:
    void spread(int s, double share, Share& next) const {
        const auto up = [&](int other) {
            return fabric_.switches[at(other)].tier > fabric_.switches[at(s)].tier;
        };
        std::size_t links = 0;
        neighbours_.each(s, [&](int other) { links += up(other) ? 1 : 0; });
        neighbours_.each(s, [&](int other) {
            if (up(other)) next[other] += share / static_cast<double>(links);
        });
    }

    const Fabric& fabric_;
    Neighbours neighbours_;
    std::map<int, std::vector<Share>> shares_; // leaf → by steps
};

double common(const Share& a, const Share& b) {
    double sum = 0;
    for (const auto& [s, share] : a)
        if (const auto other = b.find(s); other != b.end()) sum += std::min(share, other->second);
    return sum;
}

Meeting meeting_of(const Fabric& fabric, Above& above, int a, int b) {
    if (a == b) return Meeting::leaf;
    for (int steps = 1; steps < fabric.tiers; ++steps)
        if (common(above.of(a, steps), above.of(b, steps)) >= 0.25)
            return steps == 1 ? Meeting::spine : Meeting::core;
    return fabric.switches[at(a)].island == fabric.switches[at(b)].island ? Meeting::detour : Meeting::never;
}

constexpr std::size_t places = 5; // of Meeting

// Where two rails meet in most units; of equals the farthest.
std::vector<std::vector<Meeting>> of_pairs(const Fabric& fabric) {
    Above above(fabric);
    const auto rails = at(fabric.rails);
    std::vector<std::vector<Meeting>> pairs(rails, std::vector<Meeting>(rails, Meeting::never));
    for (std::size_t a = 0; a < rails; ++a)
        for (std::size_t b = a + 1; b < rails; ++b) {
            std::array<std::size_t, places> units{};
            for (const Unit& unit : fabric.units)
                if (unit.leaves[a] != none && unit.leaves[b] != none)
                    ++units[static_cast<std::size_t>(
                        meeting_of(fabric, above, unit.leaves[a], unit.leaves[b]))];
            for (std::size_t p = 0, most = 1; p < places; ++p)
                if (units[p] >= most) {
                    most = units[p];
                    pairs[a][b] = static_cast<Meeting>(p);
                }
        }
    return pairs;
}

// "0-7", "0,2,4,6"
std::string rail_list(const std::vector<int>& rails) {
    std::string text;
    for (std::size_t i = 0; i < rails.size();) {
        std::size_t last = i;
        while (last + 1 < rails.size() && rails[last + 1] == rails[last] + 1)
            ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ",", rails[i]);
        if (last > i) text += fmt::format("{}{}", last > i + 1 ? '-' : ',', rails[last]);
        i = last + 1;
    }
    return text;
}

std::string where(Meeting meeting) {
    switch (meeting) {
    case Meeting::leaf: return "at the leaves";
    case Meeting::spine: return "at the spines";
    case Meeting::core: return "in the core";
    case Meeting::detour: return "only by a detour";
    case Meeting::never: break;
    }
    return "never";
}

} // namespace

std::string_view to_string(Meeting meeting) {
    constexpr std::array<std::string_view, places> names{"leaf", "spine", "core", "detour", "never"};
    return names[static_cast<std::size_t>(meeting)];
}

std::vector<RailsMeeting> rails_meeting(const Fabric& fabric) {
    std::vector<RailsMeeting> meetings;
    if (fabric.rails < 2) return meetings;
    const auto pairs = of_pairs(fabric);
    const auto groups_of = [&](Sets& met) {
        std::map<int, std::vector<int>> groups;
        for (int r = 0; r < fabric.rails; ++r)
            groups[met.find(r)].push_back(r);
        return groups;
    };
    Sets met(at(fabric.rails));
    for (const auto place : {Meeting::leaf, Meeting::spine, Meeting::core, Meeting::detour}) {
        const auto before = groups_of(met);
        for (int a = 0; a < fabric.rails; ++a)
            for (int b = a + 1; b < fabric.rails; ++b)
                if (pairs[at(a)][at(b)] == place) met.join(a, b);
        RailsMeeting here{place, {}};
        for (auto& [first, rails] : groups_of(met))
            if (rails.size() > before.at(first).size()) here.groups.push_back(rails);
        if (!here.groups.empty()) meetings.push_back(std::move(here));
    }
    RailsMeeting apart{Meeting::never, {}};
    for (auto& [first, rails] : groups_of(met))
        apart.groups.push_back(rails);
    if (apart.groups.size() > 1) meetings.push_back(std::move(apart));
    return meetings;
}

std::string rails_meeting_text(const std::vector<RailsMeeting>& meetings) {
    std::string text;
    std::vector<std::string> before;
    for (const auto& meeting : meetings) {
        std::vector<std::string> groups;
        std::vector<int> all;
        for (const auto& rails : meeting.groups) {
            groups.push_back(rail_list(rails));
            all.insert(all.end(), rails.begin(), rails.end());
        }
        std::sort(all.begin(), all.end());
        if (meeting.at != Meeting::never)
            text += fmt::format("{}{}{} {}", text.empty() ? "rails " : ", ", fmt::join(groups, " | "),
                                text.empty() ? " meet" : "", where(meeting.at));
        else if (text.empty())
            text = fmt::format("rails {} never meet", rail_list(all));
        else if (groups == before)
            text += ", those of different groups never";
        else
            text += fmt::format("; {} never meet", fmt::join(groups, " | "));
        before = std::move(groups);
    }
    return text;
}

boost::json::array rails_meeting_json(const std::vector<RailsMeeting>& meetings) {
    boost::json::array list;
    for (const auto& meeting : meetings) {
        boost::json::array groups;
        for (const auto& rails : meeting.groups)
            groups.push_back(boost::json::array(rails.begin(), rails.end()));
        list.push_back(boost::json::object{{"at", to_string(meeting.at)}, {"groups", std::move(groups)}});
    }
    return list;
}

} // namespace topo
