#include "restart/web/page_files.hpp"

#include "base/file.hpp"
#include "unit/folder.hpp"
#include "unit/source.hpp"

#include <catch2/catch.hpp>

#include <fstream>

using restart::PageFiles;

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
}

} // namespace

TEST_CASE("a page's files are found by their names and by nothing else") {
    const test::Folder folder;
    write(folder.path / "index.html", "<p>page</p>");
    write(folder.path / "app.js", "start()");
    write(folder.path / "README", "not a part of it");
    write(folder.path / ".secret", "nor this");
    const auto page = PageFiles::read(folder.path);
    REQUIRE(page);
    REQUIRE(page->find("/") != nullptr);
    CHECK(page->find("/")->body == "<p>page</p>");
    CHECK(page->find("/")->content_type == "text/html; charset=utf-8");
    REQUIRE(page->find("/web/app.js") != nullptr);
    CHECK(page->find("/web/app.js")->content_type == "text/javascript; charset=utf-8");
    for (const char* path : {"", "/web", "/web/", "/web/index.html", "/web/README", "/web/.secret",
                             "/web/../app.js", "/web/./app.js", "/app.js", "//"})
        CHECK(page->find(path) == nullptr);
    CHECK(PageFiles().find("/") == nullptr);
}

TEST_CASE("a browser is told to run nothing but the page's own files") {
    const test::Folder folder;
    write(folder.path / "index.html", "");
    const auto page = PageFiles::read(folder.path);
    REQUIRE(page);
    std::string policy;
    for (const auto& [name, value] : page->find("/")->headers)
        if (name == "Content-Security-Policy") policy = value;
    CHECK(policy.starts_with("default-src 'none'; script-src 'self'; "));
    CHECK(policy.find("unsafe") == std::string::npos);
    CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
}

TEST_CASE("a folder without a page, and a file that is too large, are errors") {
    const test::Folder folder;
    const auto empty = PageFiles::read(folder.path);
    REQUIRE_FALSE(empty);
    CHECK(empty.error().text == folder.path.string() + ": there is no index.html");
    write(folder.path / "index.html", std::string((1 << 20) + 1, ' '));
    const auto large = PageFiles::read(folder.path);
    REQUIRE_FALSE(large);
    CHECK(large.error().text.find("index.html") != std::string::npos);
    const auto missing = PageFiles::read(folder.path / "none");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == base::Code::io);
}

TEST_CASE("the page that is installed is whole, and never makes markup of text") {
    const auto folder = test::source("src/restart/web/page");
    const auto page = PageFiles::read(folder);
    REQUIRE(page);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const auto name = entry.path().filename().string();
        const auto text = *base::read_file(entry.path());
        CAPTURE(name);
        CHECK(page->find(name == "index.html" ? "/" : "/web/" + name) != nullptr);
        // What another file is loaded by is there, and nothing comes from elsewhere.
        for (std::size_t at = text.find("from \"./"); at != std::string::npos;
             at = text.find("from \"./", at + 1)) {
            const auto begin = at + 8;
            CHECK(page->find("/web/" + text.substr(begin, text.find('"', begin) - begin)) != nullptr);
        }
        for (const char* never : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                                  "new Function", "https://", "http://"})
            CHECK(text.find(never) == std::string::npos);
    }
}
