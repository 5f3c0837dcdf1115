// What the environment lets UCX use. Pure.
#pragma once

#include <string_view>

namespace base {

// Whether UCX_TLS lets UCX use InfiniBand: it names a transport that does, or some that are not to be used.
// Empty: all.
bool ucx_tls_has_infiniband(std::string_view tls);

// Whether UCX_NET_DEVICES does: "all", or a name with a port, "mlx5_0:1", as only HCAs have. Empty: all.
bool ucx_devices_have_infiniband(std::string_view devices);

} // namespace base
