#include "restart/daemon/health_writer.hpp"

#include "base/file.hpp"
#include "base/log.hpp"

#include <utility>

namespace restart {
namespace {

// In a large cluster some job commits at every moment; the age of a checkpoint matters only to the minute.
constexpr base::Duration saved_refresh = std::chrono::seconds(10);

} // namespace

void HealthWriter::write(const std::filesystem::path& path, base::HealthFile next) {
    if (path != std::exchange(path_, path)) last_.reset();
    // A clock that was set back must not keep the file from being written.
    const bool says_nothing = next.hosts.empty() && !next.spare_floor && next.saved.empty();
    const bool lasts = last_ && next.written >= last_->written &&
                       (says_nothing || next.written - last_->written < base::health_refresh);
    const bool saves = last_ && last_->saved != next.saved && next.written - last_->written >= saved_refresh;
    if (lasts && !saves && last_->hosts == next.hosts && last_->spare_floor == next.spare_floor) return;
    if (auto done = base::write_file(path, base::print_health(next)); !done) {
        if (error_ != done.error().text)
            base::log::warning("{}: placement does not learn which hosts to avoid", done.error().text);
        error_ = done.error().text;
        return;
    }
    error_.clear();
    last_ = std::move(next);
}

} // namespace restart
