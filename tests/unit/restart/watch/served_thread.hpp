// Serves, as nodewatchd's main thread does, for as long as this is there.
#pragma once

#include "base/unique_fd.hpp"
#include "restart/watch/served.hpp"

#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace test {

class ServedThread {
public:
    explicit ServedThread(restart::Served& served)
        : stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this, &served] {
              restart::Served* const all[] = {&served};
              for (std::vector<pollfd> own{{stop_.get(), POLLIN, 0}}; own[0].revents == 0;)
                  restart::poll_and_serve(own, all, restart::Served::Clock::time_point::max());
          }) {}
    ServedThread(const ServedThread&) = delete;
    ServedThread& operator=(const ServedThread&) = delete;
    ~ServedThread() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto n = ::write(stop_.get(), &one, sizeof one);
        thread_.join();
    }

private:
    base::UniqueFd stop_;
    std::thread thread_;
};

} // namespace test
