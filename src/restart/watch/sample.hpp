// What nodewatchd reads from its sources at one moment; input of the rules (rules.hpp), which judge it.
#pragma once

#include "base/clock.hpp"
#include "probe/sample.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

using probe::DriverLine;
using probe::GpuSample;
using probe::Guid;
using probe::HostSample;
using probe::IbSample;
using probe::MountSample;
using probe::PortSample;
using probe::XidEvent;

// A port that the fabric file lists for this host. Only GUIDs identify the host's port: a device's name
// differs between sources ("HCA-1" in a node description) and with the order in which drivers find devices.
struct ListedPort {
    Guid node = 0;
    Guid guid = 0;
    std::uint32_t port = 1;
    bool linked = true; // the file knows a link of it
    std::string
        component; // what findings call it: "mlx5_0:1" with the file's name of the device, else the GUID
};

struct Listing {
    std::string digest; // of the file; empty: none was read
    std::vector<ListedPort> ports;
    std::string why_not;             // why ports, or some, cannot be missed; empty: all can
    std::vector<std::string> gpus{}; // PCI addresses
};

// So many since the first of a job's processes spoke, and in words the last: "rank 3 (rail mlx5_3:1),
// peer 10.0.0.7 …".
struct UcxCount {
    std::uint64_t total = 0;
    std::string last;
};

// What the processes of one job on this host say of their UCX endpoints (librailucx.so). A job's own words:
// they are shown, and move nothing.
struct UcxJob {
    struct Path {
        std::string over; // JobUcx::Path
        std::uint64_t endpoints = 0;
        std::string to{}; // likewise
    };
    struct Rank {
        std::uint32_t rank = 0;
        std::string tls, devices; // UCX_TLS, UCX_NET_DEVICES
        std::string unseen;       // why nothing is known of it; empty: it is
        std::vector<Path> paths;
    };
    std::string name;        // "job12"; "job12.uid1000" where several users claim the job
    std::vector<Rank> ranks; // in order
    UcxCount failed, timeouts, refused, resent;
    // By the statistics of a UCX that was built with them: bytes over TCP to other hosts, packets that were
    // dropped.
    std::optional<UcxCount> tcp_bytes, dropped;
};

// Everything one judgement looks at. A source that did not answer is absent: it neither raises nor clears.
struct Sample {
    base::Time now{}; // on a clock that never steps
    std::optional<IbSample> ib;
    std::optional<std::vector<GpuSample>> gpus;
    std::string no_nvml;                   // why NVML could not be started, where `gpus` is absent for that
    std::vector<std::string> gpus_on_bus;  // PCI addresses, by the kernel, when NVML was last started
    std::vector<std::string> gpus_ignored; // and those that the configuration says are not for this agent
    std::optional<HostSample> host;
    std::optional<bool> slurmd; // whether the slurmd that was seen runs, or another one; absent: none was
    std::vector<MountSample> mounts; // of the configuration
    std::optional<Listing> listed;
    std::vector<XidEvent> xids;           // new since the last sample
    std::vector<DriverLine> driver_lines; // likewise
    std::vector<UcxJob> ucx;              // jobs whose processes speak now
};

} // namespace restart
