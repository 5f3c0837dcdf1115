// A railyard.conf and a fabric file of its own, named by RAILYARD_CONF as long as this lives.
#pragma once

#include "base/file.hpp"
#include "topo/fabric_json.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <unistd.h>

struct PlacementSite {
    PlacementSite() {
        char made[] = "/tmp/rail-advisor-XXXXXX";
        REQUIRE(::mkdtemp(made) != nullptr);
        folder = made;
        fabric = folder / "fabric.json";
        REQUIRE(base::write_file(folder / "railyard.conf",
                                 "[placement]\nfabric = \"" + fabric.string() + "\"\n"));
        ::setenv("RAILYARD_CONF", (folder / "railyard.conf").c_str(), 1);
    }
    ~PlacementSite() {
        ::unsetenv("RAILYARD_CONF");
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    PlacementSite(const PlacementSite&) = delete;
    PlacementSite& operator=(const PlacementSite&) = delete;

    void store(std::string_view spec) const {
        REQUIRE(base::write_file(fabric, topo::print_fabric(*topo::synthesise(*topo::parse_synth(spec)))));
    }
    std::filesystem::path folder, fabric;
};
