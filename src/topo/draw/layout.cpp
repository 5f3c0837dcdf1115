#include "topo/draw/layout.hpp"

#include "base/hostlist.hpp"
#include "topo/draw/groups.hpp"
#include "topo/draw/metrics.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace topo::draw {
namespace {

struct Size {
    int w = 0, h = 0;
};

// The number of columns of cells in a unit, and the widths at which a pod's units and the page's pods wrap.
struct Grid {
    int columns = 1, pod_width = 0, page_width = 0;
};

// Boxes from left to right in rows of at most `width`; a row is as high as its highest box.
class Flow {
public:
    Flow(int x, int y, int width, int gap) : left_(x), x_(x), y_(y), width_(width), gap_(gap) {}

    Box next(Size size) {
        if (x_ > left_ && x_ + size.w > left_ + width_) {
            y_ += row_ + gap_;
            x_ = left_;
            row_ = 0;
        }
        const Box box{x_, y_, size.w, size.h};
        x_ += size.w + gap_;
        right_ = std::max(right_, box.right());
        row_ = std::max(row_, size.h);
        return box;
    }
    int right() const { return right_; }
    int bottom() const { return y_ + row_; }

private:
    int left_, x_, y_, width_, gap_, right_ = 0, row_ = 0;
};

int ceil_div(std::size_t a, int b) {
    return (static_cast<int>(a) + b - 1) / b;
}

// Rows of `count` boxes of switches across `width`, as wide as possible between the minimum and the maximum.
struct SwitchRows {
    int w = 0, rows = 0, each = 0;

    SwitchRows(std::size_t count, int width, int least, int most, int gap) {
        if (count == 0) return;
        const int n = static_cast<int>(count);
        w = std::clamp((width + gap) / n - gap, least, most);
        each = std::max(1, (width + gap) / (w + gap));
        rows = ceil_div(count, each);
        each = ceil_div(count, rows); // even rows
    }
    int height(int h, int gap) const { return rows == 0 ? 0 : rows * (h + gap) - gap; }
};

struct Leaf {
    std::size_t index = 0;
    std::vector<int> rails;
};

class Arranger {
public:
    explicit Arranger(const Fabric& fabric)
        : fabric_(fabric), slots_(count_slots(fabric)), m_(metrics(fabric, slots_)) {
        for (std::size_t s = 0; s < fabric.switches.size(); ++s)
            if (fabric.switches[s].tier >= 2) cores_.push_back(s);
        spines_.resize(fabric.pods.size());
        std::vector<bool> shown(fabric.switches.size());
        for (std::size_t s = 0; s < fabric.switches.size(); ++s)
            if (fabric.switches[s].tier == 1 && fabric.switches[s].pod != none)
                spines_[at(fabric.switches[s].pod)].push_back(s);
        for (const Unit& unit : fabric.units) {
            groups_.push_back(groups_of(fabric, unit.hosts));
            leaves_.push_back(leaves_of(unit));
            for (const auto& leaf : leaves_.back())
                shown[leaf.index] = true;
        }
        for (std::size_t s = 0; s < fabric.switches.size(); ++s) {
            const Switch& sw = fabric.switches[s];
            if (!shown[s] && sw.tier < 2 && (sw.tier != 1 || sw.pod == none)) others_.push_back(s);
        }
        for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h)
            if (fabric.hosts[h].unit == none) unitless_.front().hosts.push_back(h);
        unitless_cell_ = panel_cell(fabric, unitless_.front().hosts, m_);
        mesh_ = find_meshes();
    }

    Layout arrange() const {
        const Grid grid = best_grid();
        Layout layout;
        layout.density = m_.density;
        int y = margin, right = 0;
        const int width = std::max(grid.page_width, least_width);
        if (!cores_.empty()) {
            layout.cores_title = {margin, y, width, m_.title};
            y = place_switches(layout.cores, cores_, {margin, y + m_.title, width, 0}, false) + m_.pod_gap;
        }
        Flow flow(margin, y, grid.page_width, m_.pod_gap);
        for (std::size_t p = 0; p < fabric_.pods.size(); ++p) {
            layout.pods.push_back(place_pod(p, flow.next(pod_size(p, grid)), grid));
            right = std::max(right, flow.right());
        }
        y = fabric_.pods.empty() ? y : flow.bottom() + m_.pod_gap;
        if (const auto& hosts = unitless_.front().hosts; !hosts.empty()) {
            const int columns = std::max(1, (width - 2 * m_.pad + m_.gap) / (unitless_cell_ + m_.gap));
            const auto size = panel_size("in no unit", hosts, unitless_, 0, columns, unitless_cell_);
            layout.unitless = place_unit(none, hosts, unitless_, {margin, y, size.w, size.h}, columns);
            right = std::max(right, margin + size.w);
            y += size.h + m_.pod_gap;
        }
        if (!others_.empty()) {
            layout.others_title = {margin, y, width, m_.title};
            y = place_switches(layout.others, others_, {margin, y + m_.title, width, 0}, false) + m_.pod_gap;
        }
        layout.width = std::max(right, margin + width) + margin;
        layout.height = std::max(y - m_.pod_gap, margin) + margin;
        return layout;
    }

private:
    static constexpr int least_width = 860; // needed by the legend

    // The leaves to which most hosts of a unit are connected, by rail, followed by those of a second port.
    std::vector<Leaf> leaves_of(const Unit& unit) const {
        std::map<std::pair<int, std::uint8_t>, std::map<int, std::size_t>> votes; // (rail, port)
        for (const auto h : unit.hosts)
            for (const Hca& hca : fabric_.hosts[h].hcas)
                for (const auto& port : hca.ports)
                    if (hca.role == Role::compute && hca.rail != none && port.leaf != none)
                        ++votes[{hca.rail, port.number}][port.leaf];
        std::vector<Leaf> leaves;
        for (const auto& [slot, count] : votes) {
            const auto most = std::max_element(
                count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
            if (2 * most->second <= unit.hosts.size()) continue; // a crossed cable does not add its leaf
            auto leaf = std::find_if(leaves.begin(), leaves.end(),
                                     [&](const Leaf& l) { return l.index == at(most->first); });
            if (leaf == leaves.end()) leaf = leaves.insert(leaves.end(), {at(most->first), {}});
            if (leaf->rails.empty() || leaf->rails.back() != slot.first) leaf->rails.push_back(slot.first);
        }
        return leaves;
    }

    // Pods whose uplinks can be drawn, one line per link: not more than the eye can follow.
    std::vector<bool> find_meshes() {
        std::vector<bool> mesh(fabric_.pods.size());
        many_.resize(fabric_.pods.size());
        if (fabric_.hosts.size() > 256) return mesh;
        std::vector<std::set<std::pair<int, int>>> pairs(fabric_.pods.size());
        for (const Link& link : fabric_.links) {
            if (link.a.switch_ == none || link.b.switch_ == none) continue;
            const Switch &a = fabric_.switches[at(link.a.switch_)], &b = fabric_.switches[at(link.b.switch_)];
            if (a.pod != none && a.pod == b.pod && a.tier != b.tier)
                pairs[at(a.pod)].insert({link.a.switch_, link.b.switch_});
        }
        for (std::size_t p = 0; p < mesh.size(); ++p)
            mesh[p] = !pairs[p].empty() && pairs[p].size() <= 800 && spines_[p].size() <= 64;
        constexpr std::size_t followed = 64; // lines; more become a grey area
        for (std::size_t p = 0; p < mesh.size(); ++p)
            many_[p] = pairs[p].size() > followed;
        return mesh;
    }

    // The height of a unit's title: one line, more if its hosts need them.
    int title_height(const std::string& name, const std::vector<std::uint32_t>& hosts, int inner) const {
        if (m_.density == Density::dense) return m_.title;
        auto& known = titles_[{hosts.empty() ? 0 : hosts.front(), inner}];
        if (known == 0)
            known = m_.title + (static_cast<int>(title_lines(fabric_, name, hosts, inner, m_).size()) - 1) *
                                   (m_.title_text + 2);
        return known;
    }

    int cells_height(const Group& group, int columns) const {
        return ceil_div(group.hosts.size(), columns) * (m_.cell.h + m_.gap) - m_.gap;
    }

    // How far the frame of a domain extends beyond its cells, at the bottom and on either side.
    int frame() const { return m_.pad / 2; }
    int frame_gap() const { return m_.gap + 2; }

    int groups_height(const std::vector<Group>& groups, int columns) const {
        int height = 0;
        for (const auto& group : groups)
            height += cells_height(group, columns) +
                      (has_domains(groups) ? m_.domain_title + frame() + frame_gap() : 0);
        return height - (has_domains(groups) ? frame_gap() : 0);
    }

    Size panel_size(const std::string& name, const std::vector<std::uint32_t>& hosts,
                    const std::vector<Group>& groups, std::size_t leaves, int columns, int cell) const {
        const int across = std::clamp(static_cast<int>(largest(groups)), 1, columns);
        const int inner = std::max(across * (cell + m_.gap) - m_.gap, m_.least_unit);
        const SwitchRows rows(leaves, inner, m_.leaf_least, inner, m_.switch_gap);
        const int leaf = rows.height(m_.switch_h, m_.switch_gap);
        return {inner + 2 * m_.pad, title_height(name, hosts, inner) + leaf + (leaf > 0 ? m_.pad : 0) +
                                        groups_height(groups, columns) + m_.pad};
    }

    Size unit_size(std::uint32_t u, const Grid& grid) const {
        return panel_size(fabric_.units[u].name, fabric_.units[u].hosts, groups_[u], leaves_[u].size(),
                          grid.columns, m_.cell.w);
    }

    Size pod_size(std::size_t p, const Grid& grid) const {
        Flow flow(0, 0, grid.pod_width, m_.unit_gap);
        for (const auto u : fabric_.pods[p].units)
            flow.next(unit_size(u, grid));
        const int inner = std::max(flow.right(), m_.least_unit);
        return {inner + 2 * m_.pad, m_.title + spines_height(p, inner) + flow.bottom() + m_.pad};
    }

    int spines_height(std::size_t p, int inner) const {
        if (spines_[p].empty()) return 0;
        return spine_rows(p, inner).height(m_.switch_h, m_.switch_gap) + (mesh_[p] ? m_.band : m_.unit_gap);
    }

    int least_spine() const { return m_.spine_w * 3 / 4; }

    SwitchRows spine_rows(std::size_t p, int inner) const {
        return {spines_[p].size(), inner, least_spine(), m_.spine_w, m_.switch_gap};
    }

    Size page_size(const Grid& grid) const {
        Flow flow(0, 0, grid.page_width, m_.pod_gap);
        for (std::size_t p = 0; p < fabric_.pods.size(); ++p)
            flow.next(pod_size(p, grid));
        return {std::max(flow.right(), least_width), flow.bottom()};
    }

    // How far a panel is from an aspect ratio of 2:1 or 1:2.
    static double skewness(Size size) {
        return std::max(0.0, std::abs(std::log(static_cast<double>(size.w) / std::max(size.h, 1))) -
                                 std::log(2.0));
    }

    // The grid whose page has the least area, weighted by how far the page is from 3:2, and its units and
    // pods from a square. Pods, or the units of a pod, are tried in rows of 1 to 16, then in rows with about
    // the width of a square. Incomplete rows of hosts or leaves cost a little.
    Grid best_grid() const {
        std::size_t hosts = 1, units = 1;
        for (const auto& groups : groups_)
            hosts = std::max(hosts, largest(groups));
        for (const Pod& pod : fabric_.pods)
            units = std::max(units, pod.units.size());
        Grid best;
        double least = std::numeric_limits<double>::infinity();
        const std::vector<int> powers{1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64};
        const std::vector<int> thirds{1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 24, 32, 36, 48, 64}; // of racks of 18
        for (const int columns : fabric_.domains.empty() ? powers : thirds) {
            if (columns > 1 && at(columns) >= 2 * hosts) break;
            Grid grid;
            grid.columns = columns;
            std::size_t ragged = 0; // units with a short last row of hosts, or leaves in several rows
            for (std::uint32_t u = 0; u < fabric_.units.size(); ++u) {
                for (const auto& group : groups_[u])
                    if (group.hosts.size() > at(columns) && group.hosts.size() % at(columns) != 0) {
                        ++ragged;
                        break;
                    }
                const int inner = unit_size(u, grid).w - 2 * m_.pad;
                if (SwitchRows(leaves_[u].size(), inner, m_.leaf_least, inner, m_.switch_gap).rows > 1)
                    ++ragged;
            }
            const double waste = 1 + 0.15 * static_cast<double>(ragged) /
                                         static_cast<double>(std::max<std::size_t>(fabric_.units.size(), 1));
            int widest = 0;
            double units_skew = 0;
            for (std::uint32_t u = 0; u < fabric_.units.size(); ++u) {
                widest = std::max(widest, unit_size(u, grid).w);
                units_skew = std::max(units_skew, skewness(unit_size(u, grid)));
            }
            for (const int across : rows_of(units)) {
                grid.pod_width = across * (widest + m_.unit_gap) - m_.unit_gap;
                int pod = 0;
                double pods_skew = 0;
                for (std::size_t p = 0; p < fabric_.pods.size(); ++p) {
                    pod = std::max(pod, pod_size(p, grid).w);
                    pods_skew = std::max(pods_skew, skewness(pod_size(p, grid)));
                }
                for (const int pods : rows_of(fabric_.pods.size())) {
                    grid.page_width = pods * (pod + m_.pod_gap) - m_.pod_gap;
                    const auto page = page_size(grid);
                    const double skew = std::log(1.5 * (page.h + 160.0) / page.w); // 160: title and legend
                    const double cost = static_cast<double>(page.w) * page.h * waste *
                                        (1 + 0.7 * std::abs(skew) + units_skew + 0.5 * pods_skew);
                    if (cost >= least) continue;
                    least = cost;
                    best = grid;
                }
            }
        }
        return best;
    }

    static std::vector<int> rows_of(std::size_t count) {
        std::vector<int> tried;
        for (int n = 1; n <= 16 && at(n) <= std::max<std::size_t>(count, 1); ++n)
            tried.push_back(n);
        if (const auto side = static_cast<int>(std::sqrt(static_cast<double>(count))); side > 16)
            for (const int n : {side, side * 3 / 2, side * 2})
                tried.push_back(n);
        return tried;
    }

    // Returns the bottom. A few boxes are spread over the width.
    int place_switches(std::vector<SwitchBox>& boxes, const std::vector<std::size_t>& switches, Box area,
                       bool spread) const {
        const SwitchRows rows(switches.size(), area.w, least_spine(), m_.spine_w, m_.switch_gap);
        const auto labels = switch_labels(fabric_, switches);
        for (std::size_t i = 0; i < switches.size(); ++i) {
            const int column = static_cast<int>(i) % rows.each, row = static_cast<int>(i) / rows.each;
            const int x = spread ? (2 * column + 1) * area.w / (2 * rows.each) - rows.w / 2
                                 : column * (rows.w + m_.switch_gap);
            const Box box{area.x + x, area.y + row * (m_.switch_h + m_.switch_gap), rows.w, m_.switch_h};
            SwitchBox made{box, switches[i], {}, {}};
            if (fits(labels[i], made)) made.label = labels[i];
            boxes.push_back(std::move(made));
        }
        return area.y + rows.height(m_.switch_h, m_.switch_gap);
    }

    // The labels of leaves, longest first.
    static std::array<std::string, 3> rails_labels(const std::vector<int>& rails) {
        const bool run =
            rails.size() > 2 && rails.back() - rails.front() + 1 == static_cast<int>(rails.size());
        auto list = run ? fmt::format("{}-{}", rails.front(), rails.back())
                        : fmt::format("{}", fmt::join(rails, ","));
        return {fmt::format("rail {}", list), "r" + list, std::move(list)};
    }

    bool fits(const std::string& label, const SwitchBox& box) const {
        return m_.switch_text > 0 && text_width(label, m_.switch_text) <= box.box.w - 2;
    }

    PodBox place_pod(std::size_t p, Box box, const Grid& grid) const {
        PodBox pod;
        pod.box = box;
        pod.pod = p;
        pod.mesh = mesh_[p];
        const int x = box.x + m_.pad, inner = box.w - 2 * m_.pad;
        pod.title = {x, box.y, inner, m_.title};
        const int y = box.y + m_.title;
        if (!spines_[p].empty()) place_switches(pod.spines, spines_[p], {x, y, inner, 0}, mesh_[p]);
        Flow flow(x, y + spines_height(p, inner), grid.pod_width, m_.unit_gap);
        for (const auto u : fabric_.pods[p].units)
            pod.units.push_back(place_unit(static_cast<int>(u), fabric_.units[u].hosts, groups_[u],
                                           flow.next(unit_size(u, grid)), grid.columns));
        const bool rows = !pod.units.empty() && pod.units.back().box.y != pod.units.front().box.y;
        pod.many = mesh_[p] && (many_[p] || rows);
        return pod;
    }

    UnitBox place_unit(int u, const std::vector<std::uint32_t>& hosts, const std::vector<Group>& groups,
                       Box box, int columns) const {
        UnitBox unit;
        unit.box = box;
        unit.unit = u;
        const int x = box.x + m_.pad, inner = box.w - 2 * m_.pad;
        int y = box.y;
        if (u != none && !leaves_[at(u)].empty())
            y = place_leaves(unit, leaves_[at(u)], {x, y + m_.pad, inner, 0});
        unit.title = {x, y, inner,
                      title_height(u == none ? "in no unit" : fabric_.units[at(u)].name, hosts, inner)};
        y += unit.title.h;
        std::unordered_map<std::uint32_t, std::string> labels;
        const int wide = u == none ? unitless_cell_ : m_.cell.w;
        if (m_.density != Density::dense) {
            auto of_panel = m_;
            of_panel.cell.w = wide;
            auto made = host_labels(fabric_, hosts, of_panel);
            for (std::size_t i = 0; i < hosts.size(); ++i)
                labels.emplace(hosts[i], std::move(made[i]));
        }
        for (const auto& group : groups) {
            const int below = cells_height(group, columns);
            if (has_domains(groups)) {
                const Box title{x, y, inner, m_.domain_title};
                unit.domains.push_back(
                    {{x - frame(), y, inner + 2 * frame(), m_.domain_title + below + frame()},
                     title,
                     group.domain,
                     group.hosts});
                y = title.bottom();
            }
            for (std::size_t i = 0; i < group.hosts.size(); ++i) {
                const int column = static_cast<int>(i) % columns, row = static_cast<int>(i) / columns;
                const Box cell{x + column * (wide + m_.gap), y + row * (m_.cell.h + m_.gap), wide, m_.cell.h};
                const auto h = group.hosts[i];
                HostBox host{cell, {cell.x, cell.bottom() - m_.strip, cell.w, m_.strip}, h, labels[h], {}};
                host.ticks = place_ticks(host);
                unit.hosts.push_back(std::move(host));
            }
            y += below + frame() + frame_gap();
        }
        return unit;
    }

    int place_leaves(UnitBox& unit, const std::vector<Leaf>& leaves, Box area) const {
        const SwitchRows rows(leaves.size(), area.w, m_.leaf_least, area.w, m_.switch_gap);
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            const int column = static_cast<int>(i) % rows.each, row = static_cast<int>(i) / rows.each;
            // Shares of the width rather than equal boxes, so that the row ends where the hosts do.
            const int from = column * (area.w + m_.switch_gap) / rows.each;
            const int to = (column + 1) * (area.w + m_.switch_gap) / rows.each - m_.switch_gap;
            const Box box{area.x + from, area.y + row * (m_.switch_h + m_.switch_gap), to - from,
                          m_.switch_h};
            unit.leaves.push_back({box, leaves[i].index, {}, {}});
        }
        // All with the same length, so that none seems to be of another kind.
        std::size_t length = 0;
        const auto fit = [&] {
            for (std::size_t i = 0; i < leaves.size(); ++i)
                if (!fits(rails_labels(leaves[i].rails)[length], unit.leaves[i])) return false;
            return true;
        };
        while (length < 2 && !fit())
            ++length;
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            auto& leaf = unit.leaves[i];
            const auto labels = rails_labels(leaves[i].rails);
            if (fits(labels[length], leaf)) leaf.label = labels[length];
            leaf.shorter.assign(labels.begin() + static_cast<std::ptrdiff_t>(length) + 1, labels.end());
        }
        return area.y + rows.height(m_.switch_h, m_.switch_gap);
    }

    std::vector<Tick> place_ticks(const HostBox& cell) const {
        const Host& host = fabric_.hosts[cell.host];
        std::vector<Tick> ticks;
        const auto put = [&](int slot, bool storage, int hca, int port, int rail) {
            const int x = cell.strip.x + m_.inset + slot * m_.pitch + (storage ? m_.storage_gap : 0);
            ticks.push_back({{x, cell.strip.y + 1, m_.tick, m_.strip - 2}, hca, port, rail});
        };
        std::vector<bool> has(at(fabric_.rails));
        int storage = fabric_.rails * slots_.ports;
        for (std::size_t i = 0; i < host.hcas.size(); ++i) {
            const Hca& hca = host.hcas[i];
            const bool compute = hca.role == Role::compute && hca.rail != none;
            if (compute && has[at(hca.rail)])
                continue; // two HCAs claim a rail: the first one is drawn for both
            if (compute) has[at(hca.rail)] = true;
            for (std::size_t p = 0; p < hca.ports.size(); ++p) {
                const int slot = compute ? hca.rail * slots_.ports + static_cast<int>(p) : storage++;
                put(slot, !compute, static_cast<int>(i), static_cast<int>(p), compute ? hca.rail : none);
            }
        }
        if (host.unit != none) {
            const auto& leaves = fabric_.units[at(host.unit)].leaves;
            for (std::size_t r = 0; r < leaves.size() && r < has.size(); ++r)
                if (leaves[r] != none && !has[r])
                    put(static_cast<int>(r) * slots_.ports, false, none, none, static_cast<int>(r));
        }
        return ticks;
    }

    const Fabric& fabric_;
    Slots slots_;
    Metrics m_;
    std::vector<std::size_t> cores_, others_;
    std::vector<std::vector<std::size_t>> spines_; // by pod
    std::vector<std::vector<Leaf>> leaves_;        // by unit
    std::vector<std::vector<Group>> groups_;       // by unit
    std::vector<Group> unitless_{Group{}};         // one group, of hosts in no unit, whatever their domains
    int unitless_cell_ = 0;                        // width of their cells
    std::vector<bool> mesh_, many_;                // by pod
    mutable std::map<std::pair<std::uint32_t, int>, int> titles_; // heights, by first host and width
};

} // namespace

Layout lay_out(const Fabric& fabric) {
    return Arranger(fabric).arrange();
}

} // namespace topo::draw
