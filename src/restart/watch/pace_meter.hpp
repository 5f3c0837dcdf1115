// The progress of jobs on this host, window by window (wire/pace.hpp): means of GPU readings, traffic of
// ports and its peaks, from the samples that the watcher takes anyway.
//
// A host without work has no pace: no GPU and no port is active, and no process makes marks.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/sample.hpp"
#include "restart/wire/pace.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace restart {

// The pace of one sample.
GpuPace pace_of(const GpuSample& gpu);

class PaceMeter {
public:
    // Counters of ports that it needs, in addition to those of rules.
    static const std::vector<std::string>& counters();

    // Sets the length of windows, rounded up to the next look; 0: none.
    void set_window(base::Duration window);

    // True: a window has ended with this look, and marks of processes in it belong to it. `wall` numbers the
    // window, so that numbers are not reused when the agent is restarted.
    bool look(const Sample& sample, base::Time wall);

    // Of the last window; none: nothing worked, there is no window, or it is too old. `marks`: whether
    // processes made marks in it.
    std::optional<HostPace> pace(bool marks) const;

private:
    static constexpr std::size_t most_looks = 1024; // of a port in one window

    struct Mean {
        double sum = 0;
        std::uint32_t n = 0;
        void add(const std::optional<double>& value) {
            if (value) sum += *value, ++n;
        }
        std::optional<double> take() const;
    };
    struct Gpu {
        Mean sm_mhz, mem_mhz, power_w, busy, limit_w, capped, capped_mhz, slowed, sm_active, tensor_active;
        double pcie_gbs = 0; // the maximum: idle links run slower
    };
    struct Counts {
        std::uint64_t bytes = 0, resent = 0;
        std::optional<std::uint64_t> waits;
    };
    struct Port {
        std::optional<Counts> last;
        base::Time at{};
        double seconds = 0, bytes = 0, waits = 0, resent = 0, gbps = 0;
        bool has_waits = false;
        std::vector<double> mb_s; // between looks
    };
    static std::optional<Counts> counts_of(const PortSample& port);
    void take(const GpuSample& gpu);
    void take(const PortSample& port, base::Time now);
    void close(base::Time now, base::Time wall);

    base::Duration window_{};
    std::optional<base::Time> begun_;
    base::Time last_look_{};
    std::map<std::uint32_t, Gpu> gpus_;
    std::map<std::string, Port> ports_;
    std::optional<HostPace> closed_;
    bool worked_ = false; // something worked in the window that was closed
};

} // namespace restart
