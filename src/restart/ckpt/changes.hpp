// Waits for changes in folders, by the kernel's events (inotify(7)) where they cover every change.
#pragma once

#include "base/unique_fd.hpp"

#include <map>
#include <string>
#include <vector>

namespace restart::ckpt {

class Changes {
public:
    Changes();

    // Follows these folders from now on, and no others; one that cannot be followed is left out: the caller
    // also polls from time to time.
    void follow(const std::vector<std::string>& folders);

    // Poll for POLLIN; -1 without events.
    int fd() const { return events_ ? events_.get() : -1; }
    void forget(); // discards pending events

private:
    base::UniqueFd events_;
    std::map<std::string, int> watched_;
};

} // namespace restart::ckpt
