// The addresses of this host's network interfaces, as text: "10.0.0.3", "fe80::1%ib0", loopback too. Who
// writes numeric addresses as getnameinfo(3) does writes the same. Empty: the kernel does not say.
#pragma once

#include <functional>
#include <set>
#include <string>

namespace probe {

std::set<std::string, std::less<>> own_addresses();

} // namespace probe
