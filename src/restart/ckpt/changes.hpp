// Waits for changes in folders, by the kernel's events (inotify(7)) where they tell of every change.
#pragma once

#include "base/unique_fd.hpp"

#include <map>
#include <string>
#include <vector>

namespace restart::ckpt {

class Changes {
public:
    Changes();

    // Follows these folders from now on, and no others; one that cannot be followed is left out: whoever
    // waits looks at times besides.
    void follow(const std::vector<std::string>& folders);

    // To be waited on for POLLIN; -1 where there are no events.
    int fd() const { return events_ ? events_.get() : -1; }
    void forget(); // what has come so far

private:
    base::UniqueFd events_;
    std::map<std::string, int> watched_;
};

} // namespace restart::ckpt
