// Where HCAs hang, and what tells them apart before it is known what they are for. Internal to src/topo/read.
#pragma once

#include "topo/fabric.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace topo {

// An HCA's attachment: the switch and rate of its first linked port.
struct Attachment {
    int leaf = none;
    std::uint32_t mbps = 0;
};

using Attachments = std::vector<std::vector<Attachment>>; // by host and HCA

Attachments attachments(const Fabric& fabric);

// By host and HCA what it is called, the same for the same device of all hosts: its canonical name. HCAs
// whose descriptions name a host and no device are "#0", "#1", …: the n-th of a host, in the order of its
// leaves' names, is the n-th of every host. Where a host has not as many as most, the leaf says which one it
// is. Where most have one, its name is empty. A device that few hosts have is called as one that its host
// lacks and that hangs on the same leaf elsewhere.
std::vector<std::vector<std::string>> device_keys(const Fabric& fabric, const Attachments& attached);

template <class Key> Key most_common(const std::map<Key, std::size_t>& counts) {
    Key best{};
    std::size_t most = 0;
    for (const auto& [key, count] : counts)
        if (count >= most) { // the larger key wins a tie
            best = key;
            most = count;
        }
    return best;
}

} // namespace topo
