#include "restart/ckpt/import.hpp"

#include "folder.hpp"

#include "base/unique_fd.hpp"
#include "unit/patience.hpp"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace restart::ckpt;
using namespace ckpt_test;
namespace fs = std::filesystem;

TEST_CASE("files are brought in byte for byte, with their modes") {
    const auto how = GENERATE(Import::copy, Import::link);
    const Folder from, to;
    std::string large(3'000'000, '\0');
    for (std::size_t i = 0; i < large.size(); ++i)
        large[i] = static_cast<char>(i * 2654435761u >> 13);
    write(from.path / "large", large);
    write(from.path / "sub" / "empty", "");
    ::chmod((from.path / "large").c_str(), 0640);
    const auto done = import_tree(from.path, to.path, how);
    REQUIRE(done);
    CHECK(read(to.path / "large") == large);
    CHECK(read(to.path / "sub" / "empty").empty());
    CHECK((fs::status(to.path / "large").permissions() & fs::perms::all) == static_cast<fs::perms>(0640));
    CHECK(done->files.size() == 2);
    CHECK(read(from.path / "large") == large); // still there
    CHECK(remove_sources(*done).empty());
    CHECK(fs::is_empty(from.path));
}

TEST_CASE("copies do not follow later changes of the source") {
    const Folder from, to;
    write(from.path / "a", "before");
    REQUIRE(import_files({(from.path / "a").string()}, to.path, Import::copy));
    write(from.path / "a", "after!");
    CHECK(read(to.path / "a") == "before");
}

TEST_CASE("files are brought in from another file system") {
    if (!fs::is_directory("/proc/self")) return;
    const Folder to;
    for (const auto how : {Import::copy, Import::link}) {
        const auto done = import_files({"/proc/version"}, to.path, how); // claims a size of 0
        INFO((done ? "" : done.error().text));
        REQUIRE(done);
        CHECK(read(to.path / "version") == read("/proc/version"));
        fs::remove(to.path / "version");
    }
}

TEST_CASE("a disk that is full is called so") {
    // Files may not grow beyond a limit: as near to a full disk as an ordinary user comes.
    const Folder from, to;
    write(from.path / "a", std::string(3'000'000, 'x'));
    struct rlimit old {};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small { 1'000'000, old.rlim_max };
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto done = import_files({(from.path / "a").string()}, to.path, Import::copy);
    ::setrlimit(RLIMIT_FSIZE, &old);
    ::signal(SIGXFSZ, handler);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == base::Code::io);
    CHECK_THAT(done.error().text, Catch::EndsWith("/a: File too large"));
}

TEST_CASE("what cannot be brought in is named") {
    const Folder from, to;
    const auto path = [&](const char* name) { return (from.path / name).string(); };
    write(from.path / "a", "x");
    fs::create_symlink("/etc/passwd", from.path / "link");
    REQUIRE(::mkfifo(path("pipe").c_str(), 0600) == 0);
    const auto refused = [&](const std::vector<std::string>& names, const char* what) {
        const auto done = import_files(names, to.path, Import::copy);
        REQUIRE_FALSE(done);
        CHECK_THAT(done.error().text, Catch::Contains(what));
    };
    refused({path("no")}, "no: no such file");
    refused({path("link")}, "link: is a symbolic link");
    refused({path("pipe")}, "pipe: is a special file");
    refused({from.path.string()}, ": a checkpoint holds regular files and directories only");
    refused({"/"}, "has no name of its own");
    refused({".."}, "has no name of its own");
    fs::remove_all(to.path);
    fs::create_directory(to.path);
    refused({path("a"), path("a")}, "a file called a is named already");
    CHECK_THAT(import_tree(from.path / "no", to.path, Import::copy).error().text,
               Catch::Contains("no such directory"));
    CHECK_THAT(import_tree(to.path.parent_path(), to.path, Import::copy).error().text,
               Catch::Contains("stands in it"));
}

TEST_CASE(
    "a source with another name, or open for writing, is copied, and a published file is not written to") {
    const auto what = GENERATE(std::string("hard link"), "open for writing", "cannot be removed");
    const Folder from, to;
    const auto source = from.path / "a";
    write(source, "before");
    if (what == "cannot be removed") {
        if (::geteuid() == 0) { // root may remove anything: what is left is to be no one's
            REQUIRE(::chown(from.path.c_str(), 65534, 65534) == 0);
            REQUIRE(::chown(source.c_str(), 65534, 65534) == 0);
            REQUIRE(::chown(to.path.c_str(), 65534, 65534) == 0);
        }
        ::chmod(from.path.c_str(), 0555);
    }
    if (what == "hard link") fs::create_hard_link(source, from.path / "other");
    base::UniqueFd writer;
    if (what == "open for writing") writer = base::UniqueFd(::open(source.c_str(), O_WRONLY));
    const bool as_user = what == "cannot be removed" && ::geteuid() == 0;
    if (as_user) REQUIRE(::seteuid(65534) == 0);
    const auto done = import_files({source.string()}, to.path, Import::link);
    if (as_user) REQUIRE(::seteuid(0) == 0);
    INFO(what << (done ? "" : done.error().text));
    REQUIRE(done);
    CHECK(done->linked().empty());
    if (what == "hard link") write(from.path / "other", "after!");
    if (writer) REQUIRE(::write(writer.get(), "after!", 6) == 6);
    if (what == "cannot be removed") write(source, "after!");
    CHECK(read(to.path / "a") == "before");
    ::chmod(from.path.c_str(), 0755);
}

TEST_CASE("a source that cannot be reached is named with the reason") {
    const Folder from, to;
    write(from.path / "a", "x");
    ::chmod(from.path.c_str(), 0);
    const bool as_user = ::geteuid() == 0; // root reaches everything
    if (as_user) REQUIRE(::seteuid(65534) == 0);
    const auto done = import_files({(from.path / "a").string()}, to.path, Import::link);
    if (as_user) REQUIRE(::seteuid(0) == 0);
    ::chmod(from.path.c_str(), 0755);
    REQUIRE_FALSE(done);
    CHECK(done.error().text == (from.path / "a").string() + ": Permission denied");
}

TEST_CASE("a source that nobody else reaches is taken without a copy") {
    const Folder from, to;
    write(from.path / "sub" / "a", "x");
    const auto inode = base::stamp_of(from.path / "sub" / "a").inode;
    const auto done = import_tree(from.path, to.path, Import::link);
    REQUIRE(done);
    if (done->linked().empty()) {
        WARN("SKIP: the file system of " << to.path << " gives no leases");
        return;
    }
    CHECK(done->linked() == std::set<std::string>{"sub/a"});
    CHECK(base::stamp_of(to.path / "sub" / "a").inode == inode);
}

TEST_CASE("a source that was replaced or written since is not removed") {
    const auto how = GENERATE(Import::copy, Import::link);
    const Folder from, to;
    for (const char* name : {"same", "new", "longer", "gone"})
        write(from.path / name, "x");
    const auto done = import_tree(from.path, to.path, how);
    REQUIRE(done);
    write(from.path / "next", "the next save");
    fs::rename(from.path / "next", from.path / "new");
    write(from.path / "longer", "xx");
    fs::remove(from.path / "gone");
    CHECK(remove_sources(*done).size() == 2);
    CHECK(names(from.path, "") == std::vector<std::string>{"longer", "new"});
    CHECK(read(from.path / "new") == "the next save");
}

TEST_CASE("a source that is written to while it is brought in is refused by name") {
    const Folder folder;
    const auto from = folder.path / "shard";
    write(from, std::string(std::size_t{8} << 20, 'a'));
    std::atomic<bool> done = false;
    std::jthread writer([&] { // in place, as a trainer that overwrites its last file
        const base::UniqueFd fd(::open(from.c_str(), O_WRONLY | O_CLOEXEC));
        while (!done)
            if (::pwrite(fd.get(), "b", 1, 0) != 1) return;
    });
    // Where the file system shares blocks a copy takes no time, and is of one moment.
    std::string refused;
    CHECK(test::eventually([&] {
        const auto to = folder.path / "to";
        std::filesystem::remove_all(to);
        std::filesystem::create_directory(to);
        const auto imported = import_files({from.string()}, to, Import::copy);
        if (!imported) refused = imported.error().text;
        return !imported;
    }));
    done = true;
    CHECK(refused == from.string() + ": is still being written: publish it when its writer is done");
}
