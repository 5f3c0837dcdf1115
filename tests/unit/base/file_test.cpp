#include "base/file.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <sys/stat.h>

namespace {
struct Folder {
    std::filesystem::path path = [] {
        std::string text = (std::filesystem::temp_directory_path() / "railyard-test-XXXXXX").string();
        return std::filesystem::path(::mkdtemp(text.data()));
    }();
    ~Folder() { std::filesystem::remove_all(path); }
};
} // namespace

TEST_CASE("a file is written whole and keeps its mode") {
    const Folder folder;
    const auto file = folder.path / "f";
    REQUIRE(base::write_file(file, "one"));
    CHECK(*base::read_file(file) == "one");
    ::chmod(file.c_str(), 0600);
    REQUIRE(base::write_file(file, "two"));
    struct stat info {};
    ::stat(file.c_str(), &info);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("an unchanged file keeps its mtime") {
    const Folder folder;
    const auto file = folder.path / "f";
    CHECK(*base::write_file_if_changed(file, "one"));
    const auto old = std::filesystem::last_write_time(file) - std::chrono::hours(1);
    std::filesystem::last_write_time(file, old);
    CHECK_FALSE(*base::write_file_if_changed(file, "one"));
    CHECK(std::filesystem::last_write_time(file) == old);
    CHECK(*base::write_file_if_changed(file, "two"));
}

TEST_CASE("a file that cannot be read or written is named") {
    const Folder folder;
    CHECK_THAT(base::read_file(folder.path / "no").error().text,
               Catch::EndsWith("no: No such file or directory"));
    CHECK_THAT(base::read_file(folder.path).error().text, Catch::Contains("is a directory"));
    CHECK_THAT(base::write_file(folder.path / "no" / "f", "x").error().text, Catch::Contains("No such file"));
    REQUIRE(base::write_file(folder.path / "f", "12345"));
    CHECK_THAT(base::read_file(folder.path / "f", 4).error().text, Catch::Contains("larger than 4 bytes"));
    CHECK(*base::read_file(folder.path / "f", 5) == "12345");
}

TEST_CASE("a full disk leaves the old file and nothing beside it") {
    // /dev/full refuses every byte; a link to it is followed.
    const Folder folder;
    std::filesystem::create_symlink("/dev/full", folder.path / "f");
    CHECK_THAT(base::write_file(folder.path / "f", "x").error().text, Catch::Contains("No space left"));
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}
