// Rules of XIDs: each row, repetition, and texts that decide.
#include "restart/watch/rules/evidence.hpp"
#include "restart/watch/rules/table.hpp"
#include "unit/restart/watch/sound_host.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <utility>

using namespace std::chrono_literals;
using namespace restart;
using test::Host;

TEST_CASE("every row of the XID table becomes a finding of its severity on the right GPU") {
    for (const auto& row : shipped_rules()) {
        if (row.signal != "gpu.xid" || !row.text.empty()) continue;
        INFO(row.name);
        const auto code = static_cast<std::uint32_t>(row.to.value_or(row.value));
        Host host;
        host.run(1s);
        const auto findings = host.xid({"0000:30:00", code, ""});
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == fmt::format("gpu.xid.{}", code));
        CHECK(findings[0].component == "gpu1");
        CHECK(findings[0].severity == row.severity);
        CHECK(findings[0].fault == to_string(row.fault));
        CHECK(findings[0].evidence == evidence(row, {row.signal, "gpu1", double(code), 0, {}}, 0, 0));
        // A day later: what needs a reset or a reboot still holds.
        const bool stays = row.severity == Severity::evict || row.severity == Severity::fatal;
        host.sample.now += 24h;
        CHECK(host.run(1s).size() == (stays ? 1 : 0));
    }
}

TEST_CASE("an XID from NVML and the kernel log is one event; repeated ones escalate") {
    Host host;
    host.run(1s);
    for (int times = 1; times <= 5; ++times) {
        host.sample.xids.push_back({"0000:14:00.0", 63, ""});
        const auto findings = host.xid({"0000:14:00", 63, "Row Remapper"});
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == (times < 5 ? Severity::info : Severity::warn));
        CHECK(findings[0].evidence.find("Row Remapper") != std::string::npos);
        if (times == 5) CHECK(findings[0].evidence.find("5 bursts within a day") != std::string::npos);
        host.run(4min);
    }
}

TEST_CASE("XIDs of codes and GPUs nobody knows") {
    Host host;
    host.run(1s);
    const auto findings = host.xid({"0000:ff:00", 9999, "?"});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].component == "gpu/0000:ff:00");
    CHECK(findings[0].severity == Severity::warn);
}

TEST_CASE("XID 154 obeys its text, and the later text wins") {
    const std::pair<std::string_view, Severity> texts[] = {
        {"GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", Severity::fatal},
        {"GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)", Severity::fatal},
        {"GPU recovery action changed from 0x0 (None) to 0x3 (Drain P2P)", Severity::evict},
        {"GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)", Severity::evict},
        {"GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)", Severity::info},
        {"nonsense", Severity::warn},
    };
    Host host;
    host.run(1s);
    for (const auto& [text, severity] : texts) {
        INFO(text);
        CHECK(host.xid({"0000:14:00", 154, std::string(text)}).at(0).severity == severity);
        host.run(10s);
    }
}

TEST_CASE("a flood of XIDs stays within what a report can carry") {
    Host host;
    for (std::uint32_t code = 1; code <= 5000; ++code)
        host.sample.xids.push_back({"0000:14:00", code, "x"});
    CHECK(host.run(1s).size() <= 256);
}

TEST_CASE("an XID that the driver calls a consequence of another gets no advice of its own") {
    Host host;
    host.run(1s);
    const auto findings = host.xid({"0000:14:00", 94, "Ch 00000008 caused by previous Xid 149"});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::info);
    CHECK(findings[0].evidence.starts_with("XID 94: a consequence of the one that the text names"));
    CHECK(host.xid({"0000:30:00", 95, "Ch 00000008"}).back().severity != Severity::info);
}
