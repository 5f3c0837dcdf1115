#include "restart/ckpt/railckpt.h"

#include "folder.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>

using namespace ckpt_test;

namespace {

// A handle on `dir` that does not look at the environment.
int open(const std::string& dir, railckpt** ck, int64_t restart = 0, int read_only = 0) {
    railckpt_options options = RAILCKPT_OPTIONS_INIT;
    options.dir = dir.c_str();
    options.socket = "";
    options.job = 12;
    options.restart = restart;
    options.read_only = read_only;
    options.interval_s = 3600;
    return railckpt_open(&options, ck);
}

int put(railckpt* ck, uint64_t step) {
    const char* path = nullptr;
    if (const int status = railckpt_begin(ck, step, &path); status != RAILCKPT_OK) return status;
    write(std::filesystem::path(path) / "a", std::to_string(step));
    return railckpt_commit(ck);
}

} // namespace

TEST_CASE("C: a checkpoint from open to close") {
    const Folder folder;
    railckpt* ck = nullptr;
    REQUIRE(open(folder.path, &ck) == RAILCKPT_OK);
    railckpt_info info = RAILCKPT_INFO_INIT;
    CHECK(railckpt_latest(ck, &info) == RAILCKPT_NONE);
    CHECK(info.path == nullptr);
    CHECK(railckpt_due(ck) == 0);
    CHECK_THAT(railckpt_message(ck), Catch::StartsWith("not yet: "));
    CHECK(railckpt_interval(ck) == 3600.0);
    REQUIRE(put(ck, 400) == RAILCKPT_OK);
    CHECK(std::strlen(railckpt_message(ck)) == 0);
    REQUIRE(railckpt_latest(ck, &info) == RAILCKPT_OK);
    CHECK(info.path == (folder.path / "ckpt-E0000-S000000000400").string());
    CHECK(info.step == 400);
    CHECK(info.epoch == 0);
    CHECK(info.files == 1);
    CHECK(info.bytes == 3);
    CHECK(info.time_s > 1.7e9);
    CHECK(info.cost_s > 0);
    CHECK(info.skipped == 0);
    railckpt_close(ck);
}

TEST_CASE("C: what the program stood still for is told between begin and commit") {
    const Folder folder;
    railckpt* ck = nullptr;
    REQUIRE(open(folder.path, &ck) == RAILCKPT_OK);
    CHECK(railckpt_blocked(ck, 2.5) == RAILCKPT_EUSAGE);
    CHECK_THAT(railckpt_message(ck), Catch::Contains("begin comes before"));
    const char* path = nullptr;
    REQUIRE(railckpt_begin(ck, 1, &path) == RAILCKPT_OK);
    CHECK(railckpt_blocked(ck, -1) == RAILCKPT_EUSAGE);
    CHECK(railckpt_blocked(ck, std::nan("")) == RAILCKPT_EUSAGE);
    REQUIRE(railckpt_blocked(ck, 2.5) == RAILCKPT_OK);
    REQUIRE(railckpt_commit(ck) == RAILCKPT_OK);
    railckpt_info info = RAILCKPT_INFO_INIT;
    REQUIRE(railckpt_latest(ck, &info) == RAILCKPT_OK);
    CHECK(info.cost_s == 2.5);
    REQUIRE(put(ck, 2) == RAILCKPT_OK); // of the next nothing is told
    REQUIRE(railckpt_latest(ck, &info) == RAILCKPT_OK);
    CHECK(info.cost_s != 2.5);
    railckpt_close(ck);
    CHECK(railckpt_blocked(nullptr, 1) == RAILCKPT_EUSAGE);
}

TEST_CASE("C: the first latest reads every byte and says what it passes over") {
    const Folder folder;
    railckpt* ck = nullptr;
    REQUIRE(open(folder.path, &ck) == RAILCKPT_OK);
    REQUIRE(put(ck, 1) == RAILCKPT_OK);
    REQUIRE(put(ck, 2) == RAILCKPT_OK);
    railckpt_close(ck);
    write(folder.path / "ckpt-E0000-S000000000002" / "a", "x");
    REQUIRE(open(folder.path, &ck, 1) == RAILCKPT_OK);
    railckpt_info info = RAILCKPT_INFO_INIT;
    REQUIRE(railckpt_latest(ck, &info) == RAILCKPT_OK);
    CHECK(info.step == 1);
    CHECK(info.skipped == 1);
    CHECK_THAT(railckpt_message(ck),
               Catch::Contains("S000000000002/a: its checksum differs from the manifest's: passed over"));
    railckpt_close(ck);
}

TEST_CASE("C: each error has its status and a sentence") {
    const Folder folder;
    railckpt* ck = nullptr;
    CHECK(open(folder.path / "no", &ck) == RAILCKPT_ENOENT);
    CHECK(ck == nullptr);
    CHECK_THAT(railckpt_message(nullptr), Catch::Contains("create it (mkdir -p)"));
    CHECK(open("", &ck) == RAILCKPT_EUSAGE);
    CHECK(open(folder.path, &ck, 10000) == RAILCKPT_EUSAGE);
    CHECK(railckpt_open(nullptr, nullptr) == RAILCKPT_EUSAGE);
    railckpt_options unset{};
    CHECK(railckpt_open(&unset, &ck) == RAILCKPT_EUSAGE);
    CHECK_THAT(railckpt_message(nullptr), Catch::Contains("RAILCKPT_OPTIONS_INIT"));

    railckpt *one = nullptr, *two = nullptr, *late = nullptr;
    REQUIRE(open(folder.path, &one) == RAILCKPT_OK);
    REQUIRE(open(folder.path, &two) == RAILCKPT_OK);
    const char* path = nullptr;
    CHECK(railckpt_commit(one) == RAILCKPT_EUSAGE);
    CHECK(railckpt_begin(one, 1, nullptr) == RAILCKPT_EUSAGE);
    CHECK(railckpt_begin(one, UINT64_MAX, &path) == RAILCKPT_EUSAGE);
    CHECK(path == nullptr);
    REQUIRE(railckpt_begin(one, 1, &path) == RAILCKPT_OK);
    CHECK(railckpt_begin(one, 2, &path) == RAILCKPT_EUSAGE);
    CHECK(railckpt_begin(two, 2, &path) == RAILCKPT_EBUSY);
    CHECK(railckpt_commit(one) == RAILCKPT_OK); // without files: a mark that the step was reached
    CHECK(railckpt_begin(two, 1, &path) == RAILCKPT_EEXIST);
    CHECK(railckpt_abort(two) == RAILCKPT_OK);
    railckpt_info wrong{};
    CHECK(railckpt_latest(one, &wrong) == RAILCKPT_EUSAGE);
    CHECK(railckpt_latest(one, nullptr) == RAILCKPT_EUSAGE);
    REQUIRE(open(folder.path, &late, 1) == RAILCKPT_OK);
    CHECK(put(one, 3) == RAILCKPT_EFENCED);
    CHECK_THAT(railckpt_message(one), Catch::Contains("fenced off"));
    railckpt_close(late);
    CHECK(open(folder.path, &late, 1, 1) == RAILCKPT_OK);
    CHECK(put(late, 3) == RAILCKPT_EUSAGE);
    write(folder.path / "epoch", "torn");
    CHECK(put(two, 4) == RAILCKPT_ECORRUPT);
    for (auto* handle : {one, two, late})
        railckpt_close(handle);
    CHECK(open("/proc/self", &ck) == RAILCKPT_EIO);
    CHECK_THAT(railckpt_message(nullptr), Catch::StartsWith("/proc/"));
}

TEST_CASE("C: another job's directory is had by its name, and an older caller's struct has no such member") {
    const Folder folder;
    railckpt *owner = nullptr, *other = nullptr;
    REQUIRE(open(folder.path, &owner) == RAILCKPT_OK);
    CHECK(std::string(railckpt_message(owner)).empty());
    railckpt_options options = RAILCKPT_OPTIONS_INIT;
    const std::string dir = folder.path.string();
    options.dir = dir.c_str();
    options.socket = "";
    options.job = 0;
    options.restart = 0;
    CHECK(railckpt_open(&options, &other) == RAILCKPT_EFENCED);
    CHECK_THAT(railckpt_message(nullptr), Catch::Contains("owns this checkpoint directory"));
    options.job = -2;
    CHECK(railckpt_open(&options, &other) == RAILCKPT_EUSAGE);
    options.job = 0;
    options.take_over = -2;
    CHECK(railckpt_open(&options, &other) == RAILCKPT_EUSAGE);
    options.take_over = 12;
    options.size = offsetof(railckpt_options, take_over);
    CHECK(railckpt_open(&options, &other) == RAILCKPT_EFENCED);
    options.size = sizeof options;
    REQUIRE(railckpt_open(&options, &other) == RAILCKPT_OK);
    CHECK_THAT(railckpt_message(other), Catch::EndsWith("taken over from job 12"));
    CHECK(put(owner, 1) == RAILCKPT_EFENCED);
    railckpt_close(owner);
    railckpt_close(other);
}

TEST_CASE("C: a handle that is NULL is refused") {
    const char* path = nullptr;
    railckpt_info info = RAILCKPT_INFO_INIT;
    railckpt_close(nullptr);
    CHECK(railckpt_due(nullptr) == RAILCKPT_EUSAGE);
    CHECK(railckpt_interval(nullptr) < 0);
    CHECK(railckpt_begin(nullptr, 1, &path) == RAILCKPT_EUSAGE);
    CHECK(railckpt_commit(nullptr) == RAILCKPT_EUSAGE);
    CHECK(railckpt_abort(nullptr) == RAILCKPT_EUSAGE);
    CHECK(railckpt_latest(nullptr, &info) == RAILCKPT_EUSAGE);
}

TEST_CASE("C: every status has its own text") {
    std::vector<std::string> texts;
    for (int status = RAILCKPT_EINTERNAL; status <= RAILCKPT_NONE; ++status)
        texts.emplace_back(railckpt_strerror(status));
    texts.emplace_back(railckpt_strerror(4711));
    std::sort(texts.begin(), texts.end());
    CHECK(std::unique(texts.begin(), texts.end()) == texts.end());
}
