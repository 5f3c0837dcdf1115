// Which hosts are looked at, by whom, and the questions and answers.

#include "restart/core/detect/peers.hpp"

#include "restart/core/detect/silence.hpp"
#include "restart/core/facts/host_use.hpp"
#include "restart/core/facts/peer_hash.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace restart {
namespace {

using base::Knocked;

// By an agent: twice its limit for one look (a connection that is accepted and not answered takes that long),
// and a margin.
constexpr base::Duration look_takes{2'500};

base::Duration late_after(const Policy& policy) {
    return std::max(policy.silent / 2, policy.report_interval * 3 / 2);
}

std::optional<LookRequest> door_of(const State& state, std::string_view name) {
    const auto host = state.hosts.find(name);
    if (host == state.hosts.end() || !host->second.node) return {};
    LookRequest door{0, host->first, host->second.node->address, host->second.node->port};
    return check(door) ? std::optional(std::move(door)) : std::nullopt;
}

// Heard within that time, and neither away nor suspected: what it sees can be used.
bool is_sound(const StepContext& ctx, const std::string& name, const HostState& host, base::Duration within) {
    return host.last_report && ctx.now - *host.last_report < within && !host.lost && host.node &&
           !host.node->away && !host.node->down && !has_departed(host) && ctx.now >= host.together_until &&
           !ctx.state.looks.contains(name);
}

bool is_to_be_looked_at(const StepContext& ctx, const std::string& name, const HostState& host) {
    return host.last_report && !host.lost && host.node && silence_of(ctx, host) >= late_after(ctx.policy) &&
           !host.node->away && !host.node->down && !has_departed(host) && !quiet_for_repair(host) &&
           !dark_since_report(ctx, host) && !in_maintenance(ctx.state, name, host) &&
           door_of(ctx.state, name);
}

// Those that were heard last come first: for a host that has been silent for days nothing depends on peers.
std::vector<std::string> hosts_to_look_at(const StepContext& ctx) {
    std::vector<const std::string*> silent;
    for (const auto& [name, host] : ctx.state.hosts)
        if (is_to_be_looked_at(ctx, name, host)) silent.push_back(&name);
    const auto rank = [&](const std::string* name) {
        return std::tuple(-ctx.state.hosts.at(*name).last_report->time_since_epoch().count(),
                          spread(*name, {}));
    };
    if (silent.size() > most_looked_at)
        std::partial_sort(silent.begin(), silent.begin() + most_looked_at, silent.end(),
                          [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(silent.size(), most_looked_at); ++i)
        names.push_back(*silent[i]);
    std::sort(names.begin(), names.end());
    return names;
}

// Who may be asked, and whom to compare with. Computed when first needed.
class Sound {
public:
    explicit Sound(const StepContext& ctx) : ctx_(ctx) {}

    // The one with the least rank(place), by chance among equals; null: none.
    template <class Allowed, class Rank>
    const std::string* pick(std::string_view host, Allowed allowed, Rank rank) {
        if (!found_) find();
        const Member* best = nullptr;
        std::tuple<int, std::uint64_t> least;
        for (const auto& member : members_) {
            if (*member.name == host || !allowed(*member.name, *member.host)) continue;
            const std::tuple of{rank(member.place), spread(host, *member.name)};
            if (best == nullptr || of < least) best = &member, least = of;
        }
        return best == nullptr ? nullptr : best->name;
    }

private:
    struct Member {
        const std::string* name;
        const HostState* host;
        std::string place;
    };
    void find() {
        for (const auto& [name, host] : ctx_.state.hosts)
            if (is_sound(ctx_, name, host, late_after(ctx_.policy)))
                members_.push_back({&name, &host, place_of(ctx_.state, ctx_.policy, name)});
        found_ = true;
    }
    const StepContext& ctx_;
    std::vector<Member> members_;
    bool found_ = false;
};

bool sees_nothing(const PeerLook& look) {
    return look.stage == LookStage::over && look.number != 0 && look.saw == Knocked::unknown;
}

class Asking {
public:
    Asking(StepContext& ctx, Sound& sound, const std::string& name, PeerLooks& looks)
        : ctx_(ctx), sound_(sound), name_(name), host_(ctx.state.hosts.at(name)), looks_(looks),
          own_(place_of(ctx.state, ctx.policy, name)) {}

    void go_on() {
        std::erase_if(looks_.peers, [&](const PeerLook& look) {
            const auto peer = ctx_.state.hosts.find(look.peer);
            return peer == ctx_.state.hosts.end() || !peer->second.looks ||
                   !is_sound(ctx_, look.peer, peer->second, ctx_.policy.silent);
        });
        for (auto& look : looks_.peers)
            if (look.stage != LookStage::over && ctx_.now - look.asked >= answer_within(ctx_.policy)) {
                look.stage = LookStage::over;
                look.saw = Knocked::unknown;
            }
        choose();
        for (auto& look : looks_.peers) {
            if (is_due(look)) ask(look);
            if (look.stage == LookStage::compare && look.compared.empty()) compare(look);
        }
    }

private:
    void choose() {
        const auto word = peers_word(ctx_, name_, host_);
        const bool differ = word.view() == PeerView::differ;
        auto useful =
            static_cast<std::size_t>(std::count_if(looks_.peers.begin(), looks_.peers.end(),
                                                   [](const PeerLook& look) { return !sees_nothing(look); }));
        const auto beside = differ ? place_of(ctx_.state, ctx_.policy, word.reach.front()) : std::string();
        for (; useful < most_peers + (differ ? 1 : 0) && looks_.peers.size() < most_asked; ++useful) {
            const auto* peer = sound_.pick(
                name_,
                [&](const std::string& name, const HostState& host) { return host.looks && !asks(name); },
                [&](const std::string& place) {
                    if (differ) return place == beside ? 0 : 1;
                    if (!own_.empty() && !stands_in(own_)) return place == own_ ? 0 : 1;
                    return place != own_ && !stands_in(place) ? 0 : 1;
                });
            if (peer == nullptr) return;
            looks_.peers.emplace_back().peer = *peer;
        }
    }
    bool asks(const std::string& name) const {
        return std::any_of(looks_.peers.begin(), looks_.peers.end(),
                           [&](const PeerLook& look) { return look.peer == name; });
    }
    bool stands_in(const std::string& place) const {
        return std::any_of(looks_.peers.begin(), looks_.peers.end(), [&](const PeerLook& look) {
            return place_of(ctx_.state, ctx_.policy, look.peer) == place;
        });
    }

    // At once if what the peer saw is older than a sign of the host's loss.
    bool is_due(const PeerLook& look) const {
        if (look.number == 0) return true;
        if (look.stage != LookStage::over) return false;
        const auto sign = std::max(host_.unresponsive_since.value_or(base::Time{}),
                                   host_.mute_since.value_or(base::Time{}));
        return (lives(look.saw) && look.from < sign) ||
               ctx_.now - look.asked >= look_again(ctx_.policy, ctx_.now - heard_from(host_));
    }
    void ask(PeerLook& look) {
        if (looks_.since == base::Time{}) looks_.since = ctx_.now;
        look.number = ctx_.state.next_look++;
        look.asked = ctx_.now;
        look.stage = LookStage::host;
        look.compared.clear();
    }
    // Best with a neighbour of the silent host, behind the same part of the network.
    void compare(PeerLook& look) {
        const auto* with = sound_.pick(
            look.peer,
            [&](const std::string& name, const HostState&) {
                return name != name_ && door_of(ctx_.state, name);
            },
            [&](const std::string& place) { return place == own_ ? 0 : 1; });
        if (with != nullptr) {
            look.compared = *with;
            return;
        }
        look.stage = LookStage::over;
        look.saw = Knocked::unknown;
    }

    StepContext& ctx_;
    Sound& sound_;
    const std::string& name_;
    const HostState& host_;
    PeerLooks& looks_;
    std::string own_;
};

// Whether the answer is to this question.
bool take_sight(const std::string& name, PeerLook& look, const Sight& sight) {
    const auto& asked = look.stage == LookStage::compare ? look.compared : name;
    if (look.stage == LookStage::over || look.number != sight.number || asked != sight.host) return false;
    if (look.stage == LookStage::host && sight.saw == Knocked::unreached) {
        look.stage = LookStage::compare;
        return true;
    }
    const bool nothing = sight.saw == Knocked::unknown || sight.saw == Knocked::unreached;
    look.saw = look.stage == LookStage::host ? sight.saw : nothing ? Knocked::unknown : Knocked::unreached;
    look.from = look.asked;
    look.stage = LookStage::over;
    return true;
}

} // namespace

base::Duration answer_within(const Policy& policy) {
    return 2 * policy.report_interval + look_takes;
}

base::Duration look_again(const Policy& policy, base::Duration quiet) {
    return std::max(2 * policy.silent, quiet / 8);
}

std::string place_of(const State& state, const Policy& policy, std::string_view name) {
    if (const auto rack = policy.racks.find(name); rack != policy.racks.end()) return "rack " + rack->second;
    const auto host = state.hosts.find(name);
    if (host == state.hosts.end()) return {};
    if (!host->second.unit.empty()) return "unit " + host->second.unit;
    return host->second.leaves.empty() ? std::string() : "leaf " + host->second.leaves.front();
}

void renew_looks(StepContext& ctx) {
    for (auto& [name, looks] : ctx.state.looks) {
        looks.since = {};
        std::erase_if(looks.peers, [&](const PeerLook& look) { return look.asked > ctx.now; });
    }
}

void ask_peers(StepContext& ctx) {
    const auto names = hosts_to_look_at(ctx);
    auto& looks = ctx.state.looks;
    std::erase_if(looks, [&](const auto& entry) {
        return !std::binary_search(names.begin(), names.end(), entry.first);
    });
    for (const auto& name : names)
        looks.try_emplace(name);
    Sound sound(ctx);
    for (auto& [name, of] : looks)
        Asking(ctx, sound, name, of).go_on();
}

bool take_sights(StepContext& ctx, const Report& report) {
    bool any = false;
    for (const auto& sight : report.sights)
        for (auto& [name, looks] : ctx.state.looks)
            for (auto& look : looks.peers)
                if (look.peer == report.host) any = take_sight(name, look, sight) || any;
    return any;
}

std::vector<LookRequest> looks_for(const State& state, std::string_view peer) {
    std::vector<LookRequest> requests;
    for (const auto& [name, looks] : state.looks)
        for (const auto& look : looks.peers) {
            if (look.peer != peer || look.stage == LookStage::over || requests.size() == most_looks) continue;
            auto request = door_of(state, look.stage == LookStage::compare ? look.compared : name);
            if (!request) continue;
            request->number = look.number;
            requests.push_back(*std::move(request));
        }
    return requests;
}

} // namespace restart
