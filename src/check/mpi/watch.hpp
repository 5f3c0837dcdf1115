// A bound on a program whose library may wait for ever: it says where it stands, and ends.
#pragma once

#include "base/clock.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace check::mpi {

// What is waited for now, for GiveUp.
void say_where(std::string what);

class GiveUp {
public:
    // After `whole` the process tells "not done within 10m: WHERE" and ends with status 2, without its
    // library, which the launcher ends on all hosts then. `tell` is called by another thread.
    GiveUp(base::Duration whole, std::function<void(const std::string&)> tell);
    ~GiveUp();
    GiveUp(const GiveUp&) = delete;
    GiveUp& operator=(const GiveUp&) = delete;

private:
    std::mutex mutex_;
    std::condition_variable over_;
    bool done_ = false;
    std::thread thread_;
};

} // namespace check::mpi
