// The judge of stragglers against jobs whose culprit is known.
#include "restart/core/straggle/judge.hpp"
#include "traces/job_trace.hpp"
#include "unit/trials.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace restart;
using trace::Culprit;
using trace::JobShape;
using trace::JobTrace;

namespace {

constexpr double least = 0.05;

struct Count {
    int right = 0, wrong = 0, silent = 0;
};

Count judged(const JobShape& shape, Culprit culprit, int jobs, std::uint32_t seed) {
    Count count;
    for (int i = 0; i < jobs; ++i) {
        const JobTrace job(shape, culprit, seed + static_cast<std::uint32_t>(i));
        const auto made = judge_stragglers(job.hosts(), least);
        const bool found = made.verdict == StragglerVerdict::found;
        if (!found)
            ++count.silent;
        else if (job.is(made.suspect))
            ++count.right;
        else
            ++count.wrong;
    }
    return count;
}

} // namespace

TEST_CASE("a straggler of each kind is found in jobs with step marks") {
    const int jobs = test::cases_of_a_share(40);
    for (const auto& [hosts, stages, uneven] : {std::tuple{16, 1, false}, {32, 4, false}, {64, 4, true}}) {
        JobShape shape;
        shape.hosts = hosts;
        shape.stages = stages;
        shape.uneven = uneven;
        for (const auto culprit : trace::culprits) {
            const auto count = judged(shape, culprit, jobs, 1000);
            INFO(fmt::format("{} hosts, {} stages, {}: {} right, {} wrong, {} silent of {}", hosts, stages,
                             to_string(culprit), count.right, count.wrong, count.silent, jobs));
            CHECK(count.wrong * 20 <= jobs); // at most one in twenty accuses another
            if (culprit == Culprit::none)
                CHECK(count.silent == jobs);
            else
                CHECK(count.right * 10 >= jobs * 9);
        }
    }
}

TEST_CASE("without step marks a straggler is named for what is wrong with it, and less surely") {
    JobShape shape;
    shape.marks = false;
    const int jobs = 40; // these are quick
    for (const auto culprit : {Culprit::host_cpu, Culprit::half_rail, Culprit::slow_leaf}) {
        INFO(to_string(culprit));
        CHECK(judged(shape, culprit, jobs, 1).right * 10 >= jobs * 8);
    }
    const JobTrace job(shape, Culprit::host_cpu, 1);
    const auto made = judge_stragglers(job.hosts(), least);
    REQUIRE(made.verdict == StragglerVerdict::found);
    CHECK(made.suspect.confidence < 0.6);
    REQUIRE(made.missing.size() == 1);
    CHECK(made.missing[0].starts_with("step marks"));
    CHECK(judged(shape, Culprit::none, jobs, 1).silent == jobs);
}

TEST_CASE(
    "without step marks a GPU that computes is told from those that wait, and those accused of nothing") {
    JobShape shape;
    shape.marks = false;
    const int jobs = test::cases_of_a_share(20);
    for (const bool gpm : {false, true}) {
        shape.gpm = shape.uneven = gpm; // the first stage works at another clock
        shape.stages = gpm ? 4 : 1;
        for (const auto culprit : {Culprit::gpu_clock, Culprit::gpu_limit, Culprit::gpu_load}) {
            const auto count = judged(shape, culprit, jobs, 500);
            INFO(fmt::format("{}, {}: {} right, {} wrong, {} silent of {}", to_string(culprit),
                             gpm ? "GPM" : "power", count.right, count.wrong, count.silent, jobs));
            CHECK(count.wrong * 20 <= jobs);
            // Below the limit power differs from chip to chip.
            CHECK(count.right * 10 >= jobs * (culprit == Culprit::gpu_load && !gpm ? 7 : 9));
        }
        CHECK(judged(shape, Culprit::none, jobs, 500).silent == jobs);
    }
}

TEST_CASE("a GPU with more to do is not said to be slow") {
    for (const bool gpm : {false, true}) {
        JobShape shape;
        shape.gpm = gpm;
        int told = 0;
        for (std::uint32_t seed = 1; seed <= 20; ++seed) {
            const JobTrace job(shape, Culprit::gpu_load, seed);
            const auto made = judge_stragglers(job.hosts(), least);
            REQUIRE(made.verdict == StragglerVerdict::found);
            CHECK(job.is(made.suspect));
            const auto& why = made.suspect.evidence.at(1);
            INFO(why);
            CHECK(why.find("SM clock") == std::string::npos);
            if (why.find(gpm ? " of its multiprocessors have something to do, " : "it draws ") ==
                std::string::npos)
                continue;
            ++told;
            CHECK(why.ends_with("it works while they wait, at a clock that is not lower than theirs: it has "
                                "more to do than they"));
        }
        CHECK(told >= (gpm ? 20 : 10)); // below its limit power differs from chip to chip
    }
}

TEST_CASE("what the GPUs of a job do is said, and that none works") {
    const JobTrace sound({}, Culprit::none, 1);
    auto made = judge_stragglers(sound.hosts(), least);
    CHECK(made.gpus == std::vector<std::string>{"GPUs, in the last window: 256 working"});
    for (const bool gpm : {false, true}) {
        JobShape shape;
        shape.marks = false;
        shape.gpm = gpm;
        const JobTrace job(shape, Culprit::gone, 1); // NCCL's RAS does not answer
        auto hosts = job.hosts();
        made = judge_stragglers(hosts, least);
        const auto name = fmt::format("{} gpu {}", trace::host_name(job.host), job.gpu);
        REQUIRE(made.gpus.size() == 2);
        CHECK(made.gpus[0] == fmt::format("GPUs, in the last window: 255 waiting, 1 idle ({})", name));
        CHECK(
            made.gpus[1].starts_with("no GPU has worked in the last 4 windows, though kernels run on 255: "));
        REQUIRE(made.verdict == StragglerVerdict::found);
        CHECK(job.is(made.suspect));
        CHECK(made.suspect.confidence <= 0.5);
        // Where all have a kernel, as while NCCL connects, the job hangs, and who is to blame is not seen.
        std::vector<PaceWindow> waits;
        for (const auto* window : hosts[static_cast<std::size_t>(job.host)].windows) {
            waits.push_back(*window);
            for (auto& gpu : waits.back().gpus)
                gpu.busy = 1;
        }
        hosts[static_cast<std::size_t>(job.host)].windows = {&waits[0], &waits[1], &waits[2], &waits[3]};
        made = judge_stragglers(hosts, least);
        CHECK(made.gpus.size() == 2);
        CHECK(made.verdict != StragglerVerdict::found);
    }
}

TEST_CASE("a judgement says what was seen, with its numbers") {
    const JobTrace job({}, Culprit::gpu_clock, 3);
    const auto made = judge_stragglers(job.hosts(), least);
    REQUIRE(made.verdict == StragglerVerdict::found);
    const auto& suspect = made.suspect;
    CHECK(name_of(suspect) == fmt::format("{} gpu {}", trace::host_name(job.host), job.gpu));
    CHECK(suspect.score > job.cost - 0.05);
    CHECK(suspect.score < job.cost + 0.05);
    CHECK(suspect.confidence >= 0.75);
    REQUIRE(suspect.evidence.size() == 2);
    CHECK(suspect.evidence[0].find("it waits ") == 0);
    CHECK((suspect.evidence[1].find("its SM clock is 1") == 0 ||
           suspect.evidence[1].find("heat or a power brake holds its clocks down for ") == 0));
    CHECK(made.missing.empty());
}

TEST_CASE("who is slow where others have time to spare holds nobody up") {
    // Two roles: the second computes twice as long, so that a slow GPU of the first is waited for by none.
    std::vector<PaceWindow> light(4), slow(4), heavy(4);
    for (auto* list : {&light, &slow, &heavy})
        for (auto& window : *list) {
            window.ranks = {{0, 0.1, list == &light ? 0.6 : list == &slow ? 0.4 : 0.2}};
            window.ports = {{"mlx5_0:1", list == &heavy ? 2000.0 : 1000.0, 0, {}, 0, 400}};
        }
    std::vector<PacedHost> hosts;
    const auto add = [&](const std::vector<PaceWindow>& windows) {
        hosts.push_back({fmt::format("n{}", hosts.size()), {}, {}, {}});
        for (const auto& window : windows)
            hosts.back().windows.push_back(&window);
    };
    for (int i = 0; i < 4; ++i)
        add(i == 1 ? slow : light);
    for (int i = 0; i < 4; ++i)
        add(heavy);
    CHECK(judge_stragglers(hosts, least).verdict == StragglerVerdict::none);
    // The same one, where it is what all wait for.
    for (auto& window : slow)
        window.ranks[0].waited = 0.05;
    const auto made = judge_stragglers(hosts, least);
    REQUIRE(made.verdict == StragglerVerdict::found);
    CHECK(made.suspect.host == "n1");
}

TEST_CASE("what was seen once is no straggler") {
    JobTrace job({}, Culprit::gpu_clock, 3);
    const JobTrace sound({}, Culprit::none, 3);
    // Sound in two of four windows.
    auto hosts = job.hosts();
    const auto others = sound.hosts();
    for (std::size_t i = 0; i < hosts.size(); ++i)
        for (const std::size_t window : {0U, 2U})
            hosts[i].windows[window] = others[i].windows[window];
    CHECK(judge_stragglers(hosts, least).verdict == StragglerVerdict::none);
}

TEST_CASE("what is not seen is not judged") {
    CHECK(judge_stragglers({}, least).verdict == StragglerVerdict::unknown);
    const JobTrace job({}, Culprit::gpu_clock, 3);
    auto hosts = job.hosts();
    for (auto& host : hosts)
        host.windows.erase(host.windows.begin(), host.windows.begin() + 2);
    auto made = judge_stragglers(hosts, least); // two windows
    CHECK(made.verdict == StragglerVerdict::unknown);
    CHECK(made.missing.size() == 1);

    // Windows without any reading, and ones whose ports and processes come and go.
    const PaceWindow empty;
    for (auto& host : hosts)
        host.windows = {&empty, &empty, &empty, &empty};
    made = judge_stragglers(hosts, least);
    CHECK(made.verdict == StragglerVerdict::unknown);
    CHECK(made.missing.size() == 3);
    auto mixed = job.hosts();
    for (std::size_t i = 0; i < mixed.size(); ++i)
        mixed[i].windows[i % 4] = &empty;
    CHECK(judge_stragglers(mixed, least).verdict != StragglerVerdict::found);
}

TEST_CASE("numbers of all sizes are judged without harm") {
    for (const double number : {0.0, 1e-300, 1.0, 1e15}) {
        PaceWindow window;
        for (std::uint32_t i = 0; i < 8; ++i) {
            window.ranks.push_back({i, number, std::min(number, 1.0)});
            window.gpus.push_back({i, number, number, number, std::min(number, 1.0), number, number,
                                   std::min(number, 1.0), number, std::min(number, 1.0),
                                   std::min(number, 1.0), std::min(number, 1.0)});
            window.ports.push_back({fmt::format("p{}", i), number, number, number, number, number});
        }
        const PaceWindow empty;
        std::vector<PacedHost> hosts;
        for (int i = 0; i < 3; ++i)
            hosts.push_back({fmt::format("n{}", i), {&window, &window, &window, &window}, {}, {}});
        CHECK(judge_stragglers(hosts, least).verdict != StragglerVerdict::found);
        hosts[1].windows = {&window, &empty, &window, &window};
        CHECK(judge_stragglers(hosts, least).verdict != StragglerVerdict::found);
    }
}

TEST_CASE("NCCL's RAS alone accuses who does not answer, never who is behind") {
    const int jobs = test::cases_of_a_share(40);
    JobShape shape;
    shape.ras = true;
    for (const bool marks : {true, false}) {
        shape.marks = marks;
        INFO((marks ? "with marks" : "without"));
        // One of its hosts is behind at each look, and in time.
        CHECK(judged(shape, Culprit::none, jobs, 1).silent == jobs);
        const auto gone = judged(shape, Culprit::gone, jobs, 1);
        CHECK(gone.wrong == 0);
        CHECK(gone.right * 10 >= jobs * 9);
    }
    shape.marks = true;
    const JobTrace job(shape, Culprit::gone, 1);
    const auto hosts = job.hosts();
    const auto made = judge_stragglers(hosts, least);
    REQUIRE(made.verdict == StragglerVerdict::found);
    // Its GPU has nothing to do while all others wait, and RAS agrees; it also names one that launches late.
    CHECK(made.suspect.confidence == 0.5);
    REQUIRE(made.suspect.evidence.size() == 3);
    CHECK(made.suspect.evidence[0] ==
          "no kernel runs on it, while those of all other GPUs wait, in 4 windows");
    const auto unanswered =
        fmt::format("NCCL's RAS: its process of GPU {} has not answered in 4 of 4 windows", job.gpu);
    CHECK(made.suspect.evidence[1] == unanswered + " (confidence +0.10)");
    CHECK(made.suspect.evidence[2].ends_with("in most windows (confidence -0.10)"));
    // Where GPUs are not read it is less than what is noted unless a site asks for it.
    std::vector<std::vector<PaceWindow>> unread;
    auto blind = hosts;
    for (auto& host : blind) {
        auto& windows = unread.emplace_back();
        for (const auto* window : host.windows) {
            windows.push_back(*window);
            windows.back().gpus.clear();
        }
        host.windows.clear();
    }
    for (std::size_t i = 0; i < blind.size(); ++i)
        for (const auto& window : unread[i])
            blind[i].windows.push_back(&window);
    const auto alone = judge_stragglers(blind, least);
    REQUIRE(alone.verdict == StragglerVerdict::found);
    CHECK(alone.suspect.confidence <= 0.5);
    REQUIRE(alone.suspect.evidence.size() == 2);
    CHECK(alone.suspect.evidence[0] == unanswered + " (confidence +0.50)");
    // In two windows it is no more than a look that came too late.
    std::vector<PaceWindow> heard;
    for (const auto* window : blind[static_cast<std::size_t>(job.host)].windows) {
        heard.push_back(*window);
        if (heard.size() <= 2) heard.back().ras.clear();
    }
    auto again = blind;
    again[static_cast<std::size_t>(job.host)].windows = {&heard[0], &heard[1], &heard[2], &heard[3]};
    CHECK(judge_stragglers(again, least).verdict != StragglerVerdict::found);
    // Where many are silent, it is what RAS itself speaks through.
    for (std::size_t i = 0; i < again.size() / 3; ++i)
        again[i].windows = blind[static_cast<std::size_t>(job.host)].windows;
    CHECK(judge_stragglers(again, least).verdict != StragglerVerdict::found);
}

TEST_CASE("what NCCL's RAS says makes another suspicion surer, or less sure") {
    const JobTrace job({}, Culprit::gpu_clock, 3);
    const auto hosts = job.hosts();
    const auto alone = judge_stragglers(hosts, least).suspect;
    // Says so much of one host in each window.
    const auto with = [&](int host, RasSign sign) {
        std::vector<PaceWindow> said;
        for (const auto* window : hosts[static_cast<std::size_t>(host)].windows) {
            said.push_back(*window);
            said.back().ras = {sign};
        }
        auto changed = hosts;
        changed[static_cast<std::size_t>(host)].windows = {&said[0], &said[1], &said[2], &said[3]};
        return judge_stragglers(changed, least).suspect;
    };
    const auto near = [](double a, double b) { return std::abs(a - b) < 0.002; };
    const int other = (job.host + 1) % 32;
    const auto lowered = with(other, {2, false, 7});
    CHECK(lowered.host == alone.host);
    CHECK(lowered.score == alone.score);
    INFO(alone.confidence);
    CHECK(near(lowered.confidence, alone.confidence - 0.1));
    CHECK(lowered.evidence.back() ==
          fmt::format("NCCL's RAS names {} in most windows (confidence -0.10)", trace::host_name(other)));
    for (const auto& sign : {RasSign{job.gpu, false, 7}, {-1, false, 7}, {job.gpu, true, 0}}) {
        const auto raised = with(job.host, sign);
        CHECK(raised.gpu == job.gpu);
        CHECK(near(raised.confidence, std::min(0.97, alone.confidence + 0.1)));
        CHECK(raised.evidence.back().ends_with("(confidence +0.10)"));
    }
    CHECK(with(job.host, {(job.gpu + 1) % 8, false, 7}).confidence < alone.confidence); // not the one
}
