#include "restart/watch/fabric/wait_graph.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace restart;

namespace {

// What find_causes() says, worked out over all pairs of ports (Warshall).
struct Oracle {
    explicit Oracle(const WaitGraph& made) : graph(made) {}

    const WaitGraph& graph;

    int level(std::uint32_t device) const { return graph.levels[device]; }
    bool waits_for(std::size_t a, std::size_t b, bool legal) const {
        const auto &one = graph.ports[a], &next = graph.ports[b];
        if (one.to != next.from || one.from == next.to || level(one.to) < 0) return false;
        return !legal || !(level(one.to) < level(one.from) && level(next.to) > level(next.from));
    }
    bool in_loops(std::size_t port, std::uint32_t most) const {
        const auto& way = graph.ports[port];
        return level(way.from) >= 0 && level(way.to) >= 0 && way.moved_ppm <= most &&
               way.moved_ppm < loop_moves_less_ppm;
    }
    // reach[a][b]: a waits for b, perhaps through others, of those that fit.
    template <class Fits> std::vector<std::vector<char>> reach(bool legal, Fits fits) const {
        const auto n = graph.ports.size();
        std::vector<std::vector<char>> way(n, std::vector<char>(n));
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < n; ++b)
                way[a][b] = fits(a) && fits(b) && waits_for(a, b, legal) ? 1 : 0;
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t a = 0; a < n; ++a)
                for (std::size_t b = 0; way[a][k] != 0 && b < n; ++b)
                    way[a][b] = static_cast<char>(way[a][b] | way[k][b]);
        return way;
    }
    // Whether some ports that moved at most this wait for each other in a circle.
    bool has_loop(std::uint32_t most) const {
        const auto way = reach(false, [&](std::size_t port) { return in_loops(port, most); });
        for (std::size_t a = 0; a < way.size(); ++a)
            if (way[a][a] != 0) return true;
        return false;
    }
    std::vector<std::size_t> behind(const std::set<std::size_t>& roots) const {
        const auto way = reach(true, [](std::size_t) { return true; });
        std::vector<std::size_t> found;
        for (std::size_t a = 0; a < way.size(); ++a)
            if (!roots.contains(a) &&
                std::any_of(roots.begin(), roots.end(), [&](auto root) { return way[a][root] != 0; }))
                found.push_back(a);
        return found;
    }
    std::set<std::size_t> roots() const {
        std::set<std::size_t> found;
        for (std::size_t a = 0; a < graph.ports.size(); ++a)
            if (level(graph.ports[a].to) < 0) found.insert(a);
        return found;
    }
};

// Ports between some of all pairs of devices, now and then in parallel.
WaitGraph made(std::mt19937& random) {
    const auto upto = [&](int most) {
        return static_cast<std::uint32_t>(random() % static_cast<unsigned>(most));
    };
    WaitGraph graph;
    const auto devices = 3 + upto(6);
    for (std::uint32_t i = 0; i < devices; ++i)
        graph.levels.push_back(static_cast<int>(upto(4)) - 1);
    const std::uint32_t ports = upto(22);
    for (std::uint32_t i = 0; i < ports; ++i) {
        const auto a = upto(static_cast<int>(devices)), b = upto(static_cast<int>(devices));
        if (a == b || (graph.levels[a] < 0 && graph.levels[b] < 0)) continue;
        graph.ports.push_back({a, b, std::vector<std::uint32_t>{0, 0, 99, 100, 999, 1000, 90'000}[upto(7)]});
    }
    return graph;
}

// Two leaves 0 and 1, two spines 2 and 3, hosts 4 and 5 on leaf 0, 6 on leaf 1.
WaitGraph two_leaves() {
    return {{0, 0, 1, 1, -1, -1, -1}, {}};
}

void loop_of(WaitGraph& graph, std::uint32_t one_moves = 0) {
    for (const auto& way : {WaitingPort{0, 2, 0}, {2, 1, one_moves}, {1, 3, 0}, {3, 0, 0}})
        graph.ports.push_back(way);
}

} // namespace

TEST_CASE("what waits for what is what a search over all pairs finds") {
    std::mt19937 random(12);
    int loops = 0, receivers = 0, silent = 0;
    for (int i = 0; i < 4'000; ++i) {
        const auto graph = made(random);
        const Oracle oracle(graph);
        const auto causes = find_causes(graph);
        const auto roots = oracle.roots();
        const auto explained = oracle.behind(roots);
        CAPTURE(i, graph.ports.size());

        std::set<std::size_t> told;
        for (const auto& receiver : causes.receivers) {
            REQUIRE(roots.contains(receiver.port));
            // Other slow receivers may wait, too, never for this one: an HCA sends nothing on.
            REQUIRE(receiver.behind == oracle.behind({receiver.port}));
            told.insert(receiver.port);
        }
        for (const auto root : roots)
            REQUIRE(told.contains(root) == !oracle.behind({root}).empty());

        std::set<std::size_t> used;
        for (const auto& loop : causes.loops) {
            REQUIRE(loop.ports.size() >= 3);
            std::uint32_t most = 0;
            bool all_explained = true;
            for (std::size_t k = 0; k < loop.ports.size(); ++k) {
                const auto port = loop.ports[k];
                most = std::max(most, graph.ports[port].moved_ppm);
                REQUIRE(oracle.in_loops(port, loop_moves_less_ppm));
                REQUIRE(oracle.waits_for(port, loop.ports[(k + 1) % loop.ports.size()], false));
                REQUIRE(used.insert(port).second);
                all_explained = all_explained && std::binary_search(explained.begin(), explained.end(), port);
            }
            REQUIRE(most == loop.moved_ppm);
            REQUIRE_FALSE(all_explained);
            REQUIRE(loop.behind == oracle.behind({loop.ports.begin(), loop.ports.end()}));
        }
        // The first is the best there is; where there is no slow receiver none is passed over.
        if (roots.empty()) {
            REQUIRE(causes.loops.empty() == !oracle.has_loop(loop_moves_less_ppm));
            if (!causes.loops.empty()) {
                REQUIRE(oracle.has_loop(causes.loops[0].moved_ppm));
                REQUIRE((causes.loops[0].moved_ppm == 0 || !oracle.has_loop(causes.loops[0].moved_ppm - 1)));
            }
        }
        loops += causes.loops.empty() ? 0 : 1;
        receivers += causes.receivers.empty() ? 0 : 1;
        silent += causes.loops.empty() && causes.receivers.empty() ? 1 : 0;
    }
    // It tries both answers.
    CHECK((loops > 100 && receivers > 100 && silent > 100));
}

TEST_CASE("links of switches that wait for each other in a circle are a loop, in its order") {
    auto graph = two_leaves();
    loop_of(graph);
    graph.ports.push_back({4, 0, 0}); // a host that suffers
    const auto causes = find_causes(graph);
    REQUIRE(causes.loops.size() == 1);
    CHECK(causes.loops[0].ports == std::vector<std::size_t>{0, 1, 2, 3});
    CHECK(causes.loops[0].behind == std::vector<std::size_t>{4});
    CHECK(causes.receivers.empty());
}

TEST_CASE("no loop: one link moves, a chain, two ends of one link, hosts that are slow on both sides") {
    auto graph = two_leaves();
    SECTION("one link moves") {
        loop_of(graph, loop_moves_less_ppm);
    }
    SECTION("a chain") {
        loop_of(graph);
        graph.ports.pop_back();
    }
    SECTION("two ends of one link") {
        graph.ports = {{0, 2, 0}, {2, 0, 0}};
    }
    SECTION("hosts that are slow on both sides") {
        loop_of(graph);
        graph.ports.push_back({0, 4, 0});
        graph.ports.push_back({1, 6, 0});
        CHECK(find_causes(graph).receivers.size() == 2);
    }
    CHECK(find_causes(graph).loops.empty());
}

TEST_CASE("one host that is slow does not explain a loop that goes on behind it") {
    auto graph = two_leaves();
    loop_of(graph);
    graph.ports.push_back({0, 4, 0});
    const auto causes = find_causes(graph);
    CHECK(causes.loops.size() == 1);
    REQUIRE(causes.receivers.size() == 1);
    // Who goes down to its leaf, and up towards that; not who would have to turn up again at the other leaf.
    CHECK(causes.receivers[0].behind == std::vector<std::size_t>{2, 3});
}

TEST_CASE("of more slow receivers than are told those that take least are, the same in each sweep") {
    // A leaf, its hosts, and one of another leaf that sends to all of them.
    WaitGraph graph{{0, 0}, {{1, 0, 0}}};
    const auto receiver = [&](std::uint32_t moved_ppm) {
        const auto number = static_cast<std::uint32_t>(graph.levels.size());
        graph.levels.push_back(-1);
        graph.ports.push_back({0, number, moved_ppm});
    };
    for (std::size_t i = 0; i < 2 * most_receivers; ++i)
        receiver(400'000);
    for (std::size_t i = 0; i < most_receivers + 3; ++i)
        receiver(static_cast<std::uint32_t>(10'000 + i * 7 % 11));
    const auto told = [&] {
        std::vector<std::size_t> ports;
        for (const auto& one : find_causes(graph).receivers)
            ports.push_back(one.port);
        return ports;
    };
    const auto first = told();
    REQUIRE(first.size() == most_receivers);
    for (const auto port : first)
        CHECK(graph.ports[port].moved_ppm < 50'000);
    for (auto& port : graph.ports)
        if (port.moved_ppm < 50'000) port.moved_ppm = 20'000 - port.moved_ppm;
    CHECK(told() == first);
}

TEST_CASE("a fabric in which every port waits is judged all the same") {
    WaitGraph graph;
    constexpr std::uint32_t leaves = 128, spines = 32, hosts = 32;
    graph.levels.assign(leaves, 0);
    graph.levels.resize(leaves + spines, 1);
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
        for (std::uint32_t spine = leaves; spine < leaves + spines; ++spine) {
            graph.ports.push_back({leaf, spine, 0});
            graph.ports.push_back({spine, leaf, 0});
        }
        for (std::uint32_t host = 0; host < hosts; ++host) {
            const auto number = static_cast<std::uint32_t>(graph.levels.size());
            graph.levels.push_back(-1);
            graph.ports.push_back({number, leaf, 0});
        }
    }
    const auto causes = find_causes(graph);
    CHECK(causes.loops.size() == most_loops);
    CHECK(causes.receivers.empty());
}
