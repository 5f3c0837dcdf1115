#include "restart/daemon/metrics_tokens.hpp"

#include "base/file.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>

#include <sys/stat.h>

using restart::MetricsTokens;

namespace {

struct File {
    test::Folder folder;
    std::filesystem::path path = folder.path / "token";

    base::Expected<MetricsTokens> with(std::string_view text, mode_t mode = 0640) const {
        REQUIRE(base::write_file(path, text));
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        return MetricsTokens::read(path);
    }
    std::string error(std::string_view text, mode_t mode = 0640) const {
        const auto tokens = with(text, mode);
        REQUIRE_FALSE(tokens);
        CHECK(tokens.error().code == base::Code::input);
        CHECK(tokens.error().text.starts_with("restartd.metrics_token: " + path.string() + ": "));
        return tokens.error().text;
    }
};

} // namespace

TEST_CASE("the tokens of a file are held, and nothing else") {
    const File file;
    const auto one = file.with("0123456789abcdef0123456789abcdef\n");
    REQUIRE(one);
    CHECK(one->hold("0123456789abcdef0123456789abcdef"));
    for (const char* wrong : {"", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdeF",
                              "0123456789abcdef0123456789abcdef ", "0123456789abcdef0123456789abcdef\n"})
        CHECK_FALSE(one->hold(wrong));
    const auto two =
        file.with("0123456789abcdef\r\n\nABCDEFGHIJKLMNOP", 0400); // while one takes the other's place
    REQUIRE(two);
    CHECK(two->hold("0123456789abcdef"));
    CHECK(two->hold("ABCDEFGHIJKLMNOP"));
    const auto none = MetricsTokens::read("");
    REQUIRE(none);
    CHECK_FALSE(none->hold(""));
}

TEST_CASE("a file of tokens that is of no use is refused by name") {
    const File file;
    CHECK(file.error("0123456789abcdef\n", 0644).find("everybody can read") != std::string::npos);
    CHECK(file.error("\n\n").find("no token in it") != std::string::npos);
    CHECK(file.error("hunter2\n").find("at least 16 characters") != std::string::npos);
    CHECK(file.error("0123456789abcdef 0123456789abcdef\n").find("one word") != std::string::npos);
    std::filesystem::remove(file.path);
    const auto absent = MetricsTokens::read(file.path);
    REQUIRE_FALSE(absent);
    CHECK(absent.error().text.find("No such file") != std::string::npos);
}
