// A cabling plan: which ports should be connected.
//
// It is a fabric file written by `railtopo bless`, or a table of ends, as CSV
//     leaf-su1-r0,1,n001,mlx5_0/1
//     0x98039b0300a1b2c3,Port 2,n002 mlx5_0,1
// (device, port, device, port; a heading may give the columns in another order, such as UFM's
// "StartDevice,StartPort, EndDevice,EndPort"), or as YAML: a list of these four values, or of maps with
// device_a, port_a, device_b, port_b.
//
// A device is a switch, a host or "HOST DEVICE", by name or GUID; a port a number, "Port 5", the label of a
// switch with two ports per cage ("1/3/1" is 5), or for a host "mlx5_0", "mlx5_0/1" or "mlx5_0:1".
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace topo {

struct CablingPlan {
    Fabric fabric;                  // as it should be, derived; parts that are seen have their GUIDs here
    std::vector<std::string> notes; // sentences: what the plan does not contain
};

// Errors (Code::input) read "NAME:LINE: …": a port that occurs twice, an ambiguous name, a line that is not a
// cable, a fabric file that was not blessed. Linear time.
base::Expected<CablingPlan> read_plan(std::string_view text, std::string_view name, const Fabric& seen);

// A fabric as a plan: what `railtopo bless` writes. This is recorded in its source.
Fabric blessed(Fabric fabric);
bool is_blessed(const Fabric& fabric);
// The same as CSV, one cable per line; by names, or by GUIDs if a name is ambiguous.
std::string plan_csv(const Fabric& fabric);

} // namespace topo
