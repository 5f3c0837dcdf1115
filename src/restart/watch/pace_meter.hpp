// How the host got on with its jobs' work, window by window (wire/pace.hpp): means of what GPUs say of
// themselves, traffic of ports and its peaks, from the looks that the watcher takes anyway.
//
// A host on which nothing works has no pace: neither a GPU nor a port does anything, and no process makes
// marks.
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

// Of one look.
GpuPace pace_of(const GpuSample& gpu);

class PaceMeter {
public:
    // Counters of ports that it needs, beside those that rules judge.
    static const std::vector<std::string>& counters();

    // Windows are this long, as far as looks come; 0: there are none.
    void set_window(base::Duration window);

    // True: a window has ended with this look, and what its processes marked belongs to it. `wall` numbers
    // it, so that numbers do not come again when the agent is started anew.
    bool look(const Sample& sample, base::Time wall);

    // Of the last window; none: nothing worked, there is none, or it is too long ago. `marks`: whether
    // processes made some in it.
    std::optional<HostPace> pace(bool marks) const;

private:
    static constexpr std::size_t most_looks = 1024; // of a port in a window

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
        double pcie_gbs = 0; // the most: an idle link is slowed down
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
    bool worked_ = false; // something did, in the window that is closed
};

} // namespace restart
