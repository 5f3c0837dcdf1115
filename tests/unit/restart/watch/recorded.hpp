// Recordings of real hardware, which are not part of the source.
#pragma once

#include "base/file.hpp"
#include "unit/source.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace test {

// A file of the recordings, which are in shared/data beside the source or where RAIL_TEST_DATA says; empty,
// and skipped by its name: they are not here.
inline std::string recorded(const std::string& name) {
    const char* folder = std::getenv("RAIL_TEST_DATA");
    const auto path = (folder != nullptr ? std::filesystem::path(folder) : source("../shared/data")) / name;
    const auto text = base::read_file(path);
    if (!text) WARN("SKIP: " << text.error().text);
    return text.value_or("");
}

} // namespace test
