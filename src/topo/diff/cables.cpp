#include "topo/diff/cables.hpp"

#include "topo/names.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace topo::drift {
namespace {

class Comparison {
public:
    Comparison(const Fabric& before, const Fabric& after, const Match& match)
        : before_(before), after_(after), match_(match), ports_(before, after, match) {}

    Cables run() && {
        collect();
        for (const auto& [port, held] : order_)
            if (const bool one_cable = (held->old == none) != (held->now == none); one_cable)
                walk(port, *held);
        for (const auto& [port, held] : order_) // the rest has two cables at each port
            walk(port, *held);
        return std::move(cables_);
    }

private:
    struct Held { // the cables at a port that are not in both fabrics
        int old = none, now = none;
    };
    struct Step { // a cable of a chain, and the port through which the chain continues
        bool is_old = false;
        int link = none;
        std::uint64_t next = 0;
    };

    void collect() {
        std::unordered_map<std::uint64_t, int> old_at;
        old_at.reserve(before_.links.size() * 2);
        for (int l = 0; at(l) < before_.links.size(); ++l) {
            old_at.emplace(ports_.before(before_.links[at(l)].a), l);
            old_at.emplace(ports_.before(before_.links[at(l)].b), l);
        }
        std::vector<char> kept(before_.links.size(), 0);
        std::vector<int> fresh;
        for (int l = 0; at(l) < after_.links.size(); ++l) {
            const Link& link = after_.links[at(l)];
            const auto a = old_at.find(ports_.after(link.a)), b = old_at.find(ports_.after(link.b));
            if (a != old_at.end() && b != old_at.end() && a->second == b->second &&
                kept[at(a->second)] == 0) {
                kept[at(a->second)] = 1;
                cables_.same.emplace_back(a->second, l);
            } else {
                fresh.push_back(l);
            }
        }
        for (int l = 0; at(l) < before_.links.size(); ++l)
            if (kept[at(l)] == 0)
                for (const End* end : {&before_.links[at(l)].a, &before_.links[at(l)].b})
                    held_[ports_.before(*end)].old = l;
        for (const int l : fresh)
            for (const End* end : {&after_.links[at(l)].a, &after_.links[at(l)].b})
                held_[ports_.after(*end)].now = l;
        done_old_.assign(before_.links.size(), 0);
        done_new_.assign(after_.links.size(), 0);
        for (auto& [port, held] : held_)
            order_.emplace_back(port, &held);
        std::sort(order_.begin(), order_.end());
    }

    std::uint64_t other_port(bool is_old, int link, std::uint64_t port) const {
        const Link& known = (is_old ? before_ : after_).links[at(link)];
        const auto number = [&](const End& end) { return is_old ? ports_.before(end) : ports_.after(end); };
        return number(known.a) == port ? number(known.b) : number(known.a);
    }

    // From this port along the cables not visited yet.
    void walk(std::uint64_t start, const Held& held) {
        std::vector<Step> steps;
        const auto walked = [&](bool is_old, int link) -> char& {
            return is_old ? done_old_[at(link)] : done_new_[at(link)];
        };
        bool is_old = held.old != none && done_old_[at(held.old)] == 0;
        auto port = start;
        while (true) {
            const Held& here = held_.at(port);
            const int link = is_old ? here.old : here.now;
            if (link == none || walked(is_old, link) != 0) break;
            walked(is_old, link) = 1;
            port = other_port(is_old, link, port);
            steps.push_back({is_old, link, port});
            is_old = !is_old;
        }
        if (steps.empty()) return;
        if (port == start && steps.size() > 2)
            ring(start, steps);
        else
            chain(start, steps);
    }

    End end_at(bool is_old, int link, std::uint64_t port) const {
        const Link& known = (is_old ? before_ : after_).links[at(link)];
        return (is_old ? ports_.before(known.a) : ports_.after(known.a)) == port ? known.a : known.b;
    }

    Move move(const Step& one, const Step& other, std::uint64_t shared) const {
        const Step& old = one.is_old ? one : other;
        const Step& now = one.is_old ? other : one;
        return {old.link, now.link, end_at(false, now.link, shared),
                end_at(true, old.link, other_port(true, old.link, shared)),
                end_at(false, now.link, other_port(false, now.link, shared))};
    }

    // A ring seen from its ends at hosts, if there are any, or else at the lower switches.
    void ring(std::uint64_t start, std::vector<Step>& steps) {
        std::vector<std::uint64_t> ports{start}; // ports[i] is before steps[i]
        for (const Step& step : steps)
            ports.push_back(step.next);
        ports.pop_back();
        const auto rank = [&](std::size_t offset) {
            int sum = 0;
            for (auto i = offset; i < ports.size(); i += 2) {
                const End end = end_at(steps[i].is_old, steps[i].link, ports[i]);
                const Fabric& fabric = steps[i].is_old ? before_ : after_;
                sum += end.host != none ? -1 : std::max(0, fabric.switches[at(end.switch_)].tier);
            }
            return sum;
        };
        const std::size_t offset = rank(1) < rank(0) ? 1 : 0;
        std::vector<Move> moves;
        const auto size = steps.size();
        for (std::size_t i = offset; i < size; i += 2)
            moves.push_back(move(steps[(i + size - 1) % size], steps[i], ports[i]));
        // Each cable moves to the place of the next one, whichever way the ring was walked.
        if (moves.size() > 2 && !(ports_.before(moves[1].from) == ports_.after(moves[0].to)))
            std::reverse(moves.begin() + 1, moves.end());
        cables_.rings.push_back(std::move(moves));
    }

    bool came_or_went(const Step& step) const {
        const Link& link = (step.is_old ? before_ : after_).links[at(step.link)];
        const auto lacks = [&](const End& end) {
            if (end.switch_ != none)
                return (step.is_old ? match_.switch_after : match_.switch_before)[at(end.switch_)] == none;
            return (step.is_old ? match_.hca_after : match_.hca_before)[at(end.host)][at(end.hca)].host ==
                   none;
        };
        return lacks(link.a) || lacks(link.b);
    }

    // Pairs old and new cables so that the report is shortest: a pair is one change, and so is an unpaired
    // cable unless it came or went with its device. Pairs at an HCA are preferred to those at a switch port.
    void chain(std::uint64_t start, const std::vector<Step>& steps) {
        constexpr int reported = 10, at_host = -1, at_switch = 1;
        const auto shared = [&](std::size_t i) { return i == 0 ? start : steps[i - 1].next; };
        const auto alone = [&](std::size_t i) { return came_or_went(steps[i]) ? 0 : reported; };
        const auto paired = [&](std::size_t i) { // with the previous one
            if (came_or_went(steps[i]) && came_or_went(steps[i - 1])) return 0;
            const End end = end_at(steps[i].is_old, steps[i].link, shared(i));
            return reported + (end.host != none ? at_host : at_switch);
        };
        std::vector<int> cost(steps.size() + 1, 0);
        std::vector<char> pair(steps.size() + 1, 0);
        for (std::size_t i = 1; i <= steps.size(); ++i) {
            cost[i] = cost[i - 1] + alone(i - 1);
            if (i >= 2 && cost[i - 2] + paired(i - 1) < cost[i]) {
                cost[i] = cost[i - 2] + paired(i - 1);
                pair[i] = 1;
            }
        }
        for (auto i = steps.size(); i > 0;) {
            const Step& step = steps[i - 1];
            if (pair[i] != 0) {
                if (paired(i - 1) > 0) cables_.moves.push_back(move(steps[i - 2], step, shared(i - 1)));
                i -= 2;
                continue;
            }
            if (alone(i - 1) > 0) (step.is_old ? cables_.gone : cables_.fresh).push_back(step.link);
            --i;
        }
    }

    const Fabric& before_;
    const Fabric& after_;
    const Match& match_;
    Ports ports_;
    std::unordered_map<std::uint64_t, Held> held_;
    std::vector<std::pair<std::uint64_t, const Held*>> order_;
    std::vector<char> done_old_, done_new_;
    Cables cables_;
};

} // namespace

Cables compare_cables(const Fabric& before, const Fabric& after, const Match& match) {
    return Comparison(before, after, match).run();
}

} // namespace topo::drift
