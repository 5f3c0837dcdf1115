#include "topo/host/gather.hpp"

#include "topo/derive.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace {

topo::Fabric fabric(std::string_view words) {
    const auto spec = topo::parse_synth(words);
    REQUIRE(spec);
    auto made = topo::synthesise(*spec);
    REQUIRE(made);
    return *std::move(made);
}

// Facts as the hosts would report them, HCA i beside GPU order[i].
std::string facts_of(const topo::Fabric& fabric, const std::vector<int>& order, std::size_t gpus,
                     std::string_view before = "", std::string_view domain = "") {
    std::string text;
    for (const auto& host : fabric.hosts) {
        topo::HostFacts facts;
        facts.host = host.name + std::string(domain);
        for (std::size_t g = 0; g < gpus; ++g)
            facts.gpus.push_back({"0000:" + std::to_string(10 + g) + ":00.0", topo::none});
        for (std::size_t i = 0; i < host.hcas.size(); ++i) {
            topo::HcaFacts hca{
                host.hcas[i].device, host.hcas[i].guid, "0000:" + std::to_string(50 + i) + ":00.0",
                topo::none,          topo::none,        {}};
            for (std::size_t g = 0; g < gpus; ++g)
                hca.shared.push_back(static_cast<int>(g) == order[i] ? 5 : 1);
            facts.hcas.push_back(hca);
        }
        text += std::string(before) + topo::print_host_facts(facts) + "\n";
    }
    return text;
}

topo::GatherReport gather(topo::Fabric& fabric, std::string_view text) {
    const auto gathering = topo::parse_gathering(text, "t");
    if (!gathering) FAIL(gathering.error().text);
    return topo::merge_facts(fabric, *gathering);
}

std::vector<int> rails(const topo::Host& host) { // by device
    std::vector<std::pair<std::string, int>> sorted;
    for (const auto& hca : host.hcas)
        sorted.emplace_back(hca.device, hca.rail);
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> rails;
    for (const auto& [device, rail] : sorted)
        rails.push_back(rail);
    return rails;
}

} // namespace

TEST_CASE("rail r is the HCA nearest GPU r; units stay as they were", "[gather]") {
    auto made = fabric("units=2 hosts=4 rails=4");
    const auto report = gather(made, facts_of(made, {2, 0, 3, 1}, 4, "n: "));
    CHECK(report.hosts == 8);
    CHECK(report.rails_changed == 32);
    CHECK(report.missing.empty());
    CHECK(report.contradictions.empty());
    REQUIRE(made.units.size() == 2);
    for (const auto& host : made.hosts) {
        CHECK(rails(host) == std::vector<int>{2, 0, 3, 1});
        CHECK(host.gpus.size() == 4);
        for (std::size_t i = 0; i < host.hcas.size(); ++i) {
            CHECK(host.hcas[i].rail == static_cast<int>(i)); // in rail order
            CHECK(host.hcas[i].gpu == static_cast<int>(i));
        }
    }
}

TEST_CASE("two GPUs to an HCA and two HCAs to a GPU", "[gather]") {
    auto made = fabric("hosts=2 rails=2");
    gather(made, facts_of(made, {3, 1}, 4));
    CHECK(rails(made.hosts[0]) == std::vector<int>{1, 0});
    CHECK(made.hosts[0].hcas[0].gpu == 1);
    auto wide = fabric("hosts=2 rails=4");
    gather(wide, facts_of(wide, {1, 0, 1, 0}, 2));
    CHECK(rails(wide.hosts[0]) == std::vector<int>{2, 0, 3, 1});
}

TEST_CASE("hosts without GPUs keep their rails and get their places", "[gather]") {
    auto made = fabric("hosts=2 rails=2");
    const auto report = gather(made, facts_of(made, {0, 0}, 0));
    CHECK(rails(made.hosts[0]) == std::vector<int>{0, 1});
    CHECK(made.hosts[0].hcas[0].pci == "0000:50:00.0");
    CHECK(report.notes ==
          std::vector<std::string>{"rails are left as they were where GPUs do not tell them: n[001-002]"});
}

TEST_CASE("names with a domain, the same facts twice, GUIDs of ports", "[gather]") {
    auto made = fabric("hosts=2 rails=2");
    const auto text = facts_of(made, {1, 0}, 2, "", ".example.org");
    const auto report = gather(made, text + text);
    CHECK(report.hosts == 2);
    CHECK(report.contradictions.empty());
    auto ports = fabric("hosts=2 rails=2"); // as ibnetdiscover -p lists it
    for (auto& host : ports.hosts)
        for (auto& hca : host.hcas)
            hca.guid = hca.ports[0].guid;
    const auto by_device = gather(ports, text);
    CHECK(by_device.contradictions.empty());
    CHECK(rails(ports.hosts[1]) == std::vector<int>{1, 0});
}

TEST_CASE("an exchanged HCA and two tales of one host are contradictions", "[gather]") {
    auto made = fabric("hosts=2 rails=2");
    auto text = facts_of(made, {0, 1}, 2);
    auto other = text;
    other.replace(other.find("0010\""), 4, "beef");
    CHECK(gather(made, other).contradictions.size() == 1);
    auto twice = text;
    twice.replace(twice.find("[5,1]"), 5, "[1,5]");
    CHECK(gather(made, text + twice).contradictions.size() == 1);
}

TEST_CASE("facts tell NVLink domains, the file their names", "[gather]") {
    auto made = fabric("hosts=8 rails=2");
    const auto gather_domains = [&](const std::vector<std::string>& said,
                                    const topo::Rules* rules = nullptr) {
        topo::Gathering gathering;
        for (std::size_t h = 0; h < said.size(); ++h) {
            auto& facts = gathering.entries.emplace_back().facts;
            facts.host = made.hosts[h].name;
            if (!said[h].empty()) facts.domains = {said[h]};
        }
        return topo::merge_facts(made, gathering, rules);
    };
    const auto domains = [&] {
        std::vector<std::string> names;
        for (const auto& host : made.hosts)
            names.push_back(host.domain);
        return names;
    };
    using Names = std::vector<std::string>;
    gather_domains({"a", "a", "a", "b", "b", "b", "", ""});
    CHECK(domains() == Names{"a", "a", "a", "b", "b", "b", "", ""});
    CHECK(made.domains.size() == 2); // derived again

    // A name of the administrator's stays, and goes to hosts that come to the domain; of one that is silent,
    // too.
    for (const std::size_t h : {0U, 1U, 2U})
        made.hosts[h].domain = "rack7";
    gather_domains({"a", "a", "", "b", "b", "b", "a", ""});
    CHECK(domains() == Names{"rack7", "rack7", "rack7", "b", "b", "b", "rack7", ""});

    // One that was parted, and one that others joined, are not what they were.
    gather_domains({"a", "c", "a", "b", "b", "b", "b", ""});
    CHECK(domains() == Names{"a", "c", "a", "b", "b", "b", "b", ""});

    const auto rules = topo::parse_rules("[[rule]]\nhosts = \"n00[4-5]\"\ndomain = \"mine\"\n", "rules");
    if (!rules) FAIL(rules.error().text);
    gather_domains({"a", "a", "a", "b", "b", "b", "b", ""}, &*rules);
    CHECK(domains() == Names{"a", "a", "a", "mine", "mine", "b", "b", ""});

    // A host that alone was asked again, as it has been moved to another rack: NVML's own names are no one's
    // choice.
    const std::string one = "6b1f0000-0000-0000-0000-00000000000a.1",
                      two = "6b1f0000-0000-0000-0000-00000000000a.2";
    for (auto& host : made.hosts)
        host.domain.clear();
    gather_domains({one, one, one, two, two, two, two, two});
    gather_domains({two});
    CHECK(domains() == Names{two, one, one, two, two, two, two, two});
}

TEST_CASE("GPUs of one host in several domains give it none, and are told", "[gather]") {
    auto made = fabric("hosts=1 rails=1");
    made.hosts[0].domain = "rack7";
    topo::Gathering gathering;
    auto& facts = gathering.entries.emplace_back().facts;
    facts.host = "n001";
    facts.domains = {"6b1f.1", "6b1f.2"};
    const auto report = topo::merge_facts(made, gathering);
    CHECK(made.hosts[0].domain == "rack7");
    CHECK(report.missing == std::vector<std::string>{
                                "GPUs of n001 are in several NVLink domains, none is taken: 6b1f.1, 6b1f.2"});
}

TEST_CASE("facts of sixteen thousand hosts take seconds at most", "[gather]") {
    auto made = fabric("pods=16 units=32 hosts=32 rails=8");
    const auto text = facts_of(made, {7, 6, 5, 4, 3, 2, 1, 0}, 8, "n001: ");
    const auto report = gather(made, text);
    CHECK(report.hosts == 16384);
    CHECK(report.rails_changed == 131072);
}
