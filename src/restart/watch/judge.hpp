// Current findings on a host: converts its samples to signals and applies the rules. Pure: no I/O, no clock.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/gpu_presence.hpp"
#include "restart/watch/port_signals.hpp"
#include "restart/watch/rules/rule_book.hpp"
#include "restart/watch/rules/rule_set.hpp"
#include "restart/watch/sample.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace restart {

class Judge {
public:
    explicit Judge(const Limits& limits, const RuleSet& rules = {});

    // Replaces limits and rules; what has been seen is kept (RuleBook::set).
    void set_rules(const Limits& limits, const RuleSet& rules);

    // Takes the next sample (`now` must not go back) and returns the current findings, by rule and component,
    // each pair once with its worst severity. Cost: linear in ports x counters + GPUs.
    std::vector<Finding> judge(const Sample& sample);

    // Every rule with its last values (RuleBook::view).
    std::vector<RuleView> view(base::Time now) { return book_.view(now, signals_); }

    // The digest of the fabric file with which this host has been compared: set once each port in the file
    // has been found, or has been missing long enough for a finding. Empty before.
    const std::string& fabric() const { return fabric_; }

    // The ports whose HCA has another name in the fabric file, by the last sample that had ports.
    const std::vector<PortName>& port_names() const { return ports_.names(); }

    // "gpu3"; "gpu/0000:14:00" for one that NVML has not reported, "gpu" if it is unknown which.
    std::string component_of(const XidEvent& event) const;

private:
    // Nothing for a line about a device that is not a GPU or HCA of this host.
    std::optional<Signal> signal_of(const DriverLine& line) const;
    std::string gpu_at(const std::string& pci) const;
    std::string hca_at(const std::string& pci) const;
    // The users that compute on the GPU now.
    void see_users(base::Time now, const std::string& gpu, const std::vector<std::uint32_t>& users);

    RuleBook book_;
    PortSignals ports_;
    GpuPresence presence_;
    bool has_infiniband_ = false; // an ACTIVE port, by the last sample that had ports
    bool has_switches_ = false;   // NVSwitch devices, by any sample
    std::vector<Signal> signals_; // of the last look; a member to reuse its memory
    Listing listing_;             // the last one given
    std::string fabric_;
    std::map<std::uint32_t, std::uint32_t> most_links_; // by GPU index: the most NVLinks that were up
    std::map<std::string, std::map<std::uint32_t, base::Time>> users_; // by GPU, and since when
    std::map<std::string, std::string> gpu_by_pci_;                    // "0000:14:00" -> "gpu0"
    std::map<std::string, std::string> hca_by_pci_;                    // "0000:13:00.0" -> "mlx5_0"
};

} // namespace restart
