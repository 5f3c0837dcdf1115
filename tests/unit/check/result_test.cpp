#include "check/result.hpp"

#include "check/check.hpp"
#include "check/parts.hpp"

#include <catch2/catch.hpp>

using namespace check;

namespace {

Result measured(std::string_view test, double value) {
    return {
        .check = "hbm", .test = std::string(test), .part = {.name = "gpu3"}, .value = value, .unit = "GB/s"};
}

restart::Expectations expecting(std::string_view text) {
    const auto read = restart::Expectations::from_text(text, "h");
    REQUIRE(read);
    return *read;
}

} // namespace

TEST_CASE("a result is judged by the row of the first kind that has one") {
    const auto expected =
        expecting("[[expected]]\ntest = \"hbm.read\"\nof = \"A*\"\nvalue = 100\nleast = 0.9\n"
                  "[[expected]]\ntest = \"disk.fsync\"\nof = \"*\"\nvalue = 2\nmost = 5\n");
    const std::vector<std::string> kinds{"B", "A1"};
    auto one = measured("hbm.read", 90);
    judge(one, expected, kinds);
    CHECK(one.verdict == Verdict::sound);
    CHECK(one.share() == 0.9);
    CHECK(one.source == "this site");
    one = measured("hbm.read", 89.9);
    judge(one, expected, kinds);
    CHECK(one.verdict == Verdict::bad);
    CHECK(one.says == "90 % of what is expected of A*, where 90 % is the least");
    one = measured("hbm.write", 1);
    judge(one, expected, kinds);
    CHECK(one.verdict == Verdict::measured);
    one = measured("disk.fsync", 10);
    judge(one, expected, kinds);
    CHECK(one.verdict == Verdict::sound);
    one = measured("disk.fsync", 10.1);
    judge(one, expected, kinds);
    CHECK(one.verdict == Verdict::bad);
}

TEST_CASE("the exit status is that of the worst result") {
    const auto with = [](std::initializer_list<Verdict> verdicts) {
        std::vector<Result> results;
        for (const auto verdict : verdicts)
            results.push_back({.verdict = verdict});
        return exit_status(results);
    };
    using enum restart::CheckVerdict;
    CHECK(with({sound, measured, warning}) == 0);
    CHECK(with({sound, bad, not_run}) == 1);
    CHECK(with({sound, not_run}) == 2);
    CHECK(with({}) == 2);
}

TEST_CASE("a result as JSON reads back") {
    Result one{.check = "pcie",
               .test = "pcie.h2d",
               .part = {.name = "gpu0",
                        .host = "n1",
                        .gpu = 0,
                        .pci = "0000:14:00.0",
                        .hca = "mlx5_0",
                        .port = 1,
                        .rail = 0},
               .verdict = Verdict::bad,
               .value = 12.5,
               .unit = "GB/s",
               .expected = 50.0,
               .source = "made up",
               .says = "slow"};
    const boost::json::value value = to_json(one);
    CHECK(value.at("share").as_double() == 0.25);
    const auto back = result_of(base::Reader(value));
    REQUIRE(back);
    CHECK(to_json(*back) == to_json(one));
    const boost::json::value wrong = {{"check", "a"}, {"test", "b"}, {"component", "c"}, {"verdict", "d"}};
    CHECK_FALSE(result_of(base::Reader(wrong)));
}

TEST_CASE("the table names what is bad, with its rail, below it") {
    const Result bad{.check = "hbm",
                     .test = "hbm.read",
                     .part = {.name = "gpu3", .rail = 3},
                     .verdict = Verdict::bad,
                     .value = 1234.4,
                     .unit = "GB/s",
                     .expected = 3350.0,
                     .says = "slow"};
    const auto text = print(std::vector<Result>{bad, measured("hbm.write", 3)});
    CHECK(text == "CHECK      COMPONENT  RAIL  VALUE  EXPECTED  SHARE  UNIT  VERDICT\n"
                  "hbm.read   gpu3          3   1234      3350   37 %  GB/s  bad\n"
                  "hbm.write  gpu3          -      3         -      -  GB/s  measured\n"
                  "gpu3 (rail 3): hbm.read: bad: slow\n"
                  "2 results: 1 bad (gpu3 hbm.read)\n");
    CHECK(print(std::vector<Result>(5, bad))
              .ends_with("5 results: 5 bad (gpu3 hbm.read, gpu3 hbm.read, gpu3 hbm.read, 2 more)\n"));
}

TEST_CASE("a GPU has the rail of the compute HCA nearest to it") {
    topo::Fabric fabric;
    topo::Host host;
    host.name = "n1";
    for (const char* pci : {"0000:14:00.0", "0000:30:00.0"})
        host.gpus.emplace_back().pci = pci;
    auto& compute = host.hcas.emplace_back();
    compute.device = "mlx5_4";
    compute.rail = 1;
    compute.gpu = 1;
    auto& storage = host.hcas.emplace_back();
    storage.device = "mlx5_9";
    storage.role = topo::Role::storage;
    storage.pci = "0000:31:00.0";
    storage.gpu = 1;
    fabric.hosts = {host};
    const auto part = gpu_part(fabric, "0000:30:00.0", 0);
    CHECK(part.name == "gpu1");
    CHECK(part.rail == 1);
    CHECK(part.hca == "mlx5_4");
    CHECK(gpu_part(fabric, "0000:14:00.0", 5).name == "gpu0");
    CHECK_FALSE(gpu_part(fabric, "0000:14:00.0", 5).rail);
    CHECK(gpu_part({}, "0000:14:00.0", 5).name == "gpu5");
    CHECK(port_part(fabric, "mlx5_4", 1, {}).rail == 1);
    CHECK(port_part(fabric, "mlx5_2", 1, "0000:31:00.0").name == "mlx5_2:1");
}
