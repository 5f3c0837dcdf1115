// The driver's thread that reads and writes files which may be on hanging storage: the fabric file, and the
// health of hosts for placement. Nothing else waits for it: without them units stay as they were.
#include "restart/daemon/driver.hpp"

#include "base/log.hpp"
#include "base/units.hpp"
#include "restart/core/detect/health.hpp"
#include "restart/core/learn/learn.hpp"
#include "sched/ask/spare_floor.hpp"

#include <fmt/format.h>
#include <utility>

namespace restart {
namespace {

namespace fs = std::filesystem;
namespace log = base::log;

constexpr base::Duration first_patience{10'000}, again_patience{2'000}; // of callers that depend on the files
constexpr base::Duration hangs_after{10'000};

} // namespace

void Driver::run_files(const std::stop_token& stop) {
    const auto begins = [this] {
        const std::lock_guard lock(mutex_);
        files_began_ = std::chrono::steady_clock::now();
    };
    while (!stop.stop_requested()) {
        begins();
        load_fabric();
        write_health();
        std::unique_lock lock(mutex_);
        files_began_.reset();
        ++files_looks_;
        ended_.notify_all();
        wake_.wait_for(lock, stop, options_.tick, [this] { return files_wanted_; });
    }
    const std::lock_guard lock(mutex_);
    files_ended_ = true;
    ended_.notify_all();
}

void Driver::wait_for_files() {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, first_patience, [this] { return files_looks_ > 0; });
}

void Driver::look_at_files() {
    std::unique_lock lock(mutex_);
    files_wanted_ = true;
    wake_.notify_all();
    // A look under way may have begun with the previous options.
    const auto enough = files_looks_ + (files_began_ ? 2 : 1);
    ended_.wait_for(lock, again_patience, [&] { return files_looks_ >= enough || files_ended_; });
}

std::string Driver::files_error() const {
    if (!files_began_) return fabric_error_;
    const auto since =
        std::chrono::duration_cast<base::Duration>(std::chrono::steady_clock::now() - *files_began_);
    if (since < hangs_after) return fabric_error_;
    return fmt::format("{} or {} has not answered for {}: the storage hangs", options_.fabric.string(),
                       options_.health.string(), base::human_duration(since));
}

base::HealthMap Driver::weak_hosts() {
    const std::lock_guard lock(mutex_);
    return options_.policy.observe_only ? base::HealthMap()
                                        : health_of(state_, base::now(), options_.policy.lemon_half_life);
}

void Driver::write_health() {
    fs::path path;
    {
        const std::lock_guard lock(mutex_);
        path = options_.health;
    }
    const auto spares = learn_spares();
    if (!path.empty()) health_.write(path, {base::now(), weak_hosts(), spares, saved_jobs()});
}

// For whatever chooses which jobs to preempt.
base::SavedMap Driver::saved_jobs() {
    const std::lock_guard lock(mutex_);
    base::SavedMap saved;
    if (options_.policy.observe_only) return saved;
    for (const auto& [id, job] : state_.jobs)
        if (job.commit && id.index() == 0 && id.number() <= UINT32_MAX)
            saved[static_cast<std::uint32_t>(id.number())] = job.commit->committed;
    return saved;
}

// The spare floor follows what was learned about failures and repairs. Observing changes nothing, so
// placement then uses the configuration.
std::optional<base::SpareFloor> Driver::learn_spares() {
    const std::lock_guard lock(mutex_);
    if (!placing_) return {};
    const auto& policy = options_.policy;
    const auto of = [&](base::Duration mtbf, base::Duration repair) {
        const auto hosts = static_cast<std::uint32_t>(placing_->fabric.hosts.size());
        return sched::spares_for(hosts, mtbf, repair, options_.spare_risk);
    };
    SpareStatus spares;
    spares.hosts = static_cast<std::uint32_t>(placing_->fabric.hosts.size());
    spares.risk = options_.spare_risk;
    spares.configured = of(policy.mtbf_node, policy.repair_time);
    spares.learned = !policy.observe_only;
    spares.floor = spares.learned
                       ? of(host_mtbf(state_, policy), repair_time(state_, policy, base::now()).mean)
                       : spares.configured;
    placing_->spare_floor = spares.floor;
    spares_ = spares;
    return spares.learned ? std::optional(base::SpareFloor{spares.floor, spares.risk}) : std::nullopt;
}

std::shared_ptr<const sched::Placing> Driver::placing() {
    const std::lock_guard lock(mutex_);
    return placing_;
}

std::shared_ptr<const std::string> Driver::fabric_map() {
    const std::lock_guard lock(mutex_);
    return map_;
}

// Units follow the fabric file; a file that cannot be read leaves the old ones.
void Driver::load_fabric() {
    DriverOptions options;
    {
        const std::lock_guard lock(mutex_);
        options = options_;
        if (std::exchange(files_wanted_, false)) fabric_.forget(); // the result depends on options
    }
    auto loaded = fabric_.look(options.fabric, [&](std::uint32_t hosts) {
        return sched::spares_for(hosts, options.policy.mtbf_node, options.repair_time, options.spare_risk);
    });
    if (loaded && !*loaded) return;
    const std::lock_guard lock(mutex_);
    if (!loaded) {
        fabric_error_ = loaded.error().text;
        log::warning("{}: units stay as they were; railtopo discover makes the file", fabric_error_);
        return;
    }
    fabric_error_.clear();
    placing_ = std::move((*loaded)->placing);
    map_ = std::move((*loaded)->map);
    apply((*loaded)->places);
}

} // namespace restart
