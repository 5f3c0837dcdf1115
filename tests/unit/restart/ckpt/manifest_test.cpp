#include "restart/ckpt/digest.hpp"
#include "restart/ckpt/manifest.hpp"
#include "restart/ckpt/name.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

using namespace restart::ckpt;

namespace {

Manifest example() {
    Manifest m;
    m.id = {1, 400};
    m.job = 12;
    m.time_s = 1700000001.123456;
    m.cost_s = 0.8;
    m.files = {{"a/rank 0.bin", 4096, std::string(32, 'a')}, {"größe.pt", 0, std::string(32, '0')}};
    return m;
}

// The text with a seal that fits, so that only the fields are wrong.
std::string sealed(std::string body) {
    body.resize(body.rfind("  \"manifest_xxh3_128\""));
    return body + "  \"manifest_xxh3_128\": \"" + digest(body) + "\"\n}\n";
}

std::string with(const std::string& old, const std::string& fresh) {
    auto text = to_text(example());
    const auto at = text.find(old);
    REQUIRE(at != std::string::npos);
    return sealed(text.replace(at, old.size(), fresh));
}

} // namespace

TEST_CASE("checkpoint names order by epoch, then step, and nothing else is one") {
    CHECK(to_name(published_prefix, {1, 400}) == "ckpt-E0001-S000000000400");
    CHECK(parse_name(published_prefix, "ckpt-E0001-S000000000400") == Id{1, 400});
    CHECK(parse_name(stage_prefix, ".stage-E9999-S999999999999") == Id{max_epoch, max_step});
    CHECK(Id{1, 0} > Id{0, 999});
    for (const char* other :
         {"ckpt-E001-S000000000400", "ckpt-E0001-S00000000040", "ckpt-E0001-S0000000004000",
          "ckpt-E0001_S000000000400", "ckpt-E00x1-S000000000400", "ckpt-E0001-S+00000000400", "ckpt-", "",
          "ckpt-E0001-S000000000400 "})
        CHECK_FALSE(parse_name(published_prefix, other));
}

TEST_CASE("file names stay below the checkpoint") {
    for (const char* good : {"a", "a/b", "..a", "a..", ".hidden", "größe", "a b"})
        CHECK(check_file_name(good));
    for (const char* bad : {"", "/a", "..", "a/..", "../a", "a/../b", ".", "a/.", "a//b", "a/", "a\nb",
                            "a\x7f", "\xff", "\xc0\xaf", "\xed\xa0\x80", "a\xc3"})
        CHECK_FALSE(check_file_name(bad));
    CHECK_FALSE(check_file_name(std::string_view("a\0b", 3)));
    CHECK_FALSE(check_file_name(std::string(5000, 'a')));
}

TEST_CASE("digests are those of xxh128sum") {
    CHECK(digest("") == "99aa06d3014798d86001c324468d497f");
    const int fd = ::open("/dev/null", O_RDONLY);
    CHECK(digest_file(fd, "null")->xxh3_128 == "99aa06d3014798d86001c324468d497f");
    ::close(fd);
    CHECK_THAT(digest_file(fd, "gone").error().text, Catch::StartsWith("gone: "));
}

TEST_CASE("a manifest is read back as written") {
    const auto back = parse_manifest(to_text(example()));
    REQUIRE(back);
    CHECK(back->id == example().id);
    CHECK(back->files == example().files);
    CHECK(back->job == 12);
    CHECK(back->time_s == Approx(example().time_s).epsilon(1e-15));
    CHECK(back->bytes() == 4096);
    Manifest empty;
    CHECK(parse_manifest(to_text(empty))->files.empty());
}

TEST_CASE("a manifest cut at any byte is refused") {
    const auto text = to_text(example());
    for (std::size_t length = 0; length < text.size(); ++length) {
        const auto torn = parse_manifest(text.substr(0, length));
        INFO("cut after " << length << " of " << text.size());
        REQUIRE_FALSE(torn);
        CHECK_THAT(torn.error().text, Catch::StartsWith("manifest is damaged: "));
    }
    CHECK_FALSE(parse_manifest(text + "\n"));
    CHECK_FALSE(parse_manifest(text + text));
    CHECK_FALSE(parse_manifest(std::string(text.size(), '\0')));
}

TEST_CASE("a manifest with any bit flipped is refused") {
    const auto text = to_text(example());
    for (std::size_t i = 0; i < text.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            auto flipped = text;
            flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
            INFO("byte " << i << ", bit " << bit);
            REQUIRE_FALSE(parse_manifest(flipped));
        }
}

TEST_CASE("a sealed manifest with wrong fields is refused by the field's name") {
    REQUIRE(parse_manifest(sealed(to_text(example()))));
    const auto refused = [](const std::string& text, const std::string& what) {
        const auto read = parse_manifest(text);
        REQUIRE_FALSE(read);
        CHECK(read.error().code == base::Code::input);
        CHECK_THAT(read.error().text, Catch::Contains(what));
    };
    refused(with("\"v\": 1", "\"v\": 2"), "written by another release");
    refused(with("\"step\": 400", "\"step\": -1"), "step: ");
    refused(with("\"step\": 400", "\"step\": \"400\""), "step: a whole number");
    refused(with("\"epoch\": 1", "\"epoch\": 10000"), "epoch: ");
    refused(with("\"job\": 12", "\"jib\": 12"), "job: is missing");
    refused(with("\"cost_s\": 8E-1", "\"cost_s\": -1"), "cost_s: ");
    refused(with("a/rank 0.bin", "../../etc/passwd"), "files[0]: ");
    refused(with("a/rank 0.bin", "/etc/passwd"), "is absolute");
    refused(with("größe.pt", "a/rank 0.bin"), "files[1]: \"a/rank 0.bin\" is named twice");
    refused(with("\"bytes\": 4096", "\"bytes\": -4096"), "files[0].bytes");
    refused(with(std::string(32, 'a'), std::string(32, 'A')), "xxh3_128: 32 lower-case");
}
