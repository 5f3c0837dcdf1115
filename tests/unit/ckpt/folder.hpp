// A private directory for one test, and files in it.
#pragma once

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace ckpt_test {

struct Folder {
    std::filesystem::path path = [] {
        std::string text =
            (std::filesystem::canonical(std::filesystem::temp_directory_path()) / "railckpt-test-XXXXXX")
                .string();
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

inline void write(const std::filesystem::path& file, const std::string& bytes) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out << bytes;
    REQUIRE(out.flush());
}

inline std::string read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    REQUIRE(in);
    return {std::istreambuf_iterator<char>(in), {}};
}

// The names in a directory that begin with `prefix`, sorted.
inline std::vector<std::string> names(const std::filesystem::path& dir, const std::string& prefix) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(dir))
        if (entry.path().filename().string().starts_with(prefix))
            found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace ckpt_test
