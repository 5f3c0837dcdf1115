// A private directory that goes with its owner.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace test {

struct Folder {
    std::filesystem::path path = [] {
        const auto among = std::filesystem::canonical(std::filesystem::temp_directory_path());
        std::string text = (among / "railyard-test-XXXXXX").string();
        return std::filesystem::path(::mkdtemp(text.data()));
    }();
    Folder() = default;
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

} // namespace test
