#include "spank/rank_lists.hpp"

#include "../topo/fabrics.hpp"

#include "base/hostlist.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>

namespace {

using spank::RankLists;
using Names = std::vector<std::string>;
using sched::RankOrder;

// Units of three hosts whose names take turns: n1 n3 n5 | n2 n4 n6.
topo::Fabric interleaved() {
    auto fabric = made("units=2 hosts=3 rails=2 prefix=x");
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
        fabric.hosts[h].name = "n" + std::to_string(h % 3 * 2 + h / 3 + 1);
    topo::derive(fabric);
    return fabric;
}

const Names all = {"n1", "n2", "n3", "n4", "n5", "n6"};

std::string shown(const RankLists& lists) {
    return base::fold_hostlist(lists.ranks) + " + " + base::fold_hostlist(lists.spares);
}

std::size_t crossings(const topo::Fabric& fabric, const Names& ring) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < ring.size(); ++i)
        if (fabric.hosts[*fabric.find_host(ring[i])].unit !=
            fabric.hosts[*fabric.find_host(ring[(i + 1) % ring.size()])].unit)
            ++count;
    return count;
}

std::map<std::string, std::string> variables_of(const RankLists& lists, const Names& hosts,
                                                const std::string& file,
                                                const std::map<std::string, std::string>& before = {}) {
    std::map<std::string, std::string> values;
    const auto get = [&](const std::string& name) -> std::optional<std::string> {
        const auto found = before.find(name);
        if (found == before.end()) return {};
        return found->second;
    };
    for (const auto& [name, value] : spank::rank_environment(lists, hosts, file, get))
        values[name] = value;
    return values;
}

} // namespace

TEST_CASE("rank lists: a ring leaves each unit once, and begins at Slurm's first host") {
    const auto fabric = interleaved();
    CHECK(crossings(fabric, all) == 6);
    const auto lists = spank::rank_lists(fabric, all, {}, 0, RankOrder::ring);
    CHECK(lists.ranks == Names{"n1", "n3", "n5", "n2", "n4", "n6"});
    CHECK(crossings(fabric, lists.ranks) == 2);
    // The first host stands in the middle of the second unit.
    const auto turned =
        spank::rank_lists(fabric, {"n4", "n1", "n2", "n3", "n5", "n6"}, {}, 0, RankOrder::ring);
    CHECK(turned.ranks == Names{"n4", "n2", "n6", "n1", "n3", "n5"});
    CHECK(crossings(fabric, turned.ranks) == 2);
}

TEST_CASE("rank lists: as many edges cross units as there are units, wherever the job begins") {
    const auto fabric = made("pods=3 units=3 hosts=4 rails=2");
    std::uint32_t seed = 1;
    for (int round = 0; round < 200; ++round) {
        Names hosts;
        std::set<int> units;
        for (const auto& host : fabric.hosts) {
            seed = seed * 1664525 + 1013904223;
            if (seed >> 30 == 0) continue;
            hosts.push_back(host.name);
            units.insert(host.unit);
        }
        seed = seed * 1664525 + 1013904223;
        std::rotate(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>((seed >> 8) % hosts.size()),
                    hosts.end());
        const auto lists = spank::rank_lists(fabric, hosts, {}, 0, RankOrder::ring);
        INFO(round << ": " << shown(lists));
        CHECK(crossings(fabric, lists.ranks) == (units.size() == 1 ? 0 : units.size()));
        CHECK(lists.ranks.front() == hosts.front());
        CHECK(spank::same_hosts(lists, hosts));
    }
}

TEST_CASE("rank lists: the first host is no spare where its unit has another") {
    const auto fabric = interleaved();
    const auto lists =
        spank::rank_lists(fabric, {"n6", "n1", "n2", "n3", "n4", "n5"}, {}, 2, RankOrder::ring);
    CHECK(lists.ranks.front() == "n6");
    CHECK(lists.ranks.size() == 4);
    CHECK(lists.spares.size() == 2);
    // Of four hosts of a segment of three, the one that is over is alone in its unit.
    const auto alone = spank::rank_lists(fabric, {"n2", "n1", "n3", "n5"}, {3}, 1, RankOrder::ring);
    CHECK(shown(alone) == "n[1,3,5] + n2");
}

TEST_CASE("rank lists: segments stay whole") {
    const auto fabric = made("units=3 hosts=4 rails=2");
    Names hosts;
    for (const auto& host : fabric.hosts)
        if (host.name != "n002") hosts.push_back(host.name);
    std::rotate(hosts.begin(), hosts.begin() + 5, hosts.end());
    const auto lists = spank::rank_lists(fabric, hosts, {2}, 1, RankOrder::ring);
    REQUIRE(lists.ranks.size() == 10);
    CHECK(lists.ranks.front() == hosts.front());
    for (std::size_t i = 0; i < lists.ranks.size(); i += 2)
        CHECK(fabric.hosts[*fabric.find_host(lists.ranks[i])].unit ==
              fabric.hosts[*fabric.find_host(lists.ranks[i + 1])].unit);
}

TEST_CASE("rank lists: order none, and hosts the fabric does not know, leave Slurm's order") {
    const auto fabric = interleaved();
    CHECK(shown(spank::rank_lists(fabric, all, {}, 0, RankOrder::none)) == "n[1-6] + ");
    const auto spares = spank::rank_lists(fabric, all, {}, 2, RankOrder::none);
    CHECK(std::is_sorted(spares.ranks.begin(), spares.ranks.end()));
    CHECK(spares.spares.size() == 2);
    CHECK(shown(spank::rank_lists(fabric, {"n1", "n2", "cloud1", "n3"}, {}, 1, RankOrder::ring)) ==
          "n[1-2],cloud1 + n3");
    CHECK(shown(spank::rank_lists(fabric, {"x"}, {}, 5, RankOrder::ring)) == "x + ");
    CHECK(spank::rank_lists(fabric, {}, {}, 5, RankOrder::ring) == RankLists{});
}

TEST_CASE("rank lists: those of another job are recognised") {
    const RankLists lists = {{"b", "a"}, {"c"}};
    CHECK(spank::same_hosts(lists, {"a", "b", "c"}));
    CHECK_FALSE(spank::same_hosts(lists, {"a", "b"}));
    CHECK_FALSE(spank::same_hosts(lists, {"a", "b", "d"}));
    CHECK_FALSE(spank::same_hosts({}, {}));
}

TEST_CASE("rank lists: what railrun prints reads back, and half of it is nothing") {
    CHECK(spank::read_rank_lists("RAIL_NODELIST=n[4,6]\nRAIL_SPARE_NODELIST=n2\n") ==
          RankLists{{"n4", "n6"}, {"n2"}});
    for (const char* none :
         {"", "RAIL_NODELIST=n4\n", "RAIL_SPARE_NODELIST=n4", "RAIL_NODELIST=n[4\nRAIL_SPARE_NODELIST=n2\n",
          "RAIL_NODELIST\nRAIL_SPARE_NODELIST\n", "railrun: n2 fails\n"})
        CHECK_FALSE(spank::read_rank_lists(none));
}

TEST_CASE("rank lists: Slurm's counts") {
    using Counts = std::vector<std::uint32_t>;
    CHECK(spank::expand_counts("2(x3),1") == Counts{2, 2, 2, 1});
    CHECK(spank::expand_counts("16") == Counts{16});
    for (const char* bad : {"", "x", "2(x", "2(x3", "2(3)", "2,", ",2", "2;3", "-1", "2(x99999999)"})
        CHECK(spank::expand_counts(bad).empty());
}

TEST_CASE("rank lists: a hostfile has a line for each task") {
    const RankLists lists = {{"n1", "n3", "n2"}, {"n4"}};
    const std::string head = "# Made by Railyard: hosts in the order of ranks, once for each task.\n";
    CHECK(spank::hostfile(lists, {"n1", "n2", "n3", "n4"}, {1, 2, 3, 1}) ==
          head + "n1\nn3\nn3\nn3\nn2\nn2\n");
    CHECK(spank::hostfile(lists, {"n1", "n2", "n3", "n4"}, {}) == head + "n1\nn3\nn2\n");
}

TEST_CASE("rank lists: launchers get variables where Slurm's order is not ours") {
    const RankLists lists = {{"n1", "n3", "n2"}, {"n4"}};
    const Names hosts = {"n1", "n2", "n3", "n4"};
    auto values = variables_of(lists, hosts, "/run/h");
    CHECK(values.at("RAIL_NODELIST") == "n[1,3,2]");
    CHECK(values.at("RAIL_NUM_NODES") == "3");
    CHECK(values.at("RAIL_SPARE_NODELIST") == "n4");
    CHECK(values.at("RAIL_HOSTFILE") == "/run/h");
    CHECK(values.at("OMPI_MCA_orte_default_hostfile") == "/run/h");
    CHECK(values.at("OMPI_MCA_rmaps_base_mapping_policy") == "seq");
    CHECK(values.at("RAIL_LAUNCHERS") ==
          "OMPI_MCA_orte_default_hostfile=/run/h OMPI_MCA_rmaps_base_mapping_policy=seq");
    CHECK(variables_of(lists, hosts, "").size() == 3);
    CHECK(variables_of({hosts, {}}, hosts, "/run/h").size() == 3); // in order: mpirun as usual
    CHECK(variables_of(lists, hosts, "/run/h", {{"OMPI_MCA_rmaps_base_mapping_policy", "node"}})
              .count("OMPI_MCA_orte_default_hostfile") == 0);
}
