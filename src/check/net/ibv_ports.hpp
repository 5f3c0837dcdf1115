// libibverbs at run time, and the ports that it shows: without it, there is an error message.
#pragma once

#include "base/expected.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace check::net {

struct IbvCalls; // ibv_calls.hpp

// Loads the one of `paths` whose name begins with "libibverbs.", else libibverbs.so.1. Errors:
// Code::not_found without the library, Code::unavailable when a name is missing, or when this build has no
// header of it.
base::Expected<std::shared_ptr<const IbvCalls>> open_ibv(std::span<const std::string> paths);

// "mlx5_0:1" for each active port. Errors: Code::unavailable: there is no device.
base::Expected<std::vector<std::string>> ibv_ports(const IbvCalls& calls);

} // namespace check::net
