#include "check/mpi/watch.hpp"

#include "base/cli.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace check::mpi {
namespace {

std::mutex where_mutex;
std::string now_at;

} // namespace

void say_where(std::string what) {
    const std::lock_guard lock(where_mutex);
    now_at = std::move(what);
}

GiveUp::GiveUp(base::Duration whole, std::function<void(const std::string&)> tell)
    : thread_([this, whole, tell = std::move(tell)] {
          std::unique_lock lock(mutex_);
          if (over_.wait_for(lock, whole, [this] { return done_; })) return;
          const std::lock_guard at(where_mutex);
          tell(fmt::format("not done within {}: {}", base::format_duration(whole), now_at));
          ::_exit(base::exit_usage);
      }) {}

GiveUp::~GiveUp() {
    {
        const std::lock_guard lock(mutex_);
        done_ = true;
    }
    over_.notify_all();
    thread_.join();
}

} // namespace check::mpi
