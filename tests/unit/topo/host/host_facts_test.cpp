#include "topo/host/host_facts.hpp"

#include <catch2/catch.hpp>

namespace {

// HCAs and GPUs of a host by how many ancestors they share.
topo::HostFacts host(std::vector<std::vector<int>> shared, std::size_t gpus) {
    topo::HostFacts facts;
    facts.host = "n001";
    for (std::size_t g = 0; g < gpus; ++g)
        facts.gpus.push_back({"0000:" + std::to_string(20 + g) + ":00.0", topo::none});
    for (std::size_t h = 0; h < shared.size(); ++h) {
        topo::HcaFacts hca;
        hca.device = "mlx5_" + std::to_string(h);
        hca.guid = h + 1;
        hca.pci = "0000:" + std::to_string(10 + h) + ":00.0";
        hca.shared = shared[h];
        facts.hcas.push_back(hca);
    }
    return facts;
}

} // namespace

TEST_CASE("each GPU gets the HCA on its switch", "[host]") {
    const auto facts = host({{1, 1, 2, 5}, {1, 1, 5, 2}, {2, 5, 1, 1}, {5, 2, 1, 1}}, 4);
    CHECK(topo::pair_gpus(facts) == std::vector<int>{3, 2, 1, 0});
}

TEST_CASE("a tie of ancestors is settled by NUMA node, then by PCI address, one to one", "[host]") {
    auto facts = host({{1, 1}, {1, 1}}, 2);
    CHECK(topo::pair_gpus(facts) == std::vector<int>{0, 1});
    facts.hcas[0].numa = facts.gpus[1].numa = 1;
    facts.hcas[1].numa = facts.gpus[0].numa = 0;
    CHECK(topo::pair_gpus(facts) == std::vector<int>{1, 0});
    std::swap(facts.hcas[0], facts.hcas[1]); // the order they are listed in means nothing
    CHECK(topo::pair_gpus(facts) == std::vector<int>{0, 1});
}

TEST_CASE("HCAs left over share the nearest GPU, HCAs left out have none", "[host]") {
    const auto facts = host({{5, 1}, {4, 1}, {1, 5}, {1, 1}}, 2);
    CHECK(topo::pair_gpus(facts) == std::vector<int>{0, 0, 1, 0});
    CHECK(topo::pair_gpus(facts, {false, true, true, true}) == std::vector<int>{topo::none, 0, 1, 0});
    const auto few = host({{1, 1, 5, 5}}, 4);
    CHECK(topo::pair_gpus(few) == std::vector<int>{2});
    CHECK(topo::pair_gpus(host({{}}, 0)) == std::vector<int>{topo::none});
}

TEST_CASE("facts survive their line", "[host]") {
    auto facts = host({{5, 1}, {1, 5}}, 2);
    facts.hcas[1].numa = 1;
    facts.hcas[1].gpu = 1;
    facts.hcas[0].guid = 0;
    facts.gpus[0].numa = 0;
    const auto line = topo::print_host_facts(facts);
    CHECK(line.find('\n') == std::string::npos);
    const auto again = topo::parse_host_facts(line);
    REQUIRE(again);
    CHECK(topo::print_host_facts(*again) == line);
    CHECK(again->hcas[0].shared == std::vector<int>{5, 1});
    for (const auto& domains : {std::vector<std::string>{"6b1f.1"}, {"6b1f.1", "6b1f.2"}}) {
        facts.domains = domains;
        const auto told = topo::parse_host_facts(topo::print_host_facts(facts));
        REQUIRE(told);
        CHECK(told->domains == domains);
    }
    CHECK(topo::print_host_facts(facts).find(R"("domain":)") == std::string::npos); // not one of several
}

TEST_CASE("facts that cannot be are refused by field", "[host]") {
    const auto error = [](const std::string& text) {
        const auto facts = topo::parse_host_facts(text);
        REQUIRE_FALSE(facts);
        return facts.error().text;
    };
    CHECK(error(R"({"railyard_host":1,"hcas":[]})") == "host: is missing");
    CHECK(error(R"({"railyard_host":1,"host":"n 1","hcas":[]})") ==
          "top level: host: a word of printable characters is wanted");
    CHECK(error(R"({"railyard_host":1,"host":"n1","domains":["a","b c"],"hcas":[]})") ==
          "domains[1]: a word of printable characters is wanted");
    CHECK(error(R"({"railyard_host":1,"host":"n1","hcas":[{"device":"a","gpu":0}]})") ==
          "hcas[0]: gpu: there is no GPU 0; the host has 0");
    CHECK(error(R"({"railyard_host":1,"host":"n1","hcas":[{"device":"a","shared":[1]}],"gpus":[]})") ==
          "hcas[0].shared: a number for each of the 0 GPUs is wanted");
    CHECK(
        error(
            R"({"railyard_host":1,"host":"n1","hcas":[{"device":"a","guid":"1"},{"device":"b","guid":"1"}]})") ==
        "hcas[1]: guid: 0x0000000000000001 stands twice");
}
