// A time limit for a program whose library may wait forever: reports what it waits for, and ends it.
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
    // After `whole` the process reports "not done within 10m: WHERE" through `tell`, called in another
    // thread, and exits with status 2 without unloading its library; the launcher then ends it on all hosts.
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
