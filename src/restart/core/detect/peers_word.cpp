// What the peers of a silent host report together, and what follows from it.

#include "base/hostlist.hpp"
#include "restart/core/detect/peers.hpp"
#include "restart/core/detect/silence.hpp"

#include <fmt/format.h>

#include <set>

namespace restart {
namespace {

std::string others(const std::vector<std::string>& names) {
    if (names.size() == 1) return names.front();
    return fmt::format("{} other hosts ({})", names.size(), base::fold_hostlist(names));
}

// Several failures to reach it point to the host only if they cannot be due to the peers' own network: the
// peers are in different places, or in the host's.
bool tells_of_host(const StepContext& ctx, const std::string& name, const std::vector<std::string>& names) {
    std::set<std::string> places;
    for (const auto& peer : names)
        places.insert(place_of(ctx.state, ctx.policy, peer));
    const auto own = place_of(ctx.state, ctx.policy, name);
    return places.size() > 1 || places.contains(own);
}

} // namespace

PeerView PeersWord::view() const {
    if (reach.size() >= 2) return PeerView::reached;
    const auto dark = mute.size() + fail.size();
    if (reach.size() == 1) return dark > 0 && awaited == 0 ? PeerView::differ : PeerView::none;
    if (dark < 2 || !apart) return PeerView::none;
    return mute.size() >= 2 ? PeerView::mute : PeerView::unreached;
}

PeersWord peers_word(const StepContext& ctx, const std::string& name, const HostState& host,
                     base::Time since) {
    PeersWord word;
    const auto looks = ctx.state.looks.find(name);
    if (looks == ctx.state.looks.end()) return word;
    const auto heard = heard_from(host);
    const auto again = look_again(ctx.policy, ctx.now - heard);
    const auto oldest = ctx.now - 2 * again - answer_within(ctx.policy);
    std::vector<std::string> dark;
    for (const auto& look : looks->second.peers) {
        const bool alive = lives(look.saw);
        const bool holds =
            look.saw != base::Knocked::unknown && look.from >= oldest && look.from >= (alive ? since : heard);
        if (look.stage == LookStage::compare) ++word.comparing;
        if (!holds) {
            if (look.stage == LookStage::host) ++word.awaited;
        } else if (alive) {
            word.reach.push_back(look.peer);
            if (look.saw == base::Knocked::answers) ++word.answered;
        } else {
            (look.saw == base::Knocked::mute ? word.mute : word.fail).push_back(look.peer);
            dark.push_back(look.peer);
        }
    }
    word.apart = !dark.empty() && tells_of_host(ctx, name, dark);
    return word;
}

bool peers_object(const StepContext& ctx, const std::string& name, const HostState& host, base::Time since,
                  bool kernel) {
    const auto looks = ctx.state.looks.find(name);
    if (looks == ctx.state.looks.end()) return false;
    const auto word = peers_word(ctx, name, host, since);
    const auto reach = kernel ? word.reach.size() : word.answered;
    if (reach >= 2) return true;
    if (reach == 1 && silence_of(ctx, host) < ctx.policy.silent + ctx.policy.witness_wait) return true;
    const auto begun = std::max(since, looks->second.since);
    // Those that reach nothing at all are replaced: time for two rounds.
    return reach + word.awaited + word.comparing >= 2 && ctx.now - begun < 2 * answer_within(ctx.policy);
}

bool peers_awaited(const StepContext& ctx, const std::string& name, const PeersWord& word) {
    const auto looks = ctx.state.looks.find(name);
    return looks != ctx.state.looks.end() && word.reach.size() < 2 &&
           word.awaited + word.comparing + word.mute.size() + word.fail.size() >= 2 && !word.is_whole() &&
           ctx.now - looks->second.since < 2 * answer_within(ctx.policy);
}

std::string describe(const PeersWord& word) {
    const auto verb = [](const std::vector<std::string>& names, const char* one, const char* many) {
        return names.size() == 1 ? one : many;
    };
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (!word.reach.empty())
        add(fmt::format("{} {} it{}", others(word.reach), verb(word.reach, "reaches", "reach"),
                        word.answered == 0 ? ", whose kernel refuses the connection" : ""));
    if (!word.mute.empty())
        add(fmt::format("{} {} its kernel and {} no answer", others(word.mute),
                        verb(word.mute, "reaches", "reach"), verb(word.mute, "gets", "get")));
    if (!word.fail.empty())
        add(fmt::format("{} {} others and not this one", others(word.fail),
                        verb(word.fail, "reaches", "reach")));
    return text;
}

} // namespace restart
