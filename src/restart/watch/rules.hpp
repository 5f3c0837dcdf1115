// The health rules of a host: from samples to findings. Pure: no I/O, no clock.
//
// A rule is a row of a table (rules_table.cpp) with the source of its numbers. A condition becomes a finding
// when it has held for the rule's window and ends after a time of absence (window.hpp); a counter rule looks
// at growth within a period, never at lifetime values; an XID holds for a day, or for good when its remedy is
// a reset or a reboot: until the host, or nodewatchd after the repair, starts anew.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/sample.hpp"
#include "restart/watch/window.hpp"
#include "restart/watch/xid_table.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// A condition that is there or not. `name` is the finding's rule.
struct ConditionRule {
    std::string_view name;
    Severity severity;
    base::Duration window;
    std::string_view source;
};
std::span<const ConditionRule> condition_rules();

// A counter that grows by more than `more_than` within `period`.
struct CounterRule {
    std::string_view counter; // the finding's rule is "ib.counter." + this
    std::uint64_t more_than;
    base::Duration period;
    Severity severity;
    std::string_view source;
};
std::span<const CounterRule> counter_rules();

// The InfiniBand counters that some rule judges, each once.
std::vector<std::string> judged_counters();

// NVML's clock event bits that mean a slowed GPU, by the name that [throttle] reasons and findings use.
struct ThrottleReason {
    std::string_view name;
    std::uint64_t bit;
};
std::span<const ThrottleReason> throttle_reasons();

// What the configuration says.
struct Limits {
    std::set<std::string, std::less<>> throttle_evicts{"hw_power_brake", "hw_thermal_slowdown"};
    base::Duration throttle_window{5'000};
    base::Duration clear{30'000}; // absence that ends any finding
    base::Duration interval{1'000};
};

class Judge {
public:
    explicit Judge(Limits limits) : limits_(std::move(limits)) {}

    // New limits from now on; what has been seen stays.
    void set_limits(Limits limits) { limits_ = std::move(limits); }

    // Takes the next sample (`now` must not go back) and returns what holds now, by rule and component, each
    // pair once with its worst severity. Cost: linear in ports x counters + GPUs.
    std::vector<Finding> judge(const Sample& sample);

    // The digest of the fabric file that this host has been held against: once each port that the file lists
    // has been found, or has been missed for so long that a finding says so. Empty before.
    const std::string& fabric() const { return fabric_; }

private:
    struct Condition {
        Hold hold;
        Severity severity = Severity::info;
        std::string evidence; // of the last presence
        base::Duration window{};
        base::Time looked{};
    };
    struct XidRecord {
        base::Time first{}, last{};
        std::uint64_t count = 0; // within a day, as `times` is
        std::vector<base::Time> times;
        Severity severity = Severity::info;
        std::string text;
    };
    using Key = std::pair<std::string, std::string>; // rule, component
    // A port over time: by its HCA's GUID, since devices are renamed; by the device where none is told or two
    // tell the same.
    struct Port {
        Guid node = 0;
        std::string device;
        std::uint32_t number = 1;
        auto operator<=>(const Port&) const = default;
    };
    struct Seen {
        double rate = 0; // the best
        PortSample last;
    };

    void look(base::Time now, const Key& key, bool present, Severity severity, base::Duration window,
              std::string evidence);
    bool look(base::Time now, std::string_view rule, const std::string& component, bool present,
              std::string evidence);
    void judge_ports(base::Time now, const IbSample& ib);
    void judge_listed(base::Time now, const IbSample& ib);
    void forget_ports(base::Time now);
    void judge_counters(base::Time now, const PortSample& port, const std::string& component);
    void judge_gpu(base::Time now, const GpuSample& gpu);
    void judge_throttle(base::Time now, const GpuSample& gpu, const std::string& component);
    void judge_xid(base::Time now, const XidEvent& event);
    std::vector<Finding> holding() const;

    Limits limits_;
    std::map<Key, Condition> conditions_;
    std::map<std::pair<std::size_t, std::string>, Growth> growth_; // row of counter_rules(), component
    std::map<std::string, Growth> replays_;                        // GPU component
    std::map<Key, XidRecord> xids_;
    std::map<Port, Seen> seen_; // ports that were ACTIVE once
    Listing listing_;           // the last that was told
    std::string fabric_;
    std::map<std::string, std::string> gpu_by_pci_; // "0000:14:00" -> "gpu0"
};

} // namespace restart
