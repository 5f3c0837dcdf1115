// A cabling plan: which port should be joined with which.
//
// It is a fabric file that `railtopo bless` has written, or a table of ends, as CSV
//     leaf-su1-r0,1,n001,mlx5_0/1
//     0x98039b0300a1b2c3,Port 2,n002 mlx5_0,1
// (device, port, device, port; a heading may name columns in another order, as UFM's "StartDevice,StartPort,
// EndDevice,EndPort" does), or as YAML: a list of such four, or of maps with device_a, port_a, device_b,
// port_b.
//
// A device is a switch, a host or "HOST DEVICE", by name or GUID; a port a number, "Port 5", the label of a
// switch with two ports a cage ("1/3/1" is 5), of a host "mlx5_0", "mlx5_0/1" or "mlx5_0:1".
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace topo {

struct CablingPlan {
    Fabric fabric;                  // as it should be, derived; what is seen has its GUIDs here too
    std::vector<std::string> notes; // sentences: what the plan does not tell
};

// Errors (Code::input) say "NAME:LINE: …": a port that stands twice, a name that several devices have, a line
// that is no cable, a fabric file that nobody blessed. Linear time.
base::Expected<CablingPlan> read_plan(std::string_view text, std::string_view name, const Fabric& seen);

// A fabric as a plan: what `railtopo bless` writes. Its source says so.
Fabric blessed(Fabric fabric);
bool is_blessed(const Fabric& fabric);
// The same as CSV, a cable a line; by names, and by GUIDs where several devices have one name.
std::string plan_csv(const Fabric& fabric);

} // namespace topo
