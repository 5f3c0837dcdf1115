// Counted from the smallest unit taken, the pivot: both leaving out a larger unit and taking a smaller one
// instead reduce the hosts, and the segments by zero or more. A row holds the fewest segments lost, by the
// reduction in hosts; row r of a layer: r units have been left out and not yet replaced. There is a layer
// before the first unit and one after each.
#include "sched/search/tighten.hpp"

#include "sched/search/cover.hpp"

#include <algorithm>
#include <limits>

namespace sched {
namespace {

class Exchange {
public:
    // `units`: in covering_order(), the first `count` of which are taken.
    Exchange(const Loads& loads, const std::vector<std::uint32_t>& units, std::size_t count,
             std::size_t swaps)
        : loads_(loads), segment_(loads.request().segment), pivot_(loads.unit(units[count - 1]).candidates) {
        const auto& request = loads.request();
        std::size_t segments = 0, hosts = 0, forced = 0;
        for (std::size_t i = 0; i < count; ++i) {
            segments += loads.unit(units[i]).candidates / segment_;
            hosts += loads.unit(units[i]).candidates;
            forced += loads.unit(units[i]).required > 0 ? 1 : 0;
        }
        left_ = hosts - request.nodes;
        spare_segments_ = segments - (request.nodes - request.spares) / segment_;
        if (forced == count || left_ == 0) return;
        for (auto i = count; i-- > forced;)
            add(units[i], true, swaps);
        const auto out = items_.size();
        for (auto i = count; i < units.size(); ++i)
            if (may_come(loads.unit(units[i]))) add(units[i], false, swaps);
        rows_ = std::min({swaps, out, items_.size() - out}) + 1;
    }

    std::size_t work() const { return rows_ == 1 ? 0 : items_.size() * rows_ * (left_ + 1); }

    // The units to leave out, and those that replace them.
    void run(std::vector<std::uint32_t>& go, std::vector<std::uint32_t>& come) {
        const auto width = left_ + 1, layer = rows_ * width;
        table_.assign((items_.size() + 1) * layer, unreached);
        table_[0] = 0;
        for (std::size_t i = 0; i < items_.size(); ++i)
            for (std::size_t r = 0; r < rows_; ++r)
                fill(i, r, &table_[i * layer], &table_[(i + 1) * layer + r * width]);
        const auto* last = &table_[items_.size() * layer];
        auto gone = left_;
        while (last[gone] > spare_segments_)
            --gone; // at 0 at the latest: everything stays
        std::size_t r = 0;
        for (auto i = items_.size(); i-- > 0;) {
            const auto& item = items_[i];
            const auto cell = r * width + gone;
            if (table_[i * layer + cell] == table_[(i + 1) * layer + cell]) continue;
            (item.goes ? go : come).push_back(item.unit);
            gone -= item.hosts;
            item.goes ? --r : ++r;
        }
    }

private:
    static constexpr auto unreached = std::numeric_limits<std::uint32_t>::max() / 2;

    struct Item {
        std::uint32_t unit = 0;
        std::uint32_t hosts = 0, segments = 0; // reduction by leaving it out, or by taking it
        bool goes = false;
    };

    static bool may_come(const UnitLoad& load) {
        return load.impaired == 0 && !load.whole && load.free == load.candidates;
    }

    // Smallest price first; of equals no more than can be useful.
    void add(std::uint32_t unit, bool goes, std::size_t swaps) {
        const auto size = loads_.unit(unit).candidates;
        const auto large = std::max(size, pivot_), small = std::min(size, pivot_);
        const Item item{unit, large - small, large / segment_ - small / segment_, goes};
        if (item.hosts > left_ || item.segments > spare_segments_) return;
        equals_ = !items_.empty() && items_.back().hosts == item.hosts && items_.back().goes == goes
                      ? equals_ + 1
                      : 1;
        if (equals_ <= swaps && item.hosts * equals_ <= left_) items_.push_back(item);
    }

    // Row r after item i, from the layer before it.
    void fill(std::size_t i, std::size_t r, const std::uint32_t* before, std::uint32_t* to) const {
        const auto width = left_ + 1;
        const auto& item = items_[i];
        std::copy_n(before + r * width, width, to);
        if (item.goes ? r == 0 : r + 1 == rows_) return;
        const auto* from = before + (item.goes ? r - 1 : r + 1) * width;
        for (std::size_t gone = item.hosts; gone < width; ++gone)
            to[gone] = std::min(to[gone], from[gone - item.hosts] + item.segments);
    }

    const Loads& loads_;
    const std::uint32_t segment_, pivot_;
    std::size_t left_ = 0, spare_segments_ = 0; // more than the gang needs: hosts, segments
    std::vector<Item> items_;                   // those to leave out first
    std::size_t equals_ = 0;                    // of the last item
    std::size_t rows_ = 1;
    std::vector<std::uint32_t> table_; // [layer][row][reduction in hosts]
};

} // namespace

std::vector<std::uint32_t> tightest(const Loads& loads, const std::vector<std::uint32_t>& pods,
                                    std::size_t count, std::size_t swaps, Budget& budget) {
    auto units = covering_order(loads, pods);
    Exchange exchange(loads, units, count, swaps);
    units.resize(count);
    if (exchange.work() == 0 || !budget.affords(exchange.work())) return units;
    budget.spend(exchange.work());
    std::vector<std::uint32_t> go, come;
    exchange.run(go, come);
    std::erase_if(units, [&](auto u) { return std::find(go.begin(), go.end(), u) != go.end(); });
    units.insert(units.end(), come.begin(), come.end());
    return units;
}

} // namespace sched
