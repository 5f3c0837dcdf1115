// Ports that no job needs: what becomes of them moves nobody.
#include "unit/restart/watch/sound_host.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace restart;
using test::Host;

namespace {

struct Listed : Host {
    explicit Listed(std::vector<ListedPort> ports) {
        sample.listed = Listing{"digest", std::move(ports), {}};
        run(5s);
    }
    PortSample& port(std::size_t index) { return sample.ib->ports.at(index); }
};

bool evicts(const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [](const auto& finding) { return finding.severity >= Severity::evict; });
}

} // namespace

TEST_CASE("a port of an HCA that the fabric file does not list moves nobody, down or gone") {
    Listed host({test::listed(0, "mlx5_0")});
    CHECK(host.run(1min).empty());
    auto& other = host.port(1);
    other.state = "DOWN";
    other.phys_state = "Polling";
    auto findings = host.run(1min);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == "ib.unlisted_down");
    CHECK(findings[0].component == "mlx5_1:1");
    CHECK(findings[0].severity == Severity::info);
    CHECK(findings[0].evidence.find("no job is moved for it") != std::string::npos);
    other.state = "ACTIVE";
    other.rate_gbps = 100;
    other.pcie_width = 8;
    for (auto& [name, value] : other.counters)
        value += 100'000;
    CHECK(host.run(2h, 5s).empty());
    host.sample.ib->ports.pop_back();
    findings = host.run(1min);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == "ib.unlisted_down");
    // The one that is listed still does.
    host.port(0).state = "DOWN";
    CHECK(evicts(host.run(1min)));
}

TEST_CASE("a virtual function that is given away or comes back moves nobody, whatever is listed") {
    Host host;
    host.sample.ib->ports[1].virtual_function = true;
    CHECK(host.run(10s).empty());
    const auto port = host.sample.ib->ports.back();
    host.sample.ib->ports.pop_back();
    CHECK(host.run(1min).empty());
    host.sample.ib->ports.push_back(port);
    CHECK(host.run(1min).empty());
    host.sample.ib->ports.back().state = "DOWN";
    const auto findings = host.run(1min);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::info);
    // Listed it is a port as any other.
    Listed guest({test::listed(0, "mlx5_0"), test::listed(1, "mlx5_1")});
    guest.port(1).virtual_function = true;
    guest.run(10s);
    guest.port(1).state = "DOWN";
    CHECK(evicts(guest.run(1min)));
}

TEST_CASE("an HCA that works in a listed one's place is judged as that, and so are all beside a file of "
          "another host") {
    Listed exchanged({test::listed(7, "mlx5_0"), test::listed(1, "mlx5_1")});
    exchanged.port(0).state = "DOWN";
    CHECK(evicts(exchanged.run(1min)));
    Listed another({test::listed(8, "HCA-1"), test::listed(9, "HCA-2")});
    another.port(0).state = "DOWN";
    CHECK(evicts(another.run(1min)));
    CHECK(another.judge.port_names().empty());
    // Where the file does not tell all GUIDs, which ports it means is not known.
    Host host;
    host.sample.listed = Listing{"digest", {test::listed(0, "mlx5_0")}, "no GUID of 1 of its 2 HCAs"};
    host.run(5s);
    host.sample.ib->ports[1].state = "DOWN";
    CHECK(evicts(host.run(1min)));
}

TEST_CASE("what the fabric file calls a port is told where the host calls it otherwise") {
    Listed host({test::listed(0, "HCA-1"), test::listed(1, "mlx5_1")});
    REQUIRE(host.judge.port_names().size() == 1);
    CHECK(host.judge.port_names()[0] == PortName{"mlx5_0:1", "HCA-1:1"});
    host.sample.listed = Listing{};
    host.run(1s);
    CHECK(host.judge.port_names().empty());
}
