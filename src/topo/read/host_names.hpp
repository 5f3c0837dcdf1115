// Which HCAs belong to one host, according to their descriptions.
#pragma once

#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace topo {

// "HCA-3" as the "mlx5_2" that it is: ibstat and the kernel's default description count HCAs from 1, the
// driver from 0. Any other device name is unchanged.
std::string canonical_device(std::string_view device);

// A host's name in the spelling that most HCAs use: "n005.example.org", "n005" and "N005" are the same host
// if no HCA is described in more than one way. Add all HCAs first.
class HostNames {
public:
    void see(std::string_view host, std::string_view device);
    void settle();
    std::string_view operator()(std::string_view host) const;

private:
    struct Spelling {
        std::string name;
        std::vector<std::string> devices; // canonical
    };
    std::unordered_map<std::string, std::vector<Spelling>> by_label_; // first label in lower case
    std::unordered_map<std::string, std::string> chosen_;             // spelling → host's name
};

// Host names that identify no machine: "localhost", "(none)".
bool names_no_host(std::string_view host);

// Splits machines that have the same name. If most devices of a host exist twice, and it has more HCAs than
// usual, it keeps the HCAs of one machine, judged by shared leaves and port numbers: the one next to its
// neighbours by number. So does a host whose devices are named in two ways, HCA-1 and mlx5_4, on leaves that
// no other host shares. Each other HCA becomes a separate host, like one whose description names no host,
// with its description as the device. Link ends are kept.
void part_namesakes(Fabric& fabric);

} // namespace topo
