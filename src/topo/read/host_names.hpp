// Which HCAs are of one host, by what their descriptions say.
#pragma once

#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace topo {

// "HCA-3" as the "mlx5_2" that it is: ibstat and the kernel's default description count HCAs from 1, the
// driver from 0. Any other device name as it is.
std::string canonical_device(std::string_view device);

// A host's name in the spelling that most HCAs use: "n005.example.org" beside "n005", and "N005", are the
// same host where no HCA is described in both ways. Tell it all HCAs first.
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

// What names no machine: "localhost", "(none)".
bool names_no_host(std::string_view host);

// Machines that have one name: a host most of whose devices are there twice, and that has more HCAs than
// hosts have usually, keeps the HCAs of one of them, by the leaves that hosts share and by port numbers; the
// one whose neighbours by number are beside it. So does one whose devices are named in two ways, HCA-1 and
// mlx5_4, on leaves that no other host shares. Each other HCA becomes a host of its own, as one that names
// no host does, with its description for a device. Link ends are kept.
void part_namesakes(Fabric& fabric);

} // namespace topo
