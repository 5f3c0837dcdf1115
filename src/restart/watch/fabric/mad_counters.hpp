// Queries to the performance management of switches and HCAs, as management datagrams through libibumad: many
// in flight at once, each answered or returned by the kernel after its timeout. Only Get is ever sent.
//
// Format: InfiniBand Architecture 1.7, 13.4.8.1 (ClassPortInfo), 16.1.3.5 (PortCounters), 16.1.4.11
// (PortCountersExtended). Addressed by LID on the default path: without a LID there is no performance
// management.
#pragma once

#include "restart/watch/fabric/counter_sweep.hpp"
#include "topo/read/mad_discover.hpp"

#include <memory>

namespace restart {

class MadCounters : public CounterLine {
public:
    // Opens the port; empty and 0 as in topo::MadPort. Error (Code::io): no such port, or it cannot be
    // opened.
    static base::Expected<std::unique_ptr<MadCounters>> open(const topo::MadPort& port);
    ~MadCounters() override;

    base::Expected<void> ask(const Question& question, base::Duration patience) override;
    base::Expected<std::optional<Answer>> next(base::Duration longest) override;
    std::chrono::steady_clock::time_point now() override { return std::chrono::steady_clock::now(); }

private:
    struct Port;
    explicit MadCounters(std::unique_ptr<Port> port);
    std::unique_ptr<Port> port_;
};

} // namespace restart
