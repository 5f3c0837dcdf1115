// What nodewatchd reads from its sources at one moment; the input of the rules (rules/).
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
// differs between sources ("HCA-1" in a node description) and depends on the order in which drivers find
// devices.
struct ListedPort {
    Guid node = 0;
    Guid guid = 0;
    std::uint32_t port = 1;
    bool linked = true;    // the file has a link at this port
    std::string component; // name in findings: "mlx5_0:1" with the file's name of the device, else the GUID
};

struct Listing {
    std::string digest; // of the file; empty: none was read
    std::vector<ListedPort> ports;
    std::string why_not;             // why ports, or some, cannot be missing; empty: all can
    std::vector<std::string> gpus{}; // PCI addresses
};

// The count since the first report of a job's processes, and a description of the last one: "rank 3 (rail
// mlx5_3:1), peer 10.0.0.7 …".
struct UcxCount {
    std::uint64_t total = 0;
    std::string last;
};

// What the processes of one job on this host report about their UCX endpoints (librailucx.so). The job's own
// statements: shown, without other effect.
struct UcxJob {
    struct Path {
        std::string over; // JobUcx::Path
        std::uint64_t endpoints = 0;
        std::string to{}; // a peer
    };
    struct Rank {
        std::uint32_t rank = 0;
        std::string tls, devices; // UCX_TLS, UCX_NET_DEVICES
        std::string unseen;       // why its endpoints are unknown; empty: they are known
        std::vector<Path> paths;
    };
    std::string name;        // "job12"; "job12.uid1000.0" if several users or starts have it
    std::vector<Rank> ranks; // in order
    UcxCount failed, timeouts, refused, resent;
    // From the statistics of a UCX that was built with them: bytes over TCP to other hosts, dropped packets.
    std::optional<UcxCount> tcp_bytes, dropped;
};

// Input of one evaluation. A source that did not answer is absent: it neither raises nor clears.
struct Sample {
    base::Time now{}; // on a clock that never steps
    std::optional<IbSample> ib;
    std::optional<std::vector<GpuSample>> gpus;
    std::string no_nvml;                   // why NVML could not be started, if that is why `gpus` is absent
    std::vector<std::string> gpus_on_bus;  // PCI addresses, from the kernel, when NVML was last started
    std::vector<std::string> gpus_ignored; // those that the configuration excludes
    std::optional<HostSample> host;
    std::optional<bool> slurmd;      // whether the known slurmd, or a new one, runs; absent: none is known
    std::vector<MountSample> mounts; // those in the configuration
    std::optional<Listing> listed;
    std::vector<XidEvent> xids;           // new since the last sample
    std::vector<DriverLine> driver_lines; // new since the last sample
    std::vector<UcxJob> ucx;              // jobs with connected processes
};

} // namespace restart
