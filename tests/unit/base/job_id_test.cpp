#include "base/job_id.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <unordered_set>
#include <vector>

using base::JobId;

TEST_CASE("a job's number is printed and read in both forms") {
    CHECK(to_string(JobId(12)) == "12");
    CHECK(to_string(JobId(12U, 3)) == "12[3]");
    CHECK(JobId::parse("12") == JobId(12));
    CHECK(JobId::parse("12[3]") == JobId(12U, 3));
    CHECK(JobId::parse("4294967296[4294967295]") == JobId(std::uint64_t{1} << 32, UINT32_MAX));
    CHECK(JobId::parse("9223372036854775807") == JobId(JobId::most));
    for (const auto* text : {"",
                             "0",
                             "012",
                             "-1",
                             "+1",
                             " 1",
                             "1 ",
                             "12_3",
                             "12+1",
                             "12_[4-9%2]",
                             "12[",
                             "12[]",
                             "12[0]",
                             "12[03]",
                             "12[3",
                             "12[3]x",
                             "12[3][4]",
                             "[3]",
                             "12[4294967296]",
                             "9223372036854775808",
                             "18446744073709551616",
                             "1e3",
                             "0x1"}) {
        INFO(text);
        CHECK_FALSE(JobId::parse(text));
    }
}

TEST_CASE("jobs are told apart by number and index, in that order") {
    const std::vector<JobId> jobs{JobId(11), JobId(12), JobId(12U, 1), JobId(12U, 2), JobId(13),
                                  JobId(std::uint64_t{1} << 40)};
    CHECK(std::set<JobId>(jobs.rbegin(), jobs.rend()).size() == jobs.size());
    CHECK(std::unordered_set<JobId>(jobs.begin(), jobs.end()).size() == jobs.size());
    for (std::size_t i = 1; i < jobs.size(); ++i)
        CHECK(jobs[i - 1] < jobs[i]);
    CHECK(JobId(12) == 12U);
    CHECK_FALSE(JobId(12U, 1) == 12U);
    CHECK_FALSE(JobId(12) == -12);
    // Of an array of a thousand elements and of a thousand jobs in a row none fall together.
    std::unordered_set<std::size_t> hashes;
    for (std::uint32_t i = 1; i <= 1000; ++i) {
        hashes.insert(std::hash<JobId>()(JobId(7U, i)));
        hashes.insert(std::hash<JobId>()(JobId(i)));
    }
    CHECK(hashes.size() == 2000);
}
