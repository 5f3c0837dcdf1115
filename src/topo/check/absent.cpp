#include "topo/check/absent.hpp"

#include "topo/names.hpp"

#include <algorithm>
#include <iterator>

namespace topo::checks {
namespace {

Names only(const std::vector<Names>& free) {
    return free.size() == 1 ? free.front() : Names();
}

bool meet(const Numbers& a, const Numbers& b) {
    return std::any_of(a.begin(), a.end(), [&](const auto& entry) { return b.contains(entry.first); });
}

} // namespace

// Groups the switches into series; switches numbered consecutively under several stems (A10-SPINE-04,
// B10-SPINE-05) form one. Empty if any name has no number.
std::vector<Numbers> Absent::series_of(const Fabric& fabric, const std::vector<int>& switches) const {
    std::map<std::pair<std::size_t, std::string_view>, std::vector<NumberedName>> by_shape; // lengths, tails
    for (const int s : switches) {
        const auto& text = fabric.switches[at(s)].name;
        const auto name = numbered(text, before_last_);
        if (!name) return {};
        by_shape[{text.size(), name->tail}].push_back(*name);
    }
    std::vector<Numbers> all;
    for (const auto& [shape, names] : by_shape) {
        Numbers through;
        std::map<std::pair<std::string_view, std::string_view>, Numbers> by_stem;
        for (const auto& name : names) {
            through.emplace(name.number, name);
            by_stem[{name.stem, name.tail}].emplace(name.number, name);
        }
        if (through.size() == names.size())
            all.push_back(std::move(through));
        else
            for (auto& [stem, numbers] : by_stem)
                all.push_back(std::move(numbers));
    }
    return all;
}

Absent::Absent(const Fabric& fabric, const std::vector<int>& seen, int before_last)
    : before_last_(before_last) {
    std::set<std::string> shapes;
    for (const int s : seen)
        shapes.insert(name_shape(fabric.switches[at(s)].name));
    std::vector<int> kin;
    for (int s = 0; at(s) < fabric.switches.size(); ++s) {
        taken_.insert(fabric.switches[at(s)].name);
        if (shapes.contains(name_shape(fabric.switches[at(s)].name))) kin.push_back(s);
    }
    series_ = series_of(fabric, seen);
    all_ = series_of(fabric, kin);
    std::erase_if(all_, [&](const Numbers& numbers) {
        const bool own = std::any_of(seen.begin(), seen.end(), [&](int s) {
            const auto name = numbered(fabric.switches[at(s)].name, before_last);
            const auto found = name ? numbers.find(name->number) : numbers.end();
            return found != numbers.end() && found->second.kin(*name);
        });
        if (!own) others_.push_back(numbers);
        return !own;
    });
}

bool Absent::differ() const {
    return std::any_of(series_.begin(), series_.end(),
                       [](const Numbers& numbers) { return numbers.size() > 1; });
}

Names Absent::beside() const {
    auto free = gaps(series_);
    for (const Numbers& numbers : series_)
        if (free.empty() && numbers.begin()->first == 2)
            add(1, numbers.begin()->second, numbers.begin()->second, free);
    if (free.empty()) as_others(free);
    return only(free);
}

Names Absent::likely() const {
    if (auto names = beside(); !names.empty()) return names;
    auto free = gaps(all_);
    if (!free.empty()) return only(free);
    if (series_.size() != 1) return {};
    const auto& [first, lowest] = *series_.front().begin();
    const auto& [last, highest] = *series_.front().rbegin();
    add(last + 1, highest, highest, free);
    if (free.empty() && first > 1) add(first - 1, lowest, lowest, free);
    return only(free);
}

void Absent::add(std::uint32_t number, const NumberedName& one, const NumberedName& other,
                 std::vector<Names>& free) const {
    Names names{one.at(number)};
    if (!one.kin(other)) names.push_back(other.at(number));
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return taken_.contains(name); }))
        free.push_back(std::move(names));
}

std::vector<Names> Absent::gaps(const std::vector<Numbers>& series) const {
    std::vector<Names> free; // two mean ambiguous, like more
    for (const Numbers& numbers : series)
        for (auto next = std::next(numbers.begin()), last = numbers.begin(); next != numbers.end();
             last = next++)
            for (auto n = last->first + 1; n < next->first && free.size() < 2; ++n)
                add(n, last->second, next->second, free);
    return free;
}

// Numbers that a series lacks and more than half of the others have; series that continue where it ends do
// not count.
void Absent::as_others(std::vector<Names>& free) const {
    for (const Numbers& own : all_) {
        std::map<std::uint32_t, std::size_t> counts;
        std::size_t others = 0;
        for (const auto* series : {&all_, &others_})
            for (const Numbers& other : *series) {
                if (&other == &own || !meet(own, other)) continue;
                ++others;
                for (const auto& [number, name] : other)
                    ++counts[number];
            }
        for (const auto& [number, count] : counts)
            if (count * 2 > others && !own.contains(number))
                add(number, own.begin()->second, own.begin()->second, free);
    }
}

Names absent_beside(const Fabric& fabric, const std::vector<int>& seen) {
    constexpr int most = 4;
    for (int n = 0; n < most; ++n) {
        const Absent absent(fabric, seen, n);
        if (seen.size() > 1 && !absent.differ()) continue; // that number is not theirs
        if (auto names = absent.beside(); !names.empty()) return names;
    }
    return {};
}

} // namespace topo::checks
