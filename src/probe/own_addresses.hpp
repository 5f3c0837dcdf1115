// The addresses of this host's network interfaces, as text: "10.0.0.3", "fe80::1%ib0", including loopback, in
// the format of getnameinfo(3). Empty: the kernel does not report them.
#pragma once

#include <functional>
#include <set>
#include <string>

namespace probe {

std::set<std::string, std::less<>> own_addresses();

} // namespace probe
