#include "sched/lsf/job_line.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace sched;
using namespace sched::lsf;

namespace {

constexpr std::string_view program = "/usr/bin/rail-lsf-run";

Hints hints_of(const std::vector<std::pair<std::string, std::string>>& flags) {
    Hints hints;
    for (const auto& [flag, value] : flags)
        REQUIRE(set_hint(hints, flag, value));
    return hints;
}

const std::vector<std::pair<std::string, std::string>> all_flags = {
    {"rail-span", "unit@30m"},    {"rail-segment", "4"},    {"rail-spares", "1"},
    {"rail-order", "tree"},       {"restart", "auto"},      {"restart-max", "3"},
    {"restart-on", "1,40-50"},    {"ckpt-dir", "/scratch"}, {"ckpt-kind", "glob:step_*.pt"},
    {"ckpt-signal", "USR1@ranks"}};

} // namespace

TEST_CASE("a job's line names its flags and keeps what the user gave") {
    CHECK(job_line(hints_of(all_flags), "./train.sh --name \"a b\" '$HOME'", program) ==
          "/usr/bin/rail-lsf-run --rail-span=unit@30m --rail-segment=4 --rail-spares=1 --rail-order=tree "
          "--restart=auto --restart-max=3 --restart-on=1,40-50 --ckpt-dir=/scratch "
          "--ckpt-kind=glob:step_%2A.pt --ckpt-signal=USR1@ranks "
          "--line=./train.sh%20--name%20%22a%20b%22%20%27%24HOME%27");
    CHECK(job_line({}, "", program) == "/usr/bin/rail-lsf-run --line=");
}

TEST_CASE("a job's line reads back as it was written, whatever it holds") {
    std::mt19937 random(13);
    for (int round = 0; round < 2000; ++round) {
        std::string line, path = "/";
        for (auto left = random() % 60; left > 0; --left)
            line += static_cast<char>(1 + random() % 255); // all but NUL
        for (auto left = random() % 20; left > 0; --left)
            if (const auto byte = 0x20 + random() % 0xe0; byte != 0x7f) path += static_cast<char>(byte);
        Hints hints;
        for (const auto& [flag, value] : all_flags)
            if (random() % 2 == 0) REQUIRE(set_hint(hints, flag, flag == "ckpt-dir" ? path : value));
        const auto text = job_line(hints, line, program);
        INFO(text);
        // Nothing that a shell or LSF's files would change.
        CHECK(text.find_first_not_of(
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,+@-% ") ==
              std::string::npos);
        const auto back = parse_job_line(text);
        REQUIRE(back);
        CHECK(*back == JobLine{hints, line});
        CHECK(job_line({}, text, program) == text);
        CHECK(job_line(hints, text, program) == text);
        // A part of it is none, but for what ends within the user's own line.
        const auto cut = text.substr(0, random() % text.size());
        if (const auto part = parse_job_line(cut)) {
            CHECK(part->hints == hints);
            CHECK(line.starts_with(part->line));
        }
    }
}

TEST_CASE("a preflight stands in a line beside the flags, which keep it") {
    JobLine job{hints_of({{"restart", "auto"}}), "./a"};
    job.preflight = "quick,net";
    const auto text = job_line(job, program);
    CHECK(text == std::string(program) + " --restart=auto --rail-preflight=quick,net --line=./a");
    CHECK(parse_job_line(text) == job);
    CHECK(parse_job_line(job_line(hints_of({{"rail-spares", "2"}}), text, program))->preflight ==
          "quick,net");
}

TEST_CASE("a line that is one already keeps its flags but for newer ones") {
    const auto first = job_line(hints_of({{"rail-span", "unit@30m"}, {"restart", "auto"}}), "./a b", program);
    const auto second =
        job_line(hints_of({{"rail-span", "pod"}, {"rail-spares", "2"}}), first, "/opt/rail-lsf-run");
    CHECK(second == "/opt/rail-lsf-run --rail-span=pod --rail-spares=2 --restart=auto --line=./a%20b");
    // A user's line that only looks like one stays the user's.
    const auto within =
        job_line({}, job_line({}, job_line({}, "x", "rail-lsf-run") + " y", program), program);
    CHECK(parse_job_line(within)->line == "rail-lsf-run --line=x y");
}

TEST_CASE("words in quotes, other folders and newer flags are understood") {
    const auto line = parse_job_line("  /opt/r/bin/rail-lsf-run  '--restart=auto' --new=1 --line='a%20b' ");
    REQUIRE(line);
    CHECK(line->line == "a b");
    CHECK(line->hints == hints_of({{"restart", "auto"}}));
    CHECK(parse_job_line("rail-lsf-run --line=a%2fb")->line == "a/b");
}

TEST_CASE("other lines and damaged ones are none") {
    for (const std::string_view text : {"",
                                        " ",
                                        "./train.sh",
                                        "rail-lsf-run",
                                        "rail-lsf-run --restart=auto",
                                        "rail-lsf-run ./a --line=x",
                                        "xrail-lsf-run --line=x",
                                        "rail-lsf-run/ --line=x",
                                        "rail-lsf-run --line=x y",
                                        "rail-lsf-run --line",
                                        "rail-lsf-run --line=%",
                                        "rail-lsf-run --line=%2",
                                        "rail-lsf-run --line=%zz",
                                        "rail-lsf-run --line=%00",
                                        "rail-lsf-run --line='x",
                                        "rail-lsf-run --line=a\"b",
                                        "rail-lsf-run --line=x --restart=auto",
                                        "rail-lsf-run --restart=perhaps --line=x",
                                        "rail-lsf-run --restart=auto;--line=x",
                                        "rail-lsf-run && --line=x"})
        CHECK_FALSE(parse_job_line(text));
}
