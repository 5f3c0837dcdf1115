#include "restart/watch/fabric/wait_graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>

namespace restart {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t no_port = std::numeric_limits<std::size_t>::max();

// The ports into and out of each device.
class Ways {
public:
    explicit Ways(const WaitGraph& graph)
        : graph_(graph), into_(graph.levels.size()), out_(graph.levels.size()) {
        for (std::size_t i = 0; i < graph.ports.size(); ++i) {
            out_[graph.ports[i].from].push_back(i);
            into_[graph.ports[i].to].push_back(i);
        }
    }
    const std::vector<std::size_t>& into(std::uint32_t device) const { return into_[device]; }
    const std::vector<std::size_t>& out(std::uint32_t device) const { return out_[device]; }
    const WaitingPort& at(std::size_t port) const { return graph_.ports[port]; }
    std::size_t ports() const { return graph_.ports.size(); }
    std::size_t devices() const { return graph_.levels.size(); }
    bool to_hca(std::size_t port) const { return graph_.levels[at(port).to] < 0; }
    bool from_hca(std::size_t port) const { return graph_.levels[at(port).from] < 0; }
    bool goes_up(std::size_t port) const { return graph_.levels[at(port).to] > graph_.levels[at(port).from]; }
    bool goes_down(std::size_t port) const {
        return graph_.levels[at(port).to] < graph_.levels[at(port).from];
    }

private:
    const WaitGraph& graph_;
    std::vector<std::vector<std::size_t>> into_, out_;
};

// The ports that wait for one of these along paths without a U-turn or an up after a down. The ports into a
// device are examined at most twice for each of the two directions of arrival: once without those that would
// turn back to where the first path led, once for the rest.
std::vector<std::size_t> behind(const Ways& ways, std::span<const std::size_t> roots) {
    struct Looked {
        std::uint32_t left_out = nobody;
        int times = 0;
    };
    std::vector<std::array<Looked, 2>> looked(ways.devices());
    std::vector<char> found(ways.ports());
    std::vector<std::size_t> queue(roots.begin(), roots.end());
    for (const auto root : roots)
        found[root] = 1;
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const auto port = queue[next];
        const auto& way = ways.at(port);
        if (ways.from_hca(port)) continue; // it forwards nothing
        const bool up = ways.goes_up(port);
        auto& here = looked[way.from][up ? 1 : 0];
        if (here.times == 2 || (here.times == 1 && here.left_out == way.to)) continue;
        if (here.times++ == 0) here.left_out = way.to;
        for (const auto before : ways.into(way.from)) {
            if (found[before] != 0 || ways.at(before).from == way.to) continue;
            if (up && ways.goes_down(before)) continue;
            found[before] = 1;
            queue.push_back(before);
        }
    }
    queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(roots.size()));
    std::sort(queue.begin(), queue.end());
    return queue;
}

// Loops among the ports that `used` marks.
class Loops {
public:
    // `explained`: ports that wait for a slow receiver. A loop of only these is not reported.
    Loops(const Ways& ways, const std::vector<char>& explained)
        : ways_(ways), explained_(explained), used_(ways.ports()) {
        for (std::size_t port = 0; port < ways.ports(); ++port)
            used_[port] =
                !ways.to_hca(port) && !ways.from_hca(port) && ways.at(port).moved_ppm < loop_moves_less_ppm
                    ? 1
                    : 0;
    }

    // Takes the loop whose fastest port is the slowest of all; its ports are not used again.
    std::optional<CreditLoop> take() {
        leave_open_ends();
        std::vector<std::uint32_t> moved;
        bool all_explained = true;
        for (std::size_t port = 0; port < ways_.ports(); ++port)
            if (used_[port] != 0) {
                moved.push_back(ways_.at(port).moved_ppm);
                all_explained = all_explained && explained_[port] != 0;
            }
        if (all_explained) return {};
        std::sort(moved.begin(), moved.end());
        moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
        if (find_circle(moved.back()) == no_port) return {};
        std::size_t low = 0, high = moved.size() - 1;
        while (low < high) {
            const auto middle = low + (high - low) / 2;
            if (find_circle(moved[middle]) == no_port)
                low = middle + 1;
            else
                high = middle;
        }
        CreditLoop loop;
        loop.ports = shortest(find_circle(moved[low]), moved[low]);
        for (const auto port : loop.ports) {
            loop.moved_ppm = std::max(loop.moved_ppm, ways_.at(port).moved_ppm);
            used_[port] = 0;
        }
        return loop;
    }

private:
    bool follows(std::size_t port, std::size_t next, std::uint32_t most) const {
        return used_[next] != 0 && ways_.at(next).moved_ppm <= most &&
               ways_.at(next).to != ways_.at(port).from;
    }

    // A port that waits for no other, or that no other waits for, is not in a cycle; this removes trees
    // entirely.
    void leave_open_ends() {
        std::vector<std::size_t> into(ways_.devices()), out(ways_.devices());
        std::vector<std::size_t> queue;
        for (std::size_t port = 0; port < ways_.ports(); ++port)
            if (used_[port] != 0) {
                ++out[ways_.at(port).from];
                ++into[ways_.at(port).to];
                queue.push_back(port);
            }
        for (std::size_t next = 0; next < queue.size(); ++next) {
            const auto port = queue[next];
            const auto [from, to, moved] = ways_.at(port);
            if (used_[port] == 0 || (into[from] > 0 && out[to] > 0)) continue;
            used_[port] = 0;
            --out[from];
            --into[to];
            if (out[from] == 0) queue.insert(queue.end(), ways_.into(from).begin(), ways_.into(from).end());
            if (into[to] == 0) queue.insert(queue.end(), ways_.out(to).begin(), ways_.out(to).end());
        }
    }

    // A port in a cycle of ports that moved at most this much: Tarjan's strongly connected components
    // ("Depth-first search and linear graph algorithms", 1972), without recursion.
    std::size_t find_circle(std::uint32_t most) const {
        struct Frame {
            std::size_t port, next;
        };
        std::vector<std::size_t> number(ways_.ports(), no_port), low(ways_.ports());
        std::vector<char> open(ways_.ports());
        std::vector<std::size_t> stack;
        std::vector<Frame> frames;
        std::size_t count = 0;
        const auto enter = [&](std::size_t port) {
            number[port] = low[port] = count++;
            open[port] = 1;
            stack.push_back(port);
            frames.push_back({port, 0});
        };
        for (std::size_t root = 0; root < ways_.ports(); ++root) {
            if (used_[root] == 0 || ways_.at(root).moved_ppm > most || number[root] != no_port) continue;
            enter(root);
            while (!frames.empty()) {
                const auto port = frames.back().port;
                const auto& out = ways_.out(ways_.at(port).to);
                if (frames.back().next < out.size()) {
                    const auto next = out[frames.back().next++];
                    if (!follows(port, next, most)) continue;
                    if (number[next] == no_port)
                        enter(next);
                    else if (open[next] != 0)
                        low[port] = std::min(low[port], number[next]);
                    continue;
                }
                frames.pop_back();
                if (!frames.empty()) low[frames.back().port] = std::min(low[frames.back().port], low[port]);
                if (low[port] != number[port]) continue;
                if (stack.back() != port) return port; // more than one; no port follows itself
                stack.pop_back();
                open[port] = 0;
            }
        }
        return no_port;
    }

    // The shortest cycle through this port, which is in one.
    std::vector<std::size_t> shortest(std::size_t start, std::uint32_t most) const {
        std::vector<std::size_t> before(ways_.ports(), no_port), queue{start};
        for (std::size_t next = 0; next < queue.size(); ++next)
            for (const auto after : ways_.out(ways_.at(queue[next]).to)) {
                if (!follows(queue[next], after, most) || before[after] != no_port) continue;
                before[after] = queue[next];
                if (after == start) return chain(before, start);
                queue.push_back(after);
            }
        return {start}; // unreachable: it is in a cycle
    }

    static std::vector<std::size_t> chain(const std::vector<std::size_t>& before, std::size_t start) {
        std::vector<std::size_t> ports{start};
        for (auto port = before[start]; port != start; port = before[port])
            ports.push_back(port);
        std::reverse(ports.begin() + 1, ports.end());
        return ports;
    }

    const Ways& ways_;
    const std::vector<char>& explained_;
    std::vector<char> used_;
};

} // namespace

WaitCauses find_causes(const WaitGraph& graph) {
    WaitCauses causes;
    if (graph.ports.empty()) return causes;
    const Ways ways(graph);
    std::vector<std::size_t> roots;
    for (std::size_t port = 0; port < ways.ports(); ++port)
        if (ways.to_hca(port)) roots.push_back(port);
    // In rough steps, so that the reported receivers stay the same between sweeps: up to 5 %, 10 %, 20 %, …
    const auto takes = [&](std::size_t root) { return std::bit_width(ways.at(root).moved_ppm / 50'000); };
    std::stable_sort(roots.begin(), roots.end(),
                     [&](std::size_t a, std::size_t b) { return takes(a) < takes(b); });
    std::vector<char> explained(ways.ports());
    for (const auto port : behind(ways, roots))
        explained[port] = 1;
    if (roots.size() > most_receivers) roots.resize(most_receivers);
    for (const auto root : roots) {
        SlowReceiver receiver{root, behind(ways, {&root, 1})};
        if (!receiver.behind.empty()) causes.receivers.push_back(std::move(receiver));
    }
    Loops loops(ways, explained);
    for (std::size_t tries = 0; tries < 4 * most_loops && causes.loops.size() < most_loops; ++tries) {
        auto loop = loops.take();
        if (!loop) break;
        if (!std::all_of(loop->ports.begin(), loop->ports.end(),
                         [&](std::size_t port) { return explained[port] != 0; }))
            causes.loops.push_back(*std::move(loop));
    }
    for (auto& loop : causes.loops)
        loop.behind = behind(ways, loop.ports);
    return causes;
}

} // namespace restart
