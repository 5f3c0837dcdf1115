#include "restart/run/warm.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace restart::run;

namespace {
void write(const std::filesystem::path& path, std::size_t bytes) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << std::string(bytes, 'x');
}

// In a process of its own: reading ahead makes it the last to get CPU for good.
ReadAhead read_apart(const std::vector<std::string>& paths, std::uint64_t most) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const auto child = ::fork();
    if (child == 0) {
        const auto done = read_ahead(paths, most);
        const std::uint64_t words[] = {done.bytes, done.files, done.whole};
        ::_exit(::write(ends[1], words, sizeof words) == sizeof words ? 0 : 1);
    }
    std::uint64_t words[3] = {};
    CHECK(::read(ends[0], words, sizeof words) == sizeof words);
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);
    ::close(ends[1]);
    return {words[0], words[1], words[2] != 0};
}
} // namespace

TEST_CASE("the words of a command name its program's files") {
    const test::Folder folder;
    write(folder.path / "bin" / "train", 1);
    write(folder.path / "model.py", 1);
    const auto train = (folder.path / "bin" / "train").string(), model = (folder.path / "model.py").string();
    const auto path = (folder.path / "none").string() + ":" + (folder.path / "bin").string();
    CHECK(files_named({"srun", "-n", "4", "train", model, "--lr=1", folder.path.string(), model}, path) ==
          std::vector{train, model});
    CHECK(files_named({"bin/train"}, path).empty()); // not looked for on PATH
}

TEST_CASE("reading ahead reads files and directories in order, and no further than its bound") {
    const test::Folder folder;
    write(folder.path / "program", 1000);
    write(folder.path / "ckpt" / "a" / "1.bin", 3'000'000);
    write(folder.path / "ckpt" / "b.bin", 500);
    const std::vector<std::string> paths{(folder.path / "program").string(), (folder.path / "ckpt").string(),
                                         (folder.path / "gone").string()};
    const auto all = read_apart(paths, 1 << 30);
    CHECK(all.bytes == 3'001'500);
    CHECK(all.files == 3);
    CHECK(all.whole);
    const auto some = read_apart(paths, 2'000'000);
    CHECK(some.bytes == 2'000'000);
    CHECK_FALSE(some.whole);
}
