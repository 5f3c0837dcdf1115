// What is laid over a picture of a fabric: states of hosts, jobs, and findings about links.
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
    std::optional<base::HostState> state; // nullopt: not known
    float health = 1;                     // 0 (avoid) … 1 (sound)
    std::string reason;                   // of a drain, when the source has it

    void worsen(base::HostState reported); // of several states the worst counts
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
        unknown; // named by a source, but not in the fabric; each once, not all of very many

    bool has_states() const { return !hosts.empty(); }
};

// Finds hosts for those who fill an overlay by name. Names that the fabric lacks go into `unknown`, in order
// once it is destroyed.
class OverlayHosts {
public:
    OverlayHosts(Overlay& overlay, const Fabric& fabric); // makes room for the states of all hosts
    OverlayHosts(const OverlayHosts&) = delete;
    OverlayHosts& operator=(const OverlayHosts&) = delete;
    ~OverlayHosts();

    std::optional<std::uint32_t> find(const std::string& name);

private:
    Overlay& overlay_;
    const Fabric& fabric_;
};

// Lays the states in `text` over the fabric: lines "HOST STATE [HEALTH]" (read/slurm_states.hpp), of which a
// host listed twice keeps the worse. What restartd knows is laid over by tool/status_overlay.hpp. Errors
// (Code::input): `name` with the line.
base::Expected<void> add_states(Overlay& overlay, const Fabric& fabric, std::string_view text,
                                std::string_view name);

// Lays a job "NAME=HOSTLIST" over the fabric. Errors (Code::usage): no name, no hosts, a broken host list,
// a host that is not in the fabric.
base::Expected<void> add_job(Overlay& overlay, const Fabric& fabric, std::string_view text);

// Findings of another day or program: what `railtopo check --json` prints, or lines of an end, such as
// "n002 mlx5_1/1" or "leaf-su1-r2/9", and after a tab what is wrong with it; '#' at a line's start is a
// comment. Errors (Code::input): `name` with the line, or with the field of the JSON.
base::Expected<std::vector<Finding>> parse_findings(std::string_view text, std::string_view name);

} // namespace topo
