#include "check/gang_search.hpp"

#include "check/net/tournament.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace check {
namespace {

using Members = std::vector<std::size_t>;
constexpr std::size_t pairs_a_member = 4;

class Search {
public:
    Search(const GangPlan& plan, const RunGang& run) : plan_(plan), run_(run) {}

    GangVerdict find() {
        if (plan_.members < 2) return verdict_;
        Members all(plan_.members);
        std::iota(all.begin(), all.end(), std::size_t{0});
        if (is_fast(all)) return verdict_;
        narrow(all);
        if (!sound_) seek_sound();
        // Members that were isolated before any fast group was known.
        for (const auto member : std::exchange(undecided_, {}))
            decide(member);
        // Test again: a temporary load is not the member's fault.
        std::erase_if(verdict_.slow, [&](std::size_t member) { return is_fast(beside_sound(member)); });
        if (!sound_) {
            verdict_.all = true;
            rails_of_all(all);
        } else if (verdict_.slow.empty()) {
            if (is_fast(all)) return verdict_;
            rails_of_all(all);
            verdict_.together = verdict_.rails.empty();
        }
        std::sort(verdict_.slow.begin(), verdict_.slow.end());
        for (const auto member : verdict_.slow)
            rails_of(member);
        return verdict_;
    }

private:
    bool is_fast(const Members& members, std::optional<int> rail = {}) {
        ++verdict_.runs;
        const auto reached = run_({members, rail});
        if (!reached) verdict_.error = reached.error().text;
        const bool fast = reached && *reached >= (rail ? plan_.least_rail : plan_.least);
        if (fast && !rail && !sound_) sound_ = members.front();
        return fast;
    }

    // `slow`: members that are slow together.
    void narrow(const Members& slow) {
        if (slow.size() == 1) return decide(slow.front());
        const auto middle = slow.begin() + static_cast<std::ptrdiff_t>(slow.size() / 2);
        const Members first(slow.begin(), middle), second(middle, slow.end());
        // Two single members are decided one at a time, each with a fast one.
        if (slow.size() == 2) {
            decide(slow[0]);
            return decide(slow[1]);
        }
        const bool first_fast = first.size() > 1 && is_fast(first);
        if (!first_fast) narrow(first);
        // If the first half is fast, the fault is in the second half, which needs no run.
        if (first_fast || second.size() == 1 || !is_fast(second)) narrow(second);
    }

    // Every part had a slow member: looks for a fast pair among all, within a limit.
    void seek_sound() {
        auto left = pairs_a_member * undecided_.size();
        const net::Tournament tournament(static_cast<std::uint32_t>(undecided_.size()));
        for (std::uint32_t round = 0; round < tournament.rounds(); ++round)
            for (const auto& [a, b] : tournament.pairs(round)) {
                if (sound_ || left-- == 0) return;
                is_fast({undecided_[a], undecided_[b]});
            }
    }

    Members beside_sound(std::size_t member) const {
        return {std::min(member, *sound_), std::max(member, *sound_)};
    }

    // Whether the member is slow with one that is fast.
    void decide(std::size_t member) {
        if (!sound_) {
            undecided_.push_back(member);
            return;
        }
        if (member != *sound_ && !is_fast(beside_sound(member))) verdict_.slow.push_back(member);
    }

    void rails_of_all(const Members& all) {
        for (int rail = 0; rail < plan_.rails; ++rail)
            if (!is_fast(all, rail)) verdict_.rails.push_back(rail);
        // That all rails are slow says no more than that none is.
        if (static_cast<int>(verdict_.rails.size()) == plan_.rails) verdict_.rails.clear();
    }

    void rails_of(std::size_t member) {
        std::vector<int> slow;
        for (int rail = 0; rail < plan_.rails; ++rail)
            if (!is_fast(beside_sound(member), rail)) slow.push_back(rail);
        if (!slow.empty() && static_cast<int>(slow.size()) < plan_.rails)
            verdict_.rails_of[member] = std::move(slow);
    }

    const GangPlan& plan_;
    const RunGang& run_;
    GangVerdict verdict_;
    std::optional<std::size_t> sound_; // a member of a group that was fast
    Members undecided_;
};

} // namespace

GangVerdict find_slow(const GangPlan& plan, const RunGang& run) {
    return Search(plan, run).find();
}

} // namespace check
