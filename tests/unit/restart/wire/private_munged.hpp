// A munged with its own key and socket, started for a test and ended with it.
#pragma once

#include "unit/folder.hpp"

#include <string>
#include <sys/types.h>

namespace test {

class PrivateMunged {
public:
    PrivateMunged();
    PrivateMunged(const PrivateMunged&) = delete;
    PrivateMunged& operator=(const PrivateMunged&) = delete;
    ~PrivateMunged();

    // False when munged is not installed or does not start; `why` says so.
    bool up() const { return up_; }
    const std::string& why() const { return why_; }
    std::string socket() const { return (folder_.path / "munge.socket").string(); }
    pid_t pid() const { return pid_; }

private:
    Folder folder_;
    pid_t pid_ = -1;
    bool up_ = false;
    std::string why_;
};

} // namespace test

// Ends a test case that needs munged, saying so, where there is none.
#define NEED_MUNGED(munged)                                                                                  \
    if (!(munged).up()) {                                                                                    \
        WARN("SKIP: " << (munged).why());                                                                    \
        return;                                                                                              \
    }
