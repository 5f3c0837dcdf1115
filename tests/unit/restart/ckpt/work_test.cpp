#include "restart/ckpt/fence.hpp"
#include "restart/ckpt/manifest.hpp"
#include "restart/ckpt/squeue.hpp"

#include <catch2/catch.hpp>

using namespace restart::ckpt;

namespace {
const Work element(base::JobId(12U, 3)), other(base::JobId(12U, 4));
} // namespace

TEST_CASE("work is a job's, or outside of any") {
    CHECK(parse_work("12") == Work(12));
    CHECK(parse_work("12[3]") == element);
    CHECK(parse_work("0") == Work());
    for (const char* text : {"", "-1", "12_3", "12[0]", "00", "9223372036854775808"}) {
        INFO(text);
        CHECK_FALSE(parse_work(text));
    }
    for (const auto& work : {Work(), Work(12), element})
        CHECK(parse_work(to_string(work)) == work);
    CHECK(*work_of(0, "job") == Work());
    CHECK(*work_of(INT64_MAX, "job") == Work(base::JobId(base::JobId::most)));
    CHECK(work_of(-2, "take_over").error().text == "option take_over = -2: a job number from 0 is wanted");
    CHECK_FALSE(Work());
    CHECK(Work(12));
}

TEST_CASE("elements of one array are owners of their own") {
    const auto claims = *claim({}, {element, 0}, std::nullopt);
    CHECK(to_text(claims) == "0\n12[3] 0\n");
    CHECK(*parse_claims(to_text(claims)) == claims);
    CHECK_FALSE(owns(claims.owners.back(), {other, 0}));
    CHECK_FALSE(owns(claims.owners.back(), {12, 0}));
    const auto refused = may_follow(claims, {other, 0}, false, "it runs");
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().text,
               Catch::StartsWith("job 12[3] owns") && Catch::Contains("--take-over=12[3]"));
    CHECK(may_follow(claims, {other, 0, "", element}, false, ""));

    // squeue knows none of them: that it lists none says nothing.
    CHECK_FALSE(read_queue("40 RUNNING\n", base::JobId(12U, 3), base::JobId(40)));
    CHECK_FALSE(read_queue("12 RUNNING\n40 RUNNING\n", base::JobId(40), base::JobId(12U, 3)));
}

TEST_CASE("a manifest names the element") {
    Manifest manifest;
    manifest.id = {0, 400};
    manifest.job = element;
    const auto text = to_text(manifest);
    CHECK(text.find("\"job\": \"12[3]\"") != std::string::npos);
    const auto read = parse_manifest(text);
    REQUIRE(read);
    CHECK(read->job == element);
    manifest.job = {};
    CHECK(to_text(manifest).find("\"job\": 0") != std::string::npos);
    CHECK_FALSE(parse_manifest(to_text(manifest))->job);
}
