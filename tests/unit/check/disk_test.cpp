#include "check/disk.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

using namespace check;
using namespace std::chrono_literals;

namespace {

// A TEST DOUBLE of a disk: a file in memory whose clock goes on by what it is told to cost, with faults.
class MadeDisk : public BlockFile {
public:
    double now = 0, write_rate = 2e9, read_rate = 4e9, sync_s = 0.001; // bytes a second
    int write_error = 0, read_error = 0, sync_error = 0;
    std::uint64_t fails_from = 0; // errors from this byte on
    bool corrupts = false, misplaces = false;

    int write(std::span<const std::byte> block, std::uint64_t at) override {
        now += static_cast<double>(block.size()) / write_rate;
        if (write_error != 0 && at >= fails_from) return write_error;
        if (bytes_.size() < at + block.size()) bytes_.resize(at + block.size());
        std::memcpy(bytes_.data() + at, block.data(), block.size());
        return 0;
    }
    int read(std::span<std::byte> block, std::uint64_t at) override {
        now += static_cast<double>(block.size()) / read_rate;
        if (read_error != 0 && at >= fails_from) return read_error;
        std::memcpy(block.data(), bytes_.data() + (misplaces ? 0 : at), block.size());
        if (corrupts && at > 0) block[100] ^= std::byte{1};
        return 0;
    }
    int sync() override {
        now += sync_s;
        return sync_error;
    }
    void forget_cache() override {}
    bool past_cache() const override { return true; }

private:
    std::vector<std::byte> bytes_;
};

std::map<std::string, Result> measure(MadeDisk& disk) {
    const DiskPlan plan{.most_bytes = 32 << 20, .most_time = 10s, .syncs = 5, .block = 1 << 20};
    std::map<std::string, Result> by_test;
    for (auto& one : measure_disk(
             disk, plan, {.name = "/scratch"}, [&] { return disk.now; }, [](std::string_view) {}))
        by_test[one.test] = one;
    return by_test;
}

} // namespace

TEST_CASE("a disk is measured by its own clock") {
    MadeDisk disk;
    auto results = measure(disk);
    REQUIRE(results.size() == 3);
    // With the time in which what was written became safe.
    CHECK(results["disk.write"].value.value() ==
          Approx(32.0 / 1024 * 1.073741824 / (0.0167772 + 0.001)).epsilon(0.01));
    CHECK(results["disk.read"].value.value() == Approx(4));
    CHECK(results["disk.fsync"].value.value() == Approx(1.002).epsilon(0.01));
    for (const auto& [test, one] : results)
        CHECK(one.verdict == Verdict::measured);
}

TEST_CASE("what comes back as another than was written is bad, wherever it went") {
    for (const bool corrupts : {true, false}) {
        MadeDisk disk;
        disk.corrupts = corrupts;
        disk.misplaces = !corrupts;
        auto results = measure(disk);
        CHECK(results["disk.read"].verdict == Verdict::bad);
        const auto first = (1 << 20) + (corrupts ? 96 : 0);
        CHECK(results["disk.read"].says.starts_with("byte " + std::to_string(first) + " "));
    }
}

TEST_CASE("an error of a disk is bad; for want of room or rights it says nothing of it") {
    for (const auto& [error, verdict] : {std::pair{EIO, Verdict::bad},
                                         {EROFS, Verdict::bad},
                                         {ENOSPC, Verdict::not_run},
                                         {EDQUOT, Verdict::not_run}}) {
        MadeDisk disk;
        disk.write_error = error;
        disk.fails_from = 3 << 20;
        auto results = measure(disk);
        CHECK(results.size() == 1);
        CHECK(results["disk.write"].verdict == verdict);
    }
    MadeDisk disk;
    disk.read_error = EIO;
    CHECK(measure(disk)["disk.read"].verdict == Verdict::bad);
    disk = {};
    disk.sync_error = EIO;
    CHECK(measure(disk)["disk.write"].verdict == Verdict::bad);
}

TEST_CASE("a disk never loses more than a twentieth of what is free") {
    CHECK(disk_plan(1, 1ULL << 40).most_bytes == 64ULL << 20);
    CHECK(disk_plan(3, 1ULL << 40).most_bytes == (1ULL << 40) / 20 / (4 << 20) * (4 << 20));
    CHECK(disk_plan(2, 79ULL << 20).most_bytes == 0);
}

TEST_CASE("a file that nobody sees is written and read, and is gone") {
    const test::Folder folder;
    {
        const auto file = make_block_file(folder.path.string());
        REQUIRE(file);
        const DiskPlan plan{.most_bytes = 8 << 20, .most_time = 10s, .syncs = 3};
        const auto results = measure_disk(
            **file, plan, {.name = "here"}, [] { return 0.0; }, [](std::string_view) {});
        CHECK(results.size() == 3);
        for (const auto& one : results)
            CHECK(one.verdict == Verdict::measured);
        CHECK(std::filesystem::is_empty(folder.path));
    }
    const auto none = make_block_file((folder.path / "none").string());
    REQUIRE_FALSE(none);
    CHECK(none.error().code == base::Code::denied);
}
