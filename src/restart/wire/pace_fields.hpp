// The fields of a host's pace, in a report and in what restartd keeps of it. Internal to restart; include
// only from .cpp files.
#pragma once

#include "restart/wire/codec.hpp"
#include "restart/wire/pace.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<RankPace> auto& rank) {
    codec("rank", rank.rank);
    codec("steps", rank.steps);
    codec("waited", rank.waited);
}

template <class Codec> void fields(Codec& codec, codec::Of<RasSign> auto& sign) {
    codec("gpu", sign.gpu);
    codec.maybe("silent", sign.silent);
    codec.maybe("behind", sign.behind);
}

template <class Codec> void fields(Codec& codec, codec::Of<GpuPace> auto& gpu) {
    codec("gpu", gpu.gpu);
    codec.maybe("sm_mhz", gpu.sm_mhz);
    codec.maybe("mem_mhz", gpu.mem_mhz);
    codec.maybe("power_w", gpu.power_w);
    codec.maybe("busy", gpu.busy);
    codec.maybe("pcie_gbs", gpu.pcie_gbs);
    codec.maybe("limit_w", gpu.limit_w);
    codec.maybe("capped", gpu.capped);
    codec.maybe("capped_mhz", gpu.capped_mhz);
    codec.maybe("slowed", gpu.slowed);
    codec.maybe("sm_active", gpu.sm_active);
    codec.maybe("tensor_active", gpu.tensor_active);
}

template <class Codec> void fields(Codec& codec, codec::Of<PortPace> auto& port) {
    codec("port", port.port, 64);
    codec("mb_s", port.mb_s);
    codec.maybe("peak_mb_s", port.peak_mb_s);
    codec.maybe("waits", port.waits);
    codec.maybe("resent", port.resent);
    codec.maybe("gbps", port.gbps);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostPace> auto& pace) {
    codec("window", pace.window);
    codec("seconds", pace.seconds);
    codec.maybe("gpus", pace.gpus, most_paced_gpus);
    codec.maybe("ports", pace.ports, most_paced_ports);
}

} // namespace restart
