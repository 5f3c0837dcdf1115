// Where HCAs are connected, and how they are distinguished before their purpose is known. Internal to
// src/topo/read.
#pragma once

#include "topo/fabric.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace topo {

// The switch and rate of an HCA's first linked port.
struct Attachment {
    int leaf = none;
    std::uint32_t mbps = 0;
};

using Attachments = std::vector<std::vector<Attachment>>; // by host and HCA

Attachments attachments(const Fabric& fabric);

// The key of each HCA by host, the same for the same device on all hosts: its canonical name. HCAs whose
// descriptions give a host but no device are "#0", "#1", …: the n-th of a host, in the order of its leaves'
// names, is the n-th of every host. If a host does not have as many as most, the leaf shows which one it is.
// If most hosts have one, its key is empty. A rare device gets the key of one that its host lacks and that is
// on the same leaf elsewhere.
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
