// What a user's program does to itself accuses no GPU: XIDs of faulty programs, as a driver logs them, in all
// the ways that users run programs.
#include "restart/watch/judge.hpp"
#include "restart/watch/xid_words.hpp"

#include "probe/kernel_lines.hpp"
#include "unit/restart/watch/recorded.hpp"
#include "unit/restart/watch/sound_host.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <sstream>

using namespace std::chrono_literals;
using namespace restart;

namespace {

constexpr std::uint32_t alice = 1000, bob = 1001, carol = 1002;

// GPUs 0 to 7 of a host, and who computes on them.
struct Host : test::Looks {
    Host() {
        sample.gpus.emplace();
        for (std::uint32_t i = 0; i < 8; ++i) {
            GpuSample gpu;
            gpu.index = i;
            gpu.pci = fmt::format("0000:{:02x}:00.0", 0x14 + i * 28);
            gpu.users.emplace();
            sample.gpus->push_back(std::move(gpu));
        }
    }
    GpuSample& gpu(std::size_t i) { return sample.gpus->at(i); }

    // A fault as NVML and the kernel log report it together: the first without words, the second in lines.
    std::vector<Finding> fault(std::size_t gpu, std::uint32_t code, const std::vector<std::string>& lines,
                               std::optional<std::uint32_t> user) {
        const auto add = [&](std::string text, std::optional<std::uint32_t> of) {
            auto& event = sample.xids.emplace_back();
            event.pci = this->gpu(gpu).pci;
            event.code = code;
            event.text = std::move(text);
            event.user = of;
        };
        add("", user);
        for (const auto& line : lines)
            add(line, std::nullopt);
        return run(6s, 6s); // what comes within five seconds is one
    }
    // A user's programs run on GPU 0, for so long.
    void work(std::uint32_t user, base::Duration time) {
        gpu(0).users = {user};
        run(time);
        gpu(0).users.emplace();
        run(10s);
    }
};

// A program of one block, which always runs on the same multiprocessor of a board.
std::vector<std::string> lines_of_block(std::uint32_t code) {
    if (code == 13)
        return {"Graphics SM Warp Exception on (GPC 1, TPC 4, SM 0): Misaligned Address",
                "Graphics Exception: ESR 0x519730=0x500000f 0x519734=0x0",
                "Graphics Exception: channel 0x000000aa, Class 0000cbc0, Offset 00000510, Data 0017e2ac"};
    if (code == 31)
        return {"channel 0x000000aa, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_8 faulted"};
    return {"channel 0x000000aa"};
}

// A program on all multiprocessors: 397 lines.
std::vector<std::string> lines_of_grid() {
    std::vector<std::string> lines;
    for (int gpc = 0; gpc < 8; ++gpc)
        for (int tpc = 0; tpc < (gpc < 2 ? 9 : 8); ++tpc)
            for (int sm = 0; sm < 2; ++sm) {
                const auto at = fmt::format("(GPC {}, TPC {}, SM {})", gpc, tpc, sm);
                lines.push_back("Graphics SM Warp Exception on " + at + ": Misaligned Address");
                lines.push_back("Graphics SM Global Exception on " + at + ": Multiple Warp Errors");
                lines.push_back("Graphics Exception: ESR 0x505730=0x506000f 0x505734=0x24");
            }
    lines.push_back("Graphics Exception: channel 0x0000000c, Class 0000cbc0, Offset 00000000, Data 00000000");
    return lines;
}

bool accuses(const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding& one) { return one.severity > Severity::info; });
}

// What a program alone can cause (NVIDIA's catalogue: the application is to be debugged or started again).
const std::uint32_t of_programs[] = {11, 13, 25, 31, 32, 39, 43, 44, 45, 60,  66,  68,
                                     69, 70, 80, 82, 85, 86, 88, 94, 96, 126, 137, 139};

} // namespace

TEST_CASE("one faulty program run ten times, on one GPU and on all, and as an array of 1,000 tasks") {
    for (const auto code : of_programs) {
        INFO(code);
        CHECK(is_programs(code)); // its owner reads of it
        const auto lines = lines_of_block(code);
        Host one;
        for (int i = 0; i < 10; ++i)
            CHECK_FALSE(accuses(one.fault(3, code, lines, alice)));
        Host all;
        for (int i = 0; i < 10; ++i)
            for (std::size_t gpu = 0; gpu < 8; ++gpu)
                CHECK_FALSE(accuses(all.fault(gpu, code, lines, alice)));
        Host array;
        bool accused = false;
        for (std::size_t task = 0; task < 1000; ++task)
            accused = accuses(array.fault(task % 8, code, lines, alice)) || accused;
        CHECK_FALSE(accused);
        // Nor programs of nobody knows whom.
        Host unknown;
        for (int i = 0; i < 10; ++i)
            CHECK_FALSE(accuses(unknown.fault(3, code, lines, std::nullopt)));
    }
}

TEST_CASE(
    "one part that fails under programs of two users is suspected, for as long as none ran well between") {
    for (const std::uint32_t code : {13U, 31U, 94U}) {
        INFO(code);
        const auto lines = lines_of_block(code);
        Host host;
        CHECK_FALSE(accuses(host.fault(0, code, lines, alice)));
        const auto findings = host.fault(0, code, lines, bob);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::warn);
        CHECK(findings[0].evidence.find("under programs of 2 users within a day") != std::string::npos);

        Host other;
        other.fault(0, code, lines, alice);
        CHECK_FALSE(accuses(other.fault(1, code, lines, bob))); // another GPU
        Host later;
        later.fault(0, code, lines, alice);
        later.run(25h, 1min);
        CHECK_FALSE(accuses(later.fault(0, code, lines, bob)));

        Host sound;
        sound.fault(0, code, lines, alice);
        sound.work(carol, 2min);
        CHECK_FALSE(accuses(sound.fault(0, code, lines, bob)));
        CHECK(accuses(sound.fault(0, code, lines, carol)));
        Host brief;
        brief.fault(0, code, lines, alice);
        brief.work(carol, 30s); // too short to say anything
        CHECK(accuses(brief.fault(0, code, lines, bob)));
        Host own;
        own.fault(0, code, lines, alice);
        own.work(alice, 2min);
        CHECK(accuses(own.fault(0, code, lines, bob)));
        Host failed;
        failed.fault(0, code, lines, alice);
        failed.gpu(0).users = {carol};
        failed.run(2min);
        CHECK(accuses(failed.fault(0, code, lines, carol)));
        failed.gpu(0).users.emplace();
        CHECK(accuses(failed.run(10s)));
    }
}

TEST_CASE("a fault all over the GPU is the program's, whoever runs it") {
    Host host;
    const auto lines = lines_of_grid();
    CHECK(lines.size() == 397);
    for (const auto user : {alice, bob, carol})
        CHECK_FALSE(accuses(host.fault(0, 13, lines, user)));
    // Beside it one multiprocessor is still watched.
    CHECK_FALSE(accuses(host.fault(0, 13, lines_of_block(13), alice)));
    CHECK(accuses(host.fault(0, 13, lines_of_block(13), bob)));
}

TEST_CASE("faults by programs on a real H100, as its kernel log has them, accuse nobody") {
    const auto text = test::recorded("h100/kmsg-faults.txt");
    if (text.empty()) return;
    Host host;
    std::istringstream records(text);
    std::size_t xids = 0;
    std::uint64_t before = 0;
    for (std::string record; std::getline(records, record);) {
        auto event = probe::parse_xid(probe::message_of(record));
        if (!event) continue;
        ++xids;
        // "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT"; looks are a second apart.
        const auto at =
            std::strtoull(record.c_str() + record.find(',', record.find(',') + 1) + 1, nullptr, 10);
        if (at > before + 1'000'000) CHECK_FALSE(accuses(host.run(base::Duration((at - before) / 1000))));
        before = at;
        event->pci = "0000:14:00";
        if (event->pid != 0) event->user = alice;
        host.sample.xids.push_back(*std::move(event));
    }
    CHECK(xids > 400);
    const auto findings = host.run(10s);
    CHECK_FALSE(accuses(findings));
    CHECK(findings.size() == 3); // XIDs 13, 31 and 43, for information
}
