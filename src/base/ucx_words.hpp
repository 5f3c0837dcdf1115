// What the environment allows UCX to use. Pure.
#pragma once

#include <string_view>

namespace base {

// Whether UCX_TLS allows InfiniBand: it names a transport that uses it, or only excludes others. Empty: all.
bool ucx_tls_has_infiniband(std::string_view tls);

// Whether UCX_NET_DEVICES allows InfiniBand: "all", or a name with a port, "mlx5_0:1", which only HCAs have.
// Empty: all.
bool ucx_devices_have_infiniband(std::string_view devices);

} // namespace base
