// Whatever registers the processor has, rows are added and compared alike: a machine runs one of the two.
#include "sched/search/row_ops.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace {

template <class V> void compare() {
    constexpr auto block = sched::RowOps<V>::block;
    std::mt19937_64 random(1);
    const sched::RowOps<V> chosen;
    for (std::size_t count = 1; count <= 3 * block + 1; ++count)
        for (std::size_t offset = 0; offset < 3; ++offset) { // rows begin anywhere
            const auto whole = (count + block - 1) / block * block + offset;
            std::vector<V> from(whole), to(whole);
            for (auto* row : {&from, &to})
                std::generate(row->begin(), row->end(), [&] { return static_cast<V>(random() % 8000); });
            const auto cost = static_cast<V>(random() % 8000);
            auto added = to, lowered = to, plainly_added = to, plainly_lowered = to;
            chosen.add(added.data() + offset, from.data() + offset, count, cost);
            chosen.lower(lowered.data() + offset, from.data() + offset, count, cost);
            sched::row_ops::add(plainly_added.data() + offset, from.data() + offset, count, cost);
            sched::row_ops::lower(plainly_lowered.data() + offset, from.data() + offset, count, cost);
            CHECK(added == plainly_added);
            CHECK(lowered == plainly_lowered);
            for (std::size_t i = offset; i < offset + count; ++i) {
                CHECK(added[i] == static_cast<V>(from[i] + cost));
                CHECK(lowered[i] == std::min(to[i], static_cast<V>(from[i] + cost)));
            }
            for (std::size_t i = 0; i < offset; ++i)
                CHECK((added[i] == to[i] && lowered[i] == to[i]));
        }
}

} // namespace

TEST_CASE("rows are added and compared as one by one, with and without wide registers") {
    compare<std::int16_t>();
    compare<std::int32_t>();
    compare<std::int64_t>();
}
