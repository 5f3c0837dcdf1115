#include "restart/wire/signals.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace std::chrono_literals;
using namespace restart;

namespace {

const base::Time now{std::chrono::seconds(1'700'000'000)};

HostSignals sound() {
    HostSignals signals;
    signals.host = "n001";
    signals.time = now;
    signals.not_watching = {"kmsg: switched off by the configuration"};
    signals.rules = {{"gpu.lost", "gpu.lost", "", "gpu.lost 1", "fatal", "NVML"}};
    signals.rows = {{0, "gpu0", RuleStanding::finding, 1, {}, {}, Severity::fatal, now - 1min, "lost"},
                    {0, "", RuleStanding::unseen, {}, {}, {}, {}, {}, ""}};
    GpuPace gpu;
    gpu.gpu = 3;
    gpu.sm_mhz = 1980;
    gpu.power_w = 121.5;
    gpu.limit_w = 700;
    gpu.busy = 1;
    signals.gpus = {gpu};
    return signals;
}

std::string with(std::string_view from, std::string_view to) {
    auto body = sound().to_json();
    const auto at = body.find(from);
    REQUIRE(at != std::string::npos);
    return body.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("signals are written so that they read back") {
    const auto read = HostSignals::from_json(sound().to_json());
    REQUIRE(read);
    CHECK(*read == sound());
    SignalsAnswer answer;
    answer.time = now;
    answer.host = "n001";
    answer.state = SignalsState::here;
    answer.came = now;
    answer.signals = sound();
    const auto again = SignalsAnswer::from_json(answer.to_json());
    REQUIRE(again);
    CHECK(again->signals == answer.signals);
    CHECK(again->state == SignalsState::here);
    CHECK_FALSE(again->last_report);
}

TEST_CASE("what GPUs do stands before the rules") {
    const auto text = show(sound());
    INFO(text);
    CHECK(text.find("GPU   STATE    POWER  LIMIT  SM CLOCK  KERNELS") != std::string::npos);
    CHECK(text.find("gpu3  waiting  122 W  700 W  1980 MHz  100 %") != std::string::npos);
    auto damaged = sound();
    damaged.gpus[0].sm_active = 1.5;
    const auto refused = HostSignals::from_json(damaged.to_json());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.starts_with("gpus: gpu 3: "));
}

TEST_CASE("signals of a newer agent are read, and bad ones refused with the field") {
    CHECK(HostSignals::from_json(with("\"host\"", "\"what\":{\"is\":[1]},\"host\"")));
    const auto wrong = [](const std::string& body) {
        const auto read = HostSignals::from_json(body);
        REQUIRE_FALSE(read);
        CHECK(read.error().code == base::Code::input);
        return read.error().text;
    };
    CHECK(wrong(with("\"rule\":0", "\"rule\":1")) == "rows[0].rule: is no place in rules");
    CHECK(wrong(with("\"rule\":0", "\"rule\":-1")).starts_with("rows[0].rule"));
    CHECK(wrong(with("\"state\":\"finding\"", "\"state\":\"fine\"")).starts_with("rows[0].state"));
    CHECK(wrong(with("gpu0", "gpu\\u001b[31m")).starts_with("rows[0].component"));
    CHECK(wrong(with("gpu0", std::string(65, 'x'))).starts_with("rows[0].component"));
    CHECK(wrong(with("\"v\":1", "\"v\":2")).starts_with("v: "));
    CHECK_FALSE(wrong(with("\"value\":1E0", "\"value\":1E999")).empty());
    CHECK(wrong("{").size() > 0);
    auto many = sound();
    many.rows.assign(most_signal_rows + 1, many.rows.front());
    CHECK(wrong(many.to_json()).starts_with("rows: holds more than"));
    CHECK(wrong(std::string(most_signal_bytes + 1, ' ')).find("more than") != std::string::npos);
}

TEST_CASE("any cut list of signals is an error, never a crash") {
    const auto whole = sound().to_json();
    for (std::size_t i = 0; i < whole.size(); ++i)
        CHECK_FALSE(HostSignals::from_json(whole.substr(0, i)));
}
