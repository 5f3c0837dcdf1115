// What is drawn over a picture of a fabric: states of hosts, jobs, and findings about links.
#pragma once

#include "base/expected.hpp"
#include "base/host_state.hpp"
#include "topo/check/check.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace topo {

struct HostOverlay {
    std::optional<base::HostState> state; // nullopt: unknown
    float health = 1;                     // 0 (avoid) … 1 (healthy)
    std::string reason;                   // of a drain, if the source has it

    void worsen(base::HostState reported); // the worst of several states counts
};

struct JobOverlay {
    std::string name;
    std::vector<std::uint32_t> hosts; // ascending indices, each once
};

struct Overlay {
    std::vector<HostOverlay> hosts; // by host index of the fabric; empty: no state is known
    std::vector<JobOverlay> jobs;   // in the order given
    std::vector<Finding> findings;  // drawn at their ends
    std::vector<std::string>
        unknown; // named by a source, but not in the fabric; each once; the number is limited

    bool has_states() const { return !hosts.empty(); }
};

// Finds hosts for code that fills an overlay by name. Names that are not in the fabric are added to
// `unknown`, sorted once it is destroyed.
class OverlayHosts {
public:
    OverlayHosts(Overlay& overlay, const Fabric& fabric); // allocates the states of all hosts
    OverlayHosts(const OverlayHosts&) = delete;
    OverlayHosts& operator=(const OverlayHosts&) = delete;
    ~OverlayHosts();

    std::optional<std::uint32_t> find(const std::string& name);

private:
    Overlay& overlay_;
    const Fabric& fabric_;
};

// Adds the states in `text`: lines "HOST STATE [HEALTH]" (read/slurm_states.hpp); a host listed twice keeps
// the worse state. restartd's data is added by tool/status_overlay.hpp. Errors (Code::input): `name` with the
// line.
base::Expected<void> add_states(Overlay& overlay, const Fabric& fabric, std::string_view text,
                                std::string_view name);

// Adds a job "NAME=HOSTLIST". Errors (Code::usage): no name, no hosts, an invalid host list, a host that is
// not in the fabric.
base::Expected<void> add_job(Overlay& overlay, const Fabric& fabric, std::string_view text);

// Findings from another time or program: the output of `railtopo check --json`, or lines with an end, such as
// "n002 mlx5_1/1" or "leaf-su1-r2/9", a tab and a description of the problem; lines that start with '#' are
// comments. Errors (Code::input): `name` with the line, or with the field of the JSON.
base::Expected<std::vector<Finding>> parse_findings(std::string_view text, std::string_view name);

} // namespace topo
