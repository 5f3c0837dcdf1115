#include "topo/draw/layout.hpp"

#include "topo/derive.hpp"
#include "topo/draw/metrics.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

namespace {

using topo::draw::Box;

topo::Fabric made(const std::string& spec) {
    auto fabric = topo::synthesise(*topo::parse_synth(spec));
    REQUIRE(fabric);
    return *std::move(fabric);
}

bool inside(Box inner, Box outer) {
    return inner.x >= outer.x && inner.y >= outer.y && inner.right() <= outer.right() &&
           inner.bottom() <= outer.bottom();
}

// Every pair of boxes that share a pixel, found by a sweep from left to right.
int overlaps(std::vector<Box> boxes) {
    std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.x < b.x; });
    int found = 0;
    for (std::size_t i = 0; i < boxes.size(); ++i)
        for (std::size_t j = i + 1; j < boxes.size() && boxes[j].x < boxes[i].right(); ++j)
            found += boxes[i].y < boxes[j].bottom() && boxes[j].y < boxes[i].bottom() ? 1 : 0;
    return found;
}

std::vector<Box> boxes_of(const std::vector<topo::draw::SwitchBox>& switches) {
    std::vector<Box> boxes;
    for (const auto& s : switches)
        boxes.push_back(s.box);
    return boxes;
}

struct Seen {
    std::multiset<std::uint32_t> hosts;
    std::multiset<std::size_t> switches;
    std::vector<Box> cells, ticks;
    int outside = 0;

    void unit(const topo::draw::UnitBox& unit) {
        std::vector<Box> within = boxes_of(unit.leaves);
        within.push_back(unit.title);
        for (const auto& leaf : unit.leaves)
            switches.insert(leaf.index);
        for (const auto& host : unit.hosts) {
            hosts.insert(host.host);
            cells.push_back(host.box);
            if (unit.domains.empty()) within.push_back(host.box);
            outside += !inside(host.strip, host.box);
            for (const auto& tick : host.ticks) {
                outside += !inside(tick.box, host.strip);
                ticks.push_back(tick.box);
            }
        }
        for (const auto& box : within)
            outside += !inside(box, unit.box);
        domains(unit, within);
        CHECK(overlaps(within) == 0);
    }

    // Each holds its title and its hosts' cells, clear of each other, and nothing else is in it.
    void domains(const topo::draw::UnitBox& unit, std::vector<Box>& within) {
        std::size_t framed = 0;
        for (const auto& domain : unit.domains) {
            within.push_back(domain.box);
            outside += !inside(domain.box, unit.box) + !inside(domain.title, domain.box);
            std::vector<Box> inner{domain.title};
            for (const auto& host : unit.hosts)
                if (std::count(domain.hosts.begin(), domain.hosts.end(), host.host) != 0) {
                    outside += !inside(host.box, domain.box);
                    inner.push_back(host.box);
                }
            framed += inner.size() - 1;
            CHECK(inner.size() == domain.hosts.size() + 1);
            CHECK(overlaps(inner) == 0);
        }
        CHECK((unit.domains.empty() || framed == unit.hosts.size()));
    }
};

Seen check_layout(const topo::Fabric& fabric) {
    const auto layout = topo::draw::lay_out(fabric);
    const Box page{0, 0, layout.width, layout.height};
    Seen seen;
    std::vector<Box> panels = boxes_of(layout.cores);
    for (const auto& pod : layout.pods) {
        panels.push_back(pod.box);
        std::vector<Box> within = boxes_of(pod.spines);
        within.push_back(pod.title);
        for (const auto& spine : pod.spines)
            seen.switches.insert(spine.index);
        for (const auto& unit : pod.units) {
            within.push_back(unit.box);
            seen.unit(unit);
        }
        for (const auto& box : within)
            seen.outside += !inside(box, pod.box);
        CHECK(overlaps(within) == 0);
    }
    if (layout.unitless) {
        panels.push_back(layout.unitless->box);
        seen.unit(*layout.unitless);
    }
    for (const auto* list : {&layout.cores, &layout.others})
        for (const auto& s : *list)
            seen.switches.insert(s.index);
    for (const auto& box : boxes_of(layout.others))
        panels.push_back(box);
    for (const auto& box : panels)
        seen.outside += !inside(box, page);
    CHECK(overlaps(panels) == 0);
    CHECK(overlaps(seen.cells) == 0);
    CHECK(overlaps(seen.ticks) == 0);
    CHECK(seen.outside == 0);
    CHECK(seen.hosts.size() == fabric.hosts.size());
    CHECK(std::set(seen.hosts.begin(), seen.hosts.end()).size() == fabric.hosts.size());
    CHECK(std::set(seen.switches.begin(), seen.switches.end()).size() == fabric.switches.size());
    return seen;
}

} // namespace

TEST_CASE("no two parts of a picture overlap, and none is missing") {
    for (const auto* spec :
         {"units=1 hosts=1 rails=1", "units=2 hosts=8", "units=4 hosts=32", "pods=3 units=2 hosts=7 rails=4",
          "pods=8 units=4 hosts=32", "pods=20 units=4 hosts=32",
          "units=5 hosts=3 rails=2 prefix=a-very-long-name-", "units=4 hosts=36 rails=4 domains=18",
          "units=2 hosts=7 rails=4 domains=3", "pods=16 units=4 hosts=36 rails=4 domains=18"}) {
        CAPTURE(spec);
        check_layout(made(spec));
    }
    for (const auto* spec : {"units=2 hosts=8 faults=15", "units=4 hosts=32 faults=15"}) {
        CAPTURE(spec);
        check_layout(made(spec));
    }
}

TEST_CASE("uneven fabrics have their place") {
    auto fabric = made("pods=2 units=3 hosts=8 rails=4");
    // A unit that is smaller, a host without cables, a storage HCA, an HCA with two ports, a lonely switch.
    std::erase_if(fabric.links, [](const topo::Link& link) { return link.a.host == 3; });
    fabric.hosts[7].hcas.push_back(
        {0x99, "mlx5_9", {}, topo::none, topo::Role::storage, {}, topo::none, topo::none, {}});
    fabric.hosts[7].hcas.back().ports.push_back({0x9a, 1, 0, topo::none, topo::none});
    fabric.hosts[9].hcas[0].ports.push_back({0x9b, 2, 0, topo::none, topo::none});
    fabric.switches.push_back({0x77, "lonely", 8, topo::none, topo::none});
    topo::derive(fabric);
    const auto seen = check_layout(fabric);
    // 48 hosts with 4 ports each, and the two that were added.
    CHECK(seen.ticks.size() == 48 * 4 + 2);
    check_layout(topo::Fabric{});
}

TEST_CASE("hosts of an NVLink domain stand together, in each unit, and those in none behind them") {
    auto fabric = made("units=2 hosts=6 rails=2");
    for (const std::size_t h : {1U, 3U, 8U})
        fabric.hosts[h].domain = "a";
    for (const std::size_t h : {0U, 2U})
        fabric.hosts[h].domain = "b";
    topo::derive(fabric);
    check_layout(fabric);
    const auto layout = topo::draw::lay_out(fabric);
    std::vector<std::pair<int, std::vector<std::uint32_t>>> seen;
    for (const auto& unit : layout.pods.at(0).units)
        for (const auto& domain : unit.domains)
            seen.emplace_back(domain.domain, domain.hosts);
    const int b = 0, a = 1; // by first host
    CHECK(seen ==
          decltype(seen){
              {b, {0, 2}}, {a, {1, 3}}, {topo::none, {4, 5}}, {a, {8}}, {topo::none, {6, 7, 9, 10, 11}}});
}

TEST_CASE("a host that lacks an HCA has an empty tick in its place") {
    auto fabric = made("units=1 hosts=4 rails=4");
    std::erase_if(fabric.links, [](const topo::Link& link) { return link.a.host == 2 && link.a.hca == 3; });
    fabric.hosts[2].hcas.pop_back();
    topo::derive(fabric);
    const auto layout = topo::draw::lay_out(fabric);
    const auto& cells = layout.pods.at(0).units.at(0).hosts;
    REQUIRE(cells.size() == 4);
    REQUIRE(cells[2].ticks.size() == 4);
    CHECK(cells[2].ticks[3].hca == topo::none);
    CHECK(cells[2].ticks[3].rail == 3);
    CHECK(cells[2].ticks[3].box.x - cells[2].box.x == cells[1].ticks[3].box.x - cells[1].box.x);
}

TEST_CASE("texts are clipped and broken at their width") {
    using topo::draw::clipped, topo::draw::wrapped;
    CHECK(clipped("short", 10, 100) == "short");
    CHECK(clipped("much too long", 10, 34) == "much…"); // "…" is as wide as its size
    CHECK(clipped("much too long", 10, 33) == "muc…");
    CHECK(clipped("ääää", 10, 16) == "ä…");
    CHECK(clipped("x", 10, 0) == "…");
    CHECK(wrapped("one two three", 10, 42, 3) == std::vector<std::string>{"one two", "three"});
    CHECK(wrapped("one two three", 10, 42, 1) == std::vector<std::string>{"one t…"});
    CHECK(wrapped("onetwothree four", 10, 30, 3) == std::vector<std::string>{"one…"});
    CHECK(wrapped("", 10, 30, 3) == std::vector<std::string>{""});
}

TEST_CASE("boxes of switches are called by what sets them apart") {
    auto fabric = made("units=2 hosts=4 rails=2 spines=4");
    std::vector<std::size_t> spines;
    for (std::size_t s = 0; s < fabric.switches.size(); ++s)
        if (fabric.switches[s].tier == 1) spines.push_back(s);
    const auto called = [&](std::vector<std::string> names) {
        for (std::size_t i = 0; i < spines.size(); ++i)
            fabric.switches[spines[i]].name = names[i];
        return topo::draw::switch_labels(fabric, spines);
    };
    using Labels = std::vector<std::string>;
    CHECK(called({"s-01", "s-02", "s-03", "s-04"}) == Labels{"01", "02", "03", "04"});
    CHECK(called({"A-01", "A-02", "B-03", "B-04"}) == Labels{"01", "02", "03", "04"});
    CHECK(called({"CORE1-001", "CORE1-002", "CORE2-001", "CORE2-002"}) ==
          Labels{"1-001", "1-002", "2-001", "2-002"});
    CHECK(called({"MF0", "MF0", "MF0", "MF0"}) == Labels{"0", "0", "0", "0"});
    CHECK(called({"storage-leaf-1", "storage-leaf-2", "storage-leaf-3", "storage-spine"}) ==
          Labels{"1", "2", "3", "spine"});
}

TEST_CASE("hosts with little in common keep both ends of their names") {
    auto fabric = made("units=1 hosts=5 rails=2");
    const char* const names[] = {"site-cache-01", "site-login-01", "site-slurm-01", "site-swift-01",
                                 "site-ufm-s-01"};
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
        fabric.hosts[h].name = names[h];
    topo::draw::Metrics metrics;
    metrics.density = topo::draw::Density::compact;
    metrics.cell.w = 45;
    metrics.label_text = 9;
    CHECK(topo::draw::host_labels(fabric, {0, 1, 2, 3, 4}, metrics) ==
          std::vector<std::string>{"ca…1", "lo…1", "sl…1", "sw…1", "uf…1"});
}

// Digits of common fonts are two thirds of their size wide.
TEST_CASE("a host's label leaves room for the mark of its finding") {
    auto fabric = made("pods=2 units=4 hosts=16 rails=4");
    for (std::size_t h = 0; h < fabric.hosts.size(); h += 3)
        fabric.hosts[h].name = "0xe09d730300af1" + std::to_string(100 + h);
    const int size = topo::draw::metrics(fabric, topo::draw::count_slots(fabric)).label_text;
    constexpr int mark = 13; // of a finding, with the gap to its right
    const auto layout = topo::draw::lay_out(fabric);
    for (const auto& pod : layout.pods)
        for (const auto& unit : pod.units)
            for (const auto& host : unit.hosts)
                CHECK(3 + topo::draw::text_width(host.label, size) * 107 / 100 + mark <= host.box.w);
}

TEST_CASE("the leaves of a unit are called alike, and a spine's box holds its label and a mark") {
    for (const auto* spec : {"pods=2 units=4 hosts=32", "units=4 hosts=32", "pods=8 units=4 hosts=32"}) {
        CAPTURE(spec);
        const auto fabric = made(spec);
        const int size = topo::draw::metrics(fabric, topo::draw::count_slots(fabric)).switch_text;
        constexpr int mark = 10;
        const auto layout = topo::draw::lay_out(fabric);
        for (const auto& pod : layout.pods) {
            for (const auto& spine : pod.spines) {
                CHECK(!spine.label.empty());
                CHECK(topo::draw::text_width(spine.label, size) + mark + 2 <= spine.box.w);
            }
            for (const auto& unit : pod.units) {
                std::set<std::string> forms;
                for (const auto& leaf : unit.leaves)
                    forms.insert(leaf.label.substr(0, leaf.label.find_first_of("0123456789")));
                CHECK(forms.size() == 1);
            }
        }
    }
}

// They would run behind the units above.
TEST_CASE("uplinks are drawn at once where all units of a pod stand in one row") {
    for (const auto* spec :
         {"pods=5 units=4 hosts=8 rails=1 spines=4 globals=1", "units=2 hosts=8 rails=4"}) {
        CAPTURE(spec);
        for (const auto& pod : topo::draw::lay_out(made(spec)).pods)
            for (const auto& unit : pod.units)
                CHECK((pod.many || unit.box.y == pod.units.front().box.y));
    }
}

TEST_CASE("hosts in no unit have cells for what sets their names apart") {
    auto fabric = made("pods=2 units=4 hosts=16 rails=4");
    const char* const names[] = {"site-cache-01", "site-login-01", "site-slurm-01", "ubuntu"};
    for (std::size_t h = 0; h < 4; ++h) {
        fabric.hosts[h].name = names[h];
        for (auto& hca : fabric.hosts[h].hcas) {
            hca.role = topo::Role::storage;
            hca.rail = topo::none;
        }
    }
    topo::derive(fabric);
    const auto layout = topo::draw::lay_out(fabric);
    REQUIRE(layout.unitless);
    std::set<std::string> labels;
    for (const auto& host : layout.unitless->hosts)
        labels.insert(host.label);
    CHECK(labels == std::set<std::string>{names[0], names[1], names[2], names[3]});
    check_layout(fabric);
}
