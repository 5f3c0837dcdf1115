#include "topo/host/kernel_hcas.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>

#include <fstream>

namespace {

topo::Hca hca(topo::Guid guid, const std::string& device) {
    topo::Hca made;
    made.guid = guid;
    made.device = device;
    made.ports.emplace_back().guid = guid + 1;
    return made;
}

void put(const std::filesystem::path& sys, const std::string& device, const std::string& guid) {
    const auto folder = sys / "class/infiniband" / device;
    std::filesystem::create_directories(folder / "ports/1/gids");
    std::ofstream(folder / "node_guid") << "946d:ae00:0001:" << guid << "\n";
    std::ofstream(folder / "ports/1/gids/0") << "fe80:0000:0000:0000:946d:ae00:0001:" << guid << "\n";
}

} // namespace

TEST_CASE("kernel HCAs: the file's HCA is the kernel's of that GUID, by whatever name") {
    const test::Folder folder;
    put(folder.path, "mlx5_0", "0010");
    put(folder.path, "mlx5_1", "0020");
    put(folder.path, "mlx5_2", "0030");
    const auto kernel = topo::read_kernel_hcas(folder.path);
    REQUIRE(kernel.size() == 3);
    CHECK(kernel[1].guid == 0x946dae0000010020);
    CHECK(kernel[1].ports == std::vector<topo::Guid>{0x946dae0000010020});

    topo::Host host;
    host.hcas = {hca(0x946dae0000010010, "HCA-1"), hca(0x946dae0000010020, "mlx5_2"),
                 hca(0x946dae0000010030, "mlx5_1")};
    CHECK(topo::kernel_name(host, host.hcas[0], kernel) == "mlx5_0");
    CHECK(topo::kernel_name(host, host.hcas[1], kernel) == "mlx5_1");
    CHECK(topo::kernel_name(host, host.hcas[2], kernel) == "mlx5_2");

    // Not there, and the device of its name is another's.
    host.hcas[1].guid = host.hcas[1].ports[0].guid = 0x946dae0000010090;
    CHECK(topo::kernel_name(host, host.hcas[1], kernel).empty());
    // Exchanged: a card that the file does not know sits in its place.
    host.hcas[2].guid = host.hcas[2].ports[0].guid = 0x946dae00000100a0;
    CHECK(topo::kernel_name(host, host.hcas[2], kernel) == "mlx5_1");
    // A file without GUIDs has names only.
    topo::Host named;
    named.hcas = {hca(0x0200000000000001, "mlx5_2"), hca(0x0a00000000000001, "")};
    CHECK(topo::kernel_name(named, named.hcas[0], kernel) == "mlx5_2");
    CHECK(topo::kernel_name(named, named.hcas[1], kernel).empty());
    CHECK(topo::read_kernel_hcas(folder.path / "none").empty());
}
