// Names that changed among hosts.
#include "topo/diff/diff.hpp"

#include "topo/guid.hpp"
#include "unit/topo/fabrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace {

using topo::Fabric;
using topo::Link;

const std::string spec = "pods=2 units=2 hosts=4 rails=4";

Fabric changed(Fabric fabric, const std::function<void(Fabric&)>& change) {
    change(fabric);
    topo::derive(fabric);
    return fabric;
}

// "CODE: TEXT", a line each.
std::string texts(const Fabric& before, const Fabric& after) {
    std::string all;
    for (const auto& change : topo::diff(before, after))
        all += (all.empty() ? "" : "\n") + fmt::format("{}: {}", change.code, change.text);
    return all;
}

} // namespace

TEST_CASE("hosts that rotated their names, or all have others, are one change") {
    const auto before = made(spec);
    const auto rotated = changed(before, [](Fabric& f) {
        auto first = f.hosts[0].name;
        f.hosts[0].name = f.hosts[1].name;
        f.hosts[1].name = f.hosts[2].name;
        f.hosts[2].name = std::move(first);
    });
    CHECK(texts(before, rotated) ==
          "host.renamed: n001, n002, n003 have rotated their names, not their HCAs: "
          "each is called as the next one was");
    const auto renamed = changed(before, [](Fabric& f) {
        for (auto& host : f.hosts)
            host.name.replace(0, 1, "dgx");
    });
    CHECK(texts(before, renamed) ==
          "host.renamed: 16 have other names, with the same HCAs: n[001-016] are now "
          "called dgx[001-016]");
}

TEST_CASE("two hosts of one name are one change, there and back") {
    const auto before = made(spec);
    const auto after = changed(before, [](Fabric& f) { // n016's HCAs are described as n001's
        auto& to = f.hosts[0];
        auto& from = f.hosts[15];
        for (Link& link : f.links)
            for (topo::End* end : {&link.a, &link.b})
                if (end->host == 15)
                    *end = {0, end->hca + static_cast<int>(to.hcas.size()), topo::none, end->port};
        for (auto& hca : from.hcas) {
            hca.rail += 4;
            to.hcas.push_back(hca);
        }
        f.hosts.pop_back();
    });
    CHECK(texts(before, after) ==
          "host.merged: all 4 HCAs of n016 are described as n001's now, beside its own: two "
          "hosts have one name");
    CHECK(texts(after, before) == "host.parted: 4 HCAs that were described as n001's are n016's now");
}

namespace {

// The HCAs of a host as hosts of their own, each described so.
Fabric nameless(const Fabric& fabric, std::size_t host, const std::string& described_as) {
    return changed(fabric, [&](Fabric& f) {
        const auto hcas = f.hosts[host].hcas;
        for (std::size_t i = 0; i < hcas.size(); ++i) {
            auto& alone = i == 0 ? f.hosts[host] : f.hosts.emplace_back();
            alone.name = topo::format_guid(hcas[i].guid);
            alone.hcas = {hcas[i]};
            alone.hcas.front().rail = topo::none;
            alone.hcas.front().role = topo::Role::storage;
            alone.hcas.front().device = described_as.empty()
                                            ? "MT4129 ConnectX7"
                                            : fmt::format("{} {}", described_as, hcas[i].device);
            for (Link& link : f.links)
                for (topo::End* end : {&link.a, &link.b})
                    if (end->host == static_cast<int>(host) && end->hca == static_cast<int>(i) && i > 0)
                        *end = {static_cast<int>(f.hosts.size()) - 1, 0, topo::none, end->port};
        }
    });
}

} // namespace

TEST_CASE("HCAs that lost their host's name, or got another's, are one change a host") {
    const auto before = made(spec);
    const auto lost = nameless(before, 4, "");
    CHECK(texts(before, lost) ==
          "hca.nameless: all 4 HCAs of n005 are described as no host's any more; let rdma-ndd set their "
          "descriptions");
    CHECK(texts(lost, before) == "hca.named: all 4 HCAs of n005 were described as no host's");
    const auto twins = nameless(before, 4, "n003");
    CHECK(texts(before, twins) ==
          "host.merged: all 4 HCAs of n005 are described as n003's now, beside its own: two hosts have one "
          "name");
    CHECK(texts(twins, before) == "host.parted: all 4 HCAs of n005 were described as n003's");
    CHECK(topo::diff(before, twins).front().ends ==
          std::vector<std::string>{"n003", "n005", "0x946dae0000050010", "0x946dae0000050020",
                                   "0x946dae0000050030", "0x946dae0000050040"});
    // Three of one name.
    CHECK(topo::diff(before, nameless(twins, 9, "n003")).size() == 2);
}

TEST_CASE("HCAs of a host that have each other's names, and of all hosts, are one change") {
    const auto before = made(spec);
    const auto renamed = [&](std::size_t hosts) {
        return changed(before, [&](Fabric& f) {
            for (std::size_t h = 0; h < hosts; ++h)
                for (std::size_t i = 0; i < 4; ++i) {
                    f.hosts[h].hcas[i].device = fmt::format("mlx5_{}", (i + 1) % 4);
                    f.hosts[h].hcas[i].rail = static_cast<int>((i + 1) % 4);
                }
        });
    };
    CHECK(texts(before, renamed(1)) ==
          "hca.renamed: 4 HCAs of n001 have other names: mlx5_0 is now called mlx5_1 (rail 1 instead of "
          "rail 0), mlx5_1 is now called mlx5_2 (rail 2 instead of rail 1), mlx5_2 is now called mlx5_3 "
          "(rail 3 instead of rail 2), mlx5_3 is now called mlx5_0 (rail 0 instead of rail 3)");
    CHECK(topo::diff(before, renamed(3)).size() == 1);
    CHECK(topo::diff(before, renamed(16)).size() == 1);
}

TEST_CASE("cables that were exchanged alike in several hosts are one change") {
    const auto before = made(spec);
    // The cables of these HCAs of these hosts each to where the next one was.
    const auto rotated = [&](int first, int hosts, std::vector<int> hcas) {
        return changed(before, [&](Fabric& f) {
            for (int h = first; h < first + hosts; ++h)
                for (Link& link : f.links)
                    for (topo::End* end : {&link.a, &link.b})
                        if (const auto i = std::find(hcas.begin(), hcas.end(), end->hca);
                            end->host == h && i != hcas.end()) {
                            end->hca = i == hcas.begin() ? hcas.back() : *std::prev(i);
                        }
        });
    };
    CHECK(texts(before, rotated(2, 1, {1, 3}))
              .starts_with("cable.swapped: the cables of n003 mlx5_1/1 (rail 1)"));
    CHECK(texts(before, rotated(2, 3, {1, 3})) ==
          "cable.swapped: the cables of mlx5_1 (rail 1) and mlx5_3 (rail 3) of 3 hosts, n[003-005], were "
          "swapped");
    CHECK(texts(before, rotated(0, 16, {0, 1, 2, 3})) ==
          "cable.rotated: the cables of mlx5_0, mlx5_1, mlx5_2, mlx5_3 of 16 hosts, n[001-016], were "
          "rotated: each is where the next one was");
}

TEST_CASE("cables that went from one leaf to one other are one change") {
    const auto before = made(spec);
    const auto after = changed(before, [](Fabric& f) {
        std::uint8_t port = 50;
        for (Link& link : f.links)
            for (auto [end, far] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)})
                if (end->host != topo::none && end->host < 3 && end->hca == 1)
                    *far = {topo::none, topo::none, far->switch_ + 1, port++};
    });
    CHECK(texts(before, after) ==
          "cable.moved: 3 cables, mlx5_1 of n[001-003], were moved from leaf-su1-r1 to leaf-su1-r2");
}

TEST_CASE("what happens to one of two switches of one name is told with its GUID") {
    auto fabric = made(spec);
    auto& other = *std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                [](const topo::Switch& s) { return s.name == "leaf-su1-r1"; });
    other.name = "leaf-su1-r0";
    topo::derive(fabric);
    const auto before = fabric;
    other.ports = 40;
    CHECK(texts(before, fabric) == fmt::format("switch.ports: leaf-su1-r0 ({}) has 40 ports instead of 64",
                                               topo::format_guid(other.guid)));
}

// The new name was listed once for each switch.
TEST_CASE("switches that all got one name are one change that says it once") {
    const auto before = made("units=1 hosts=4 rails=4");
    const auto after = changed(before, [](Fabric& f) {
        for (auto& one : f.switches)
            one.name = "Quantum-2";
    });
    CHECK(texts(before, after) ==
          "switch.renamed: 4 have other names, with the same GUID: leaf-su1-r[0-3] are "
          "now called Quantum-2");
}
