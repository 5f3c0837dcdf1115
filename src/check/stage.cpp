#include "check/stage.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace check {
namespace {

using restart::Finding;
using restart::Signal;

constexpr std::uint32_t faulty = 1; // the device under test

// How to make a source report a value.
struct Injector {
    std::string_view signal, through;
    double sound, of;
    bool from_the_start;
    base::Expected<void> (*set)(Bed&, double);
};

constexpr const char* by_nvml = "NVML";
constexpr const char* by_sysfs = "sysfs";
constexpr const char* by_proc = "proc";
constexpr const char* by_sample = "sample";
constexpr const char* by_job = "job socket";
constexpr const char* by_datagrams = "UCX datagrams";

std::uint64_t whole(double value) {
    return value <= 0 ? 0 : static_cast<std::uint64_t>(value);
}

std::string text(double value) {
    return fmt::format("{}", whole(value));
}

constexpr auto counted = static_cast<double>(Bed::counted);
constexpr auto endpoints = static_cast<double>(Bed::ucx_endpoints);

// This many of a job's endpoints use TCP, in an environment with this UCX_TLS.
base::Expected<void> set_tcp(Bed& bed, double value, const char* tls) {
    const auto off = std::min(whole(value), Bed::ucx_endpoints);
    bed.ucx.tls = tls;
    bed.ucx.paths = {{"rc_mlx5/" + Bed::port_name(faulty), Bed::ucx_endpoints - off}, {"tcp/eth0", off}};
    return bed.say_ucx();
}

base::Expected<void> set_ucx_count(Bed& bed, std::uint64_t restart::JobUcx::*count, double value) {
    bed.ucx.*count = whole(value);
    bed.ucx.last = "peer 10.0.0.7 over rc_mlx5/mlx5_1:1: Endpoint timeout";
    return bed.say_ucx();
}

// The bed's GPU: generation 5, 16 lanes; 31 replays a minute is DCGM's limit for those.
const Injector injectors[] = {
    {"gpu.lost", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "lost", whole(v)); }},
    {"gpu.missing", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "fail", v > 0 ? 999 : 0); }},
    {"gpu.clock_events", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "reasons", whole(v)); }},
    {"gpu.uncounted_events", by_nvml, 0, 0, false,
     [](Bed& bed, double v) {
         const auto older = bed.set_gpu(faulty, "fail_times", 3);
         return older ? bed.set_gpu(faulty, "reasons", whole(v)) : older;
     }},
    {"gpu.remap_failed", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "remap_failed", whole(v)); }},
    {"gpu.remap_pending", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "remap_pending", whole(v)); }},
    {"gpu.ecc_corrected", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "ecc_cor", whole(v)); }},
    {"gpu.ecc_uncorrected", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "ecc_unc", whole(v)); }},
    {"gpu.pcie_generation", by_nvml, 5, 5, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "pcie_gen", whole(v)); }},
    {"gpu.pcie_width", by_nvml, 16, 16, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "pcie_width", whole(v)); }},
    {"gpu.pcie_replays", by_nvml, 0, 31, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "pcie_replay", whole(v)); }},
    {"gpu.nvlinks", by_nvml, Bed::nvlinks, Bed::nvlinks, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "links_up", whole(v)); }},
    {"gpu.nvlink_crc", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "crc", whole(v)); }},
    {"gpu.nvlink_replays", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "replay", whole(v)); }},
    {"gpu.nvlink_recoveries", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "recovery", whole(v)); }},
    {"gpu.nvlink_rcv_errors", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "rcv", whole(v)); }},
    {"gpu.power_violation", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "power_ms", whole(v)); }},
    {"gpu.thermal_violation", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "hw_thermal_ms", whole(v)); }},
    {"gpu.power_brake_time", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "brake_ms", whole(v)); }},
    {"gpu.hw_thermal_time", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "hw_thermal_ms", whole(v)); }},
    {"gpu.sw_thermal_time", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "sw_thermal_ms", whole(v)); }},
    {"gpu.recovery_action", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "action", whole(v)); }},
    {"gpu.fabric_state", by_nvml, 3, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "fabric", whole(v)); }},
    {"gpu.fabric_status", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "fabric_status", whole(v)); }},
    {"gpu.unseen", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "fail_ecc", v > 0 ? 999 : 0); }},
    {"host.memory_corrected", by_sysfs, counted, 0, false,
     [](Bed& bed, double v) { return bed.set_file("sys/devices/system/edac/mc/mc0/ce_count", text(v)); }},
    {"host.memory_uncorrected", by_sysfs, counted, 0, false,
     [](Bed& bed, double v) { return bed.set_file("sys/devices/system/edac/mc/mc0/ue_count", text(v)); }},
    {"host.carrier_changes", by_sysfs, counted, 0, false,
     [](Bed& bed, double v) { return bed.set_file("sys/class/net/eth0/carrier_changes", text(v)); }},
    {"host.clock_source", by_sysfs, 0, 0, false,
     [](Bed& bed, double v) {
         constexpr std::array names{"tsc", "kvm-clock", "hpet", "acpi_pm", "jiffies", "another"};
         return bed.set_file("sys/devices/system/clocksource/clocksource0/current_clocksource",
                             names[std::min<std::size_t>(whole(v), names.size() - 1)]);
     }},
    {"host.clock_step", "clock", 0, 0, false,
     [](Bed& bed, double v) {
         bed.clock_jump_ms = v;
         return base::Expected<void>{};
     }},
    {"host.fabric_manager", by_proc, 1, 0, false,
     [](Bed& bed, double v) {
         return v > 0 ? bed.set_file(Bed::fabric_manager, "400 (nv-fabricmanage) S 1")
                      : bed.remove(Bed::fabric_manager);
     }},
    {"host.slurmd", by_sample, 1, 0, false,
     [](Bed& bed, double v) {
         bed.slurmd = v > 0;
         return base::Expected<void>{};
     }},
    {"host.peer_memory", by_sysfs, 1, 0, false,
     [](Bed& bed, double v) {
         return v > 0 ? bed.set_file("sys/module/nvidia_peermem/refcnt", "0")
                      : bed.remove("sys/module/nvidia_peermem");
     }},
    {"host.driver_blocked", by_sample, 0, 0, false,
     [](Bed& bed, double v) {
         bed.blocked_s = v;
         return base::Expected<void>{};
     }},
    {"mount.silent", by_sample, 0, 0, false,
     [](Bed& bed, double v) {
         bed.mount.silent_s = v;
         return base::Expected<void>{};
     }},
    {"mount.failed", by_sample, 0, 0, false,
     [](Bed& bed, double v) {
         bed.mount.failed = static_cast<int>(v);
         return base::Expected<void>{};
     }},
    {"mount.read_only", by_sample, 0, 0, false,
     [](Bed& bed, double v) {
         bed.mount.read_only = v > 0;
         return base::Expected<void>{};
     }},
    {"mount.free", by_sample, 50, 0, false,
     [](Bed& bed, double v) {
         bed.mount.free_percent = v;
         return base::Expected<void>{};
     }},
    {"ucx.fallback", by_job, 0, endpoints, false, [](Bed& bed, double v) { return set_tcp(bed, v, ""); }},
    {"ucx.chosen_tcp", by_job, 0, endpoints, false,
     [](Bed& bed, double v) { return set_tcp(bed, v, "tcp,self"); }},
    {"ucx.failures", by_job, 0, 0, false,
     [](Bed& bed, double v) { return set_ucx_count(bed, &restart::JobUcx::failed, v); }},
    {"ucx.timeouts", by_job, 0, 0, false,
     [](Bed& bed, double v) { return set_ucx_count(bed, &restart::JobUcx::timeouts, v); }},
    {"ucx.refused", by_job, 0, 0, false,
     [](Bed& bed, double v) { return set_ucx_count(bed, &restart::JobUcx::refused, v); }},
    {"ucx.resent", by_job, 0, 0, false,
     [](Bed& bed, double v) { return set_ucx_count(bed, &restart::JobUcx::resent, v); }},
    {"ucx.tcp_bytes", by_datagrams, 0, 0, false,
     [](Bed& bed, double v) {
         bed.statistics.devices["eth0"].sent = whole(v);
         bed.send_statistics();
         return base::Expected<void>{};
     }},
    {"ucx.dropped", by_datagrams, 0, 0, false,
     [](Bed& bed, double v) {
         bed.statistics.devices[Bed::port_name(faulty)].dropped = whole(v);
         bed.send_statistics();
         return base::Expected<void>{};
     }},
    {"ucx.unseen", by_job, 0, 0, false,
     [](Bed& bed, double v) {
         bed.ucx.unseen = v > 0 ? "this libucp has no ucp_ep_print_info" : "";
         return bed.say_ucx();
     }},
    {"ib.active", by_sysfs, 1, 0, false,
     [](Bed& bed, double v) { return bed.set_port(faulty, "state", v > 0 ? "4: ACTIVE" : "1: DOWN"); }},
    {"ib.present", by_sysfs, 1, 0, false,
     [](Bed& bed, double v) { return v > 0 ? bed.make_hca(faulty) : bed.remove_hca(faulty); }},
    {"ib.rate", by_sysfs, 400, 400, false,
     [](Bed& bed, double v) { return bed.set_port(faulty, "rate", fmt::format("{:g} Gb/sec (4X NDR)", v)); }},
    {"ib.pcie_width", by_sysfs, 16, 16, false,
     [](Bed& bed, double v) { return bed.set_file(Bed::pcie_file(faulty, "current_link_width"), text(v)); }},
    {"ib.pcie_speed", by_sysfs, 32, 32, false,
     [](Bed& bed, double v) {
         return bed.set_file(Bed::pcie_file(faulty, "current_link_speed"),
                             fmt::format("{:.1f} GT/s PCIe", v));
     }},
    {"ib.asic_temperature", by_sysfs, 55, Bed::asic_critical, false,
     [](Bed& bed, double v) { return bed.set_file(Bed::sensor_file(faulty, 1, "input"), text(v * 1000)); }},
    {"ib.module_temperature", by_sysfs, 45, Bed::module_critical, false,
     [](Bed& bed, double v) { return bed.set_file(Bed::sensor_file(faulty, 2, "input"), text(v * 1000)); }},
    {"ib.came_up", by_sysfs, 1, 0, true,
     [](Bed& bed, double v) { return bed.set_port(faulty, "state", v > 0 ? "4: ACTIVE" : "1: DOWN"); }},
    {"ib.listed", by_sysfs, 1, 0, true,
     [](Bed& bed, double v) { return v > 0 ? base::Expected<void>{} : bed.remove_hca(faulty); }},
    {"ib.unlisted", by_sysfs, 1, 0, false,
     [](Bed& bed, double v) {
         auto& listed = bed.listing.ports; // an HCA for storage, say, which is not in the file
         std::erase_if(listed, [](const auto& port) { return port.component == Bed::port_name(faulty); });
         return bed.set_port(faulty, "state", v > 0 ? "4: ACTIVE" : "1: DOWN");
     }},
    {"ib.replaced", by_sysfs, 0, 0, true,
     [](Bed& bed, double v) {
         if (v > 0) bed.listing.ports[faulty].node += 0x1000; // replaced by another HCA
         return base::Expected<void>{};
     }},
};

// A signal that a source of the bed can be made to report.
class OnBed : public Stage {
public:
    explicit OnBed(Bed& bed) : bed_(bed) {}
    base::Expected<void> begin(const restart::RuleSet& rules, base::Duration interval) override {
        return bed_.begin(rules, interval);
    }
    base::Expected<std::vector<Finding>> look() override { return bed_.look(); }
    double of() const override { return 0; }

protected:
    Bed& bed_;
};

class Through : public OnBed {
public:
    Through(Bed& bed, const Injector& injector) : OnBed(bed), injector_(injector) {}

    std::string_view through() const override { return injector_.through; }
    base::Expected<void> set(double value, std::string_view) override { return injector_.set(bed_, value); }
    std::string component() const override {
        const auto signal = injector_.signal;
        if (signal.starts_with("gpu.")) return Bed::gpu_name(faulty);
        if (signal.starts_with("mount.")) return bed_.mount.path;
        if (signal.starts_with("ucx.")) return Bed::ucx_job;
        if (signal.starts_with("host.memory_")) return "mc0";
        if (signal == "host.carrier_changes") return "eth0";
        if (signal.starts_with("ib.pcie_") || signal.ends_with("_temperature"))
            return fmt::format("mlx5_{}", faulty);
        return signal.starts_with("host.") ? "host" : Bed::port_name(faulty);
    }
    double sound() const override { return injector_.sound; }
    double of() const override { return injector_.of; }
    bool from_the_start() const override { return injector_.from_the_start; }
    int delay(base::Duration interval) const override {
        // Processes are walked once a minute.
        if (injector_.signal.starts_with("ib.pcie_")) return 5;
        if (injector_.signal.ends_with("_temperature")) return 30;
        if (injector_.through == by_proc) return static_cast<int>(std::chrono::minutes(1) / interval) + 1;
        return 0;
    }

private:
    const Injector& injector_;
};

class Counter : public OnBed {
public:
    Counter(Bed& bed, std::string_view name) : OnBed(bed), name_(name) {}

    std::string_view through() const override { return by_sysfs; }
    base::Expected<void> set(double value, std::string_view) override {
        return bed_.set_counter(faulty, name_, whole(value));
    }
    std::string component() const override { return Bed::port_name(faulty); }
    double sound() const override { return static_cast<double>(Bed::counted); }

private:
    std::string name_;
};

// The number after `mark`; 0 without it.
std::uint32_t number_behind(std::string_view text, std::string_view mark) {
    const auto at = text.find(mark);
    return at == std::string_view::npos
               ? 0
               : static_cast<std::uint32_t>(std::strtoul(text.data() + at + mark.size(), nullptr, 10));
}

// An NVLink 5 message for a word ("Fatal"), or a unit with a sub-code or a status bit
// ("RLW_REMAP<status.3>").
std::string words_of_nvlink5(std::string_view wanted) {
    wanted.remove_prefix(std::min(wanted.find_first_not_of(' '), wanted.size()));
    std::string unit(wanted.substr(0, wanted.find_first_of(" <")));
    if (unit.ends_with('_')) unit += "EVT"; // from a pattern that matches the names of several drivers
    const auto sub_code = number_behind(wanted, "<sub.");
    const auto status = wanted.find("<status.") == std::string_view::npos
                            ? 0
                            : 1U << (number_behind(wanted, "<status.") & 31);
    const bool is_unit = unit.find('_') != std::string_view::npos;
    return fmt::format("{} {} XC0 i0 Link 08 (0x{:08x} 0x{:08x})", is_unit ? unit : "NETIR_LINK_EVT",
                       is_unit ? "Fatal" : unit, 0x5c6U | (sub_code & 63) << 20, status);
}

// A line as drivers write it (watch/xid_words.hpp), with the text that a rule looks for; for XID 74 a bit of
// a register: "<r0.16>".
std::string words_of_driver(double code, std::string_view wanted) {
    if (code == 74) {
        std::array<std::uint32_t, 7> registers{};
        if (wanted.size() > 4 && wanted.starts_with("<r")) {
            const auto at = static_cast<std::size_t>(wanted[2] - '0');
            const auto bit = std::strtoul(wanted.data() + 4, nullptr, 10);
            registers[std::min(at, registers.size() - 1)] = 1U << (bit & 31);
        }
        return fmt::format("pid='<unknown>', NVLink: fatal error detected on link 2({:#x})",
                           fmt::join(registers, ", "));
    }
    if (code >= 144 && code <= 150) return words_of_nvlink5(wanted);
    if (!wanted.empty()) return std::string(wanted);
    if (code == 31) return "MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_4 faulted @ 0x8fc8_dbe00000";
    return "pid=1, Graphics SM Warp Exception on (GPC 3, TPC 2, SM 1): made up";
}

// What drivers write to the kernel log: NVIDIA's XIDs and other lines, messages of mlx5 and of PCIe ports.
class Logged : public OnBed {
public:
    Logged(Bed& bed, const restart::Rule& rule)
        : OnBed(bed), signal_(rule.signal), lockup_(signal_ == hca && rule.text.starts_with(lockup)) {}
    static bool is_of(std::string_view signal) {
        return signal == "gpu.xid" || signal == "gpu.log" || signal == nvswitch || signal == pcie ||
               signal == hca;
    }

    std::string_view through() const override { return "kernel log"; }
    base::Expected<void> set(double value, std::string_view text) override {
        if (lockup_ && text == lockup)
            return bed_.log("watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [ksoftirqd/3:39]\n"
                            "Modules linked in: mlx5_ib mlx5_core\nCall Trace:\n"
                            " mlx5e_napi_poll+0x1a/0x6c0 [mlx5_core]");
        if (signal_ == hca || signal_ == pcie)
            return bed_.log(fmt::format("mlx5_core {}: {}", Bed::hca_pci(faulty), text));
        if (signal_ == nvswitch) return bed_.log(switch_line(text));
        if (signal_ == "gpu.log")
            return bed_.log(fmt::format("NVRM: GPU {}.0: {}", Bed::pci_of(faulty), text));
        return bed_.log(fmt::format("NVRM: Xid (PCI:{}): {}, {}", Bed::pci_of(faulty), value,
                                    words_of_driver(value, text)));
    }
    std::string component() const override {
        if (lockup_) return "hca"; // a stack trace does not name the device
        if (signal_ == hca || signal_ == pcie) return fmt::format("mlx5_{}", faulty);
        if (signal_ == nvswitch) return std::string("nvswitch0");
        return bed_.has_gpus() ? Bed::gpu_name(faulty) : "gpu/" + Bed::pci_of(faulty);
    }
    double sound() const override { return 0; }

private:
    static constexpr std::string_view lockup = "soft lockup", hca = "hca.log", pcie = "pci.log",
                                      nvswitch = "nvswitch.log";

    // "SXid 1, Fatal" in the driver's format.
    static std::string switch_line(std::string_view text) {
        const auto number = text.substr(0, text.find(','));
        return fmt::format("nvidia-nvswitch0: SXid (PCI:0000:c0:00.0): 20034{}", text.substr(number.size()));
    }

    std::string_view signal_;
    bool lockup_;
};

class OnFabric : public Stage {
public:
    OnFabric(FabricBed& bed, std::string_view signal) : bed_(bed), signal_(signal) {}

    std::string_view through() const override { return bed_.through(); }
    base::Expected<void> begin(const restart::RuleSet& rules, base::Duration interval) override {
        return bed_.begin(rules, interval);
    }
    base::Expected<void> set(double value, std::string_view) override { return bed_.set(signal_, value); }
    base::Expected<std::vector<Finding>> look() override { return bed_.look(); }
    std::string component() const override { return bed_.component(signal_); }
    double sound() const override {
        if (signal_ == "link.rate") return bed_.gbps();
        if (signal_ == "link.credit_loop") return 1e6;
        if (signal_ == "link.slow_receiver") return 100;
        return signal_ == "rail.traffic" ? 1 : 0;
    }
    double of() const override { return bed_.gbps(); }

private:
    FabricBed& bed_;
    std::string signal_;
};

class JudgeAlone : public Stage {
public:
    explicit JudgeAlone(const restart::Rule& rule) : signal_(rule.signal) {
        const auto* kind = restart::find_signal_kind(signal_);
        event_ = kind && kind->shape == restart::Shape::event;
        // Also for a bit: which bits a sound number would have is for another rule to test.
        if (event_ || rule.test == restart::Test::above || rule.test == restart::Test::bit) sound_ = 0;
    }

    std::string_view through() const override { return "judge alone"; }
    base::Expected<void> begin(const restart::RuleSet& rules, base::Duration interval) override {
        restart::Limits limits;
        limits.interval = interval_ = interval;
        book_.emplace(rules, limits);
        now_ = base::Time(std::chrono::hours(480'000));
        value_ = sound();
        coming_.reset();
        return {};
    }
    base::Expected<void> set(double value, std::string_view text) override {
        value_ = value;
        coming_ = Signal{signal_, component(), value, of(), std::string(text)};
        return {};
    }
    base::Expected<std::vector<Finding>> look() override {
        now_ += interval_;
        std::vector<Signal> signals;
        if (!event_)
            for (const auto* name : {"first", "second", "third", "fourth"})
                signals.push_back({signal_, name, name == component() ? value_ : sound(), of(), {}});
        book_->look(now_, signals);
        if (event_ && coming_) book_->event(now_, *coming_);
        coming_.reset();
        return book_->findings(now_);
    }
    std::string component() const override { return "second"; }
    double sound() const override { return sound_; }
    double of() const override { return 100; }

private:
    std::string signal_;
    bool event_ = false;
    double sound_ = 100;
    std::optional<restart::RuleBook> book_;
    std::optional<Signal> coming_;
    base::Duration interval_{};
    base::Time now_{};
    double value_ = 0;
};

} // namespace

std::unique_ptr<Stage> stage_of(const restart::Rule& rule, const Beds& beds) {
    auto& bed = beds.host;
    if (rule.signal == "link.credit_loop" || rule.signal == "link.slow_receiver")
        return std::make_unique<OnFabric>(beds.made, rule.signal);
    if (restart::is_of_fabric(rule.signal)) return std::make_unique<OnFabric>(beds.fabric, rule.signal);
    if (Logged::is_of(rule.signal)) return std::make_unique<Logged>(bed, rule);
    if (rule.signal.starts_with(restart::counter_prefix))
        return std::make_unique<Counter>(bed, rule.signal.substr(restart::counter_prefix.size()));
    const auto* known = std::find_if(std::begin(injectors), std::end(injectors),
                                     [&](const Injector& one) { return one.signal == rule.signal; });
    if (known != std::end(injectors) && (known->through != by_nvml || bed.has_gpus()))
        return std::make_unique<Through>(bed, *known);
    return std::make_unique<JudgeAlone>(rule);
}

} // namespace check
