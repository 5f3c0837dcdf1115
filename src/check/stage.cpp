#include "check/stage.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace check {
namespace {

using restart::Finding;
using restart::Signal;

constexpr std::uint32_t faulty = 1; // the device under test

// How a source is brought to say a value.
struct Injector {
    std::string_view signal, through;
    double sound, of;
    bool from_the_start;
    base::Expected<void> (*set)(Bed&, double);
};

constexpr const char* by_nvml = "NVML";
constexpr const char* by_sysfs = "sysfs";

std::uint64_t whole(double value) {
    return value <= 0 ? 0 : static_cast<std::uint64_t>(value);
}

// Of a bed's GPU: generation 5, 16 lanes; 31 replays a minute are DCGM's for those.
const Injector injectors[] = {
    {"gpu.lost", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "lost", whole(v)); }},
    {"gpu.clock_events", by_nvml, 0, 0, false,
     [](Bed& bed, double v) { return bed.set_gpu(faulty, "reasons", whole(v)); }},
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
    {"ib.active", by_sysfs, 1, 0, false,
     [](Bed& bed, double v) { return bed.set_port(faulty, "state", v > 0 ? "4: ACTIVE" : "1: DOWN"); }},
    {"ib.present", by_sysfs, 1, 0, false,
     [](Bed& bed, double v) { return v > 0 ? bed.make_hca(faulty) : bed.remove_hca(faulty); }},
    {"ib.rate", by_sysfs, 400, 400, false,
     [](Bed& bed, double v) { return bed.set_port(faulty, "rate", fmt::format("{:g} Gb/sec (4X NDR)", v)); }},
    {"ib.came_up", by_sysfs, 1, 0, true,
     [](Bed& bed, double v) { return bed.set_port(faulty, "state", v > 0 ? "4: ACTIVE" : "1: DOWN"); }},
    {"ib.listed", by_sysfs, 1, 0, true,
     [](Bed& bed, double v) { return v > 0 ? base::Expected<void>{} : bed.remove_hca(faulty); }},
    {"ib.replaced", by_sysfs, 0, 0, true,
     [](Bed& bed, double v) {
         if (v > 0) bed.listing.ports[faulty].node += 0x1000; // another HCA works in its place
         return base::Expected<void>{};
     }},
};

class Through : public Stage {
public:
    Through(Bed& bed, const Injector& injector) : bed_(bed), injector_(injector) {}

    std::string_view through() const override { return injector_.through; }
    base::Expected<void> begin(const restart::RuleSet& rules, base::Duration interval) override {
        return bed_.begin(rules, interval);
    }
    base::Expected<void> set(double value, std::string_view) override { return injector_.set(bed_, value); }
    base::Expected<std::vector<Finding>> look() override { return bed_.look(); }
    std::string component() const override {
        if (injector_.through == by_nvml) return Bed::gpu_name(faulty);
        return Bed::port_name(faulty);
    }
    double sound() const override { return injector_.sound; }
    double of() const override { return injector_.of; }
    bool from_the_start() const override { return injector_.from_the_start; }

private:
    Bed& bed_;
    const Injector& injector_;
};

class Counter : public Stage {
public:
    Counter(Bed& bed, std::string_view name) : bed_(bed), name_(name) {}

    std::string_view through() const override { return by_sysfs; }
    base::Expected<void> begin(const restart::RuleSet& rules, base::Duration interval) override {
        return bed_.begin(rules, interval);
    }
    base::Expected<void> set(double value, std::string_view) override {
        return bed_.set_counter(faulty, name_, whole(value));
    }
    base::Expected<std::vector<Finding>> look() override { return bed_.look(); }
    std::string component() const override { return Bed::port_name(faulty); }
    double sound() const override { return static_cast<double>(Bed::counted); }
    double of() const override { return 0; }

private:
    Bed& bed_;
    std::string name_;
};

class Xid : public Stage {
public:
    explicit Xid(Bed& bed) : bed_(bed) {}

    std::string_view through() const override { return "kernel log"; }
    base::Expected<void> begin(const restart::RuleSet& rules, base::Duration interval) override {
        return bed_.begin(rules, interval);
    }
    base::Expected<void> set(double value, std::string_view text) override {
        return bed_.log(fmt::format("NVRM: Xid (PCI:{}): {}, {}", Bed::pci_of(faulty), value,
                                    text.empty() ? "pid=1, made up" : text));
    }
    base::Expected<std::vector<Finding>> look() override { return bed_.look(); }
    std::string component() const override {
        return bed_.has_gpus() ? Bed::gpu_name(faulty) : "gpu/" + Bed::pci_of(faulty);
    }
    double sound() const override { return 0; }
    double of() const override { return 0; }

private:
    Bed& bed_;
};

class JudgeAlone : public Stage {
public:
    explicit JudgeAlone(const restart::Rule& rule) : signal_(rule.signal) {
        const auto* kind = restart::find_signal_kind(signal_);
        event_ = kind && kind->shape == restart::Shape::event;
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
    double sound() const override { return event_ ? 0 : 100; }
    double of() const override { return 100; }

private:
    std::string signal_;
    bool event_ = false;
    std::optional<restart::RuleBook> book_;
    std::optional<Signal> coming_;
    base::Duration interval_{};
    base::Time now_{};
    double value_ = 0;
};

} // namespace

std::unique_ptr<Stage> stage_of(const restart::Rule& rule, Bed& bed) {
    // Of a counter the peers are the other ports; only some sources' doubles can move all of them.
    if (rule.signal == "gpu.xid") return std::make_unique<Xid>(bed);
    if (rule.signal.starts_with(restart::counter_prefix))
        return std::make_unique<Counter>(bed, rule.signal.substr(restart::counter_prefix.size()));
    const auto* known = std::find_if(std::begin(injectors), std::end(injectors),
                                     [&](const Injector& one) { return one.signal == rule.signal; });
    if (known != std::end(injectors) && (known->through != by_nvml || bed.has_gpus()))
        return std::make_unique<Through>(bed, *known);
    return std::make_unique<JudgeAlone>(rule);
}

} // namespace check
