// XIDs by what their texts name: sub-codes of NVLink's, repetition in one part, and those that follow
// another.
#include "restart/watch/xid_words.hpp"

#include "restart/watch/judge.hpp"
#include "restart/watch/rules/table.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace std::chrono_literals;
using namespace restart;

namespace {

// A host with one GPU, of which XIDs come.
struct Host {
    Sample sample;
    Judge judge{Limits{}};
    std::uint32_t next_user = 1000;

    Host() {
        sample.now = base::Time(std::chrono::seconds(1'700'000'000));
        sample.gpus.emplace();
        GpuSample gpu;
        gpu.pci = "0000:14:00.0";
        sample.gpus->push_back(gpu);
    }
    // Ten seconds later.
    std::vector<Finding> xid(std::uint32_t code, std::string text, base::Duration after = 10s) {
        sample.now += after;
        XidEvent event{"0000:14:00", code, std::move(text)};
        event.user = next_user++; // under a program of another user each time
        sample.xids = {std::move(event)};
        auto findings = judge.judge(sample);
        sample.xids.clear();
        return findings;
    }
    std::vector<Finding> after(base::Duration time) {
        sample.now += time;
        return judge.judge(sample);
    }
};

// The text of an XID 74 on that link, whose register has that bit set.
std::string nvlink(int link, int number, int bit) {
    std::string registers;
    for (int i = 0; i < 7; ++i)
        registers += fmt::format("{}0x{:x}", i == 0 ? "" : ", ", i == number ? 1U << bit : 0U);
    return fmt::format("NVLink: fatal error detected on link {}({})", link, registers);
}

Severity severity(const std::vector<Finding>& findings) {
    REQUIRE(findings.size() == 1);
    return findings[0].severity;
}

} // namespace

TEST_CASE("what XIDs' texts name") {
    const auto sm =
        words_of_xid(13, "Graphics SM Warp Exception on (GPC 3, TPC 12, SM 1): Out Of Range Address");
    CHECK(sm.part == "GPC 3 TPC 12");
    const auto link = words_of_xid(
        74, "NVLink: fatal error detected on link 2(0x10000, 0x0, 0x2001, 0x0, 0x0, 0x0, 0x80000000)");
    CHECK(link.part == "link 2");
    const auto mmu = words_of_xid(31, "channel 0x00000011, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 "
                                      "GPCCLIENT_T1_4 faulted @ 0x8fc8_dbe00000.");
    CHECK(mmu.part == "GPC1 GPCCLIENT_T1_4");
    CHECK(link.text.ends_with(") <r0.16><r2.0><r2.13><r6.31>"));
    const auto newer = words_of_xid(149, "NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x004505c6 0x00000000)");
    CHECK(newer.part == "link 8");
    CHECK(newer.text == "NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x004505c6 0x00000000) <sub.4>");
    CHECK(words_of_xid(145, "RLW_REMAP Nonfatal XC0 i0 Link 3 (0x00000082, 0x80000101)").text ==
          "RLW_REMAP Nonfatal XC0 i0 Link 3 (0x00000082, 0x80000101) <sub.0><status.0><status.8><status.31>");
    for (const auto* text :
         {"Link 3", "Link 3 (", "Link 3 ()", "Link 3 (0x)", "Link 3 (0x1ffffffff 0x1)", "(0x1 0x1)"}) {
        INFO(text);
        CHECK(words_of_xid(150, text).text == text);
    }
    for (const auto* text :
         {"", "link ", "on link x(0x1)", "on link 2", "on link 2(", "on link 2(0x", "link 99999999999(0x1)",
          "GPC , TPC ", "HUBCLIENT_CE0 faulted", "failed to train link 1 to remote PCI:0000:86:00"}) {
        INFO(text);
        CHECK(words_of_xid(74, text).text == text);
        CHECK(words_of_xid(13, text).part.empty());
        CHECK(words_of_xid(31, text).part.empty());
    }
    // More registers than there are, and values that are too large.
    CHECK(
        words_of_xid(74, "on link 0(0x1, 0x1, 0x1, 0x1, 0x1, 0x1, 0x1, 0x1, 0x1)").text.ends_with("<r6.0>"));
    CHECK(words_of_xid(74, "on link 0(0x1ffffffff, 0x1)").text == "on link 0(0x1ffffffff, 0x1)");
}

TEST_CASE("each bit of XID 74's registers has the severity of its row, alone and repeated") {
    struct Bits {
        int number;
        std::initializer_list<int> bits;
        Severity once;
        int times; // from which on it is evict; 0: never
    };
    const Bits all[] = {
        {0, {8, 9, 12, 16, 17, 24, 28}, Severity::evict, 0},
        {3, {18}, Severity::evict, 0},
        {0, {21, 22}, Severity::warn, 0},
        {2, {13}, Severity::warn, 0},
        {0, {1, 20}, Severity::warn, 0},
        {3, {16, 17}, Severity::warn, 0},
        {0, {4, 5}, Severity::info, 3},
        {2, {0, 1, 2, 6}, Severity::info, 3},
        {4, {18, 19, 21, 22, 24, 25, 27, 28}, Severity::info, 3},
        {0, {27, 29}, Severity::info, 2},
        {2, {16, 17, 18, 19}, Severity::info, 2},
        {0, {0, 23, 30}, Severity::info, 0},
        {4, {20, 23, 26, 29}, Severity::info, 0},
        {5, {3}, Severity::evict, 0}, // of no row: as long as nobody knows it is an error
    };
    for (const auto& row : all)
        for (const int bit : row.bits) {
            INFO(fmt::format("r{}.{}", row.number, bit));
            Host host;
            CHECK(severity(host.xid(74, nvlink(3, row.number, bit))) == row.once);
            // On other links it is no repetition.
            for (int link = 4; link < 10; ++link)
                CHECK(severity(host.xid(74, nvlink(link, row.number, bit))) == row.once);
            for (int times = 2; times <= 5; ++times)
                CHECK(severity(host.xid(74, nvlink(3, row.number, bit))) ==
                      (row.times > 0 && times >= row.times ? Severity::evict : row.once));
        }
}

TEST_CASE("of several bits the most serious counts, and what came before it does not hide it") {
    Host host;
    CHECK(severity(host.xid(74, nvlink(3, 0, 23))) == Severity::info);
    auto findings =
        host.xid(74, "NVLink: fatal error detected on link 3(0x810000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)");
    CHECK(severity(findings) == Severity::evict);
    CHECK(findings[0].fault == "gpu_error");
    CHECK(findings[0].evidence.find("check seating") != std::string::npos);
    findings = host.xid(74, nvlink(3, 0, 23));
    CHECK(severity(findings) == Severity::evict);
    CHECK(findings[0].evidence.find("<r0.16>") != std::string::npos); // still the words of the worst
    CHECK(host.after(48h).size() == 1);                               // it asks for a reset
}

TEST_CASE("an event that NVML tells without words is what the kernel log's words say, in either order") {
    Host host;
    SECTION("both in one look") {
        host.sample.now += 1s;
        host.sample.xids = {{"0000:14:00.0", 74, ""}, {"0000:14:00", 74, nvlink(3, 0, 23)}};
        CHECK(severity(host.judge.judge(host.sample)) == Severity::info);
    }
    SECTION("the words first") {
        CHECK(severity(host.xid(74, nvlink(3, 0, 23))) == Severity::info);
        CHECK(severity(host.xid(74, "", 1s)) == Severity::info);
    }
    SECTION("the words a moment later") {
        CHECK(severity(host.xid(74, "")) == Severity::evict);
        CHECK(severity(host.xid(74, nvlink(3, 0, 23), 1s)) == Severity::info);
    }
    // Another one without words is judged as such.
    CHECK(severity(host.xid(74, "")) == Severity::evict);
}

TEST_CASE("NVLink 5's events by the driver's word") {
    for (std::uint32_t code = 144; code <= 150; ++code) {
        INFO(code);
        const auto text = [](std::string_view word, int link) {
            return fmt::format("NETIR_LINK_EVT  {}   XC0 i0 Link {:02} (0x004505c6 0x00000000)", word, link);
        };
        Host fatal;
        CHECK(severity(fatal.xid(code, text("Fatal", 8))) == Severity::warn);
        Host ber;
        CHECK(severity(ber.xid(code, "NETIR_BER_EVENT  Fatal   XC0 i0 Link 08 (0x0)")) == Severity::info);
        Host unclear;
        CHECK(severity(unclear.xid(code, "something else")) == Severity::warn);
        Host nonfatal;
        for (int times = 1; times <= 4; ++times) {
            CHECK(severity(nonfatal.xid(code, text("Nonfatal", 8))) == Severity::info);
            CHECK(severity(nonfatal.xid(code, text("Nonfatal", 9 + times))) == Severity::info);
        }
        const auto fifth = nonfatal.xid(code, text("Nonfatal", 8));
        CHECK(severity(fifth) == Severity::warn);
        CHECK(fifth[0].evidence.find("5 times within a day to link 8") != std::string::npos);
    }
}

TEST_CASE("NVLink 5's sub-codes and status say who is to look") {
    constexpr std::uint32_t none = 32;
    struct Code {
        std::uint32_t xid;
        std::string_view unit;
        std::initializer_list<std::uint32_t> sub_codes, status; // a bit of it, or none
        Severity severity;
        std::string_view says;
    };
    const Code all[] = {
        {149, "NETIR_LINK_EVT  Fatal ", {38}, {none}, Severity::info, "taken down by software"},
        {149, "NETIR_LINK_EVT  Fatal ", {40}, {none}, Severity::warn, "because of its host"},
        {149, "NETIR_LINK_EVT  Fatal ", {15, 16, 17, 18, 22}, {none}, Severity::warn, "software asked for"},
        {149,
         "NETIR_LINK_DOWN Fatal ",
         {21, 32, 33, 34, 35, 36, 37},
         {none},
         Severity::warn,
         "its other end"},
        {149, "NETIR_LINK_EVT  Fatal ", {2, 4, 10, 42, 43}, {none}, Severity::warn, "by its signal"},
        {149,
         "NETIR_LINK_EVT  Fatal ",
         {0, 1, 3, 14, 19, 20, 23, 31, 39, 41, 44, 63},
         {none},
         Severity::warn,
         "calls fatal"},
        {149, "NETIR_BER_EVENT Nonfatal ", {0}, {0, 1}, Severity::info, "bit error rate"},
        {145, "RLW_RXPIPE Nonfatal ", {0}, {0, 1, 2}, Severity::warn, "lost packets"},
        {145, "RLW_RXPIPE Nonfatal ", {0}, {3, 31}, Severity::info, "corrected"},
        {145, "RLW_REMAP Nonfatal ", {0}, {0, 1, 2, 3, 4, 5}, Severity::info, "obey XID 154"},
        {145, "RLW_REMAP Fatal ", {0}, {6, 7}, Severity::warn, "calls fatal"},
        {145, "RLW_SRC_TRACK Nonfatal ", {0}, {2, 3}, Severity::info, "obey XID 154"},
        {145, "RLW_SRC_TRACK Fatal ", {0}, {0, 4, 5}, Severity::warn, "calls fatal"},
        {146, "TLW_RX_PIPE1 Fatal ", {0}, {2}, Severity::warn, "calls fatal"},
    };
    for (const auto& code : all)
        for (const auto sub : code.sub_codes)
            for (const auto status : code.status) {
                const auto text = fmt::format("{}  XC0 i0 Link 08 ({:#010x} {:#010x})", code.unit,
                                              sub << 20 | 0x5c6, status == none ? 0U : 1U << status);
                INFO(text);
                Host host;
                const auto findings = host.xid(code.xid, text);
                CHECK(severity(findings) == code.severity);
                CHECK(findings[0].evidence.find(code.says) != std::string::npos);
            }
}

TEST_CASE("an SM exception is a fault of the GPU when it comes again in the same TPC, not all over it") {
    const auto text = [](int gpc, int tpc) {
        return fmt::format("Graphics SM Warp Exception on (GPC {}, TPC {}, SM 0): Out Of Range Address", gpc,
                           tpc);
    };
    Host host;
    for (int i = 0; i < 20; ++i)
        CHECK(severity(host.xid(13, text(i / 4, i % 4))) == Severity::info);
    for (int i = 0; i < 5; ++i) // of no part
        CHECK(severity(host.xid(13, "Graphics Exception: ESR 0x51d730=0x9")) == Severity::info);
    CHECK(severity(host.xid(13, text(2, 3))) == Severity::warn);
    Host later;
    later.xid(13, text(1, 1));
    CHECK(severity(later.xid(13, text(1, 1), 23h)) == Severity::warn);
    Host day;
    day.xid(13, text(1, 1));
    CHECK(severity(day.xid(13, text(1, 1), 25h)) == Severity::info);
}

TEST_CASE("the same XID in five bursts a day is worth a warning, though each is none") {
    for (const std::uint32_t code : {63U, 121U}) {
        INFO(code);
        Host host;
        // A burst lasts as long as no three minutes pass without one.
        for (int i = 0; i < 40; ++i)
            CHECK(severity(host.xid(code, "burst", 179s)) == Severity::info);
        for (int i = 2; i < 5; ++i) {
            CHECK(severity(host.xid(code, "x", 180s)) == Severity::info);
            CHECK(severity(host.xid(code, "x")) == Severity::info);
        }
        const auto fifth = host.xid(code, "x", 180s);
        CHECK(severity(fifth) == Severity::warn);
        CHECK(fifth[0].evidence.find("5 bursts within a day") != std::string::npos);
        // Told by NVML without words, and by the kernel log with them, it is one.
        Host both;
        for (int i = 0; i < 4; ++i) {
            both.xid(code, "", 1h);
            CHECK(severity(both.xid(code, "x", 1s)) == Severity::info);
        }
        both.xid(code, "", 1h);
        CHECK(severity(both.xid(code, "x", 1s)) == Severity::warn);
        Host slow; // a burst that began more than a day ago is none any more
        for (int i = 0; i < 8; ++i)
            CHECK(severity(slow.xid(code, "x", 6h)) == Severity::info);
    }
}

TEST_CASE("an XID that follows another is left out; alone it is told") {
    Host host;
    auto findings = host.xid(45, "Ch 00000008");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].evidence.find("restart the fabric manager") != std::string::npos);
    findings = host.xid(31, "MMU Fault", 50s);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == "gpu.xid.31");
    findings = host.xid(45, "Ch 00000009", 30s);
    CHECK(findings.size() == 1); // after it, too
    CHECK(host.xid(45, "Ch 00000009", 61s).size() == 2);
    // Two that follow do not explain each other.
    Host both;
    both.xid(45, "x");
    CHECK(both.xid(172, "x", 1s).size() == 2);
}
