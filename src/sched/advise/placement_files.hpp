// The files that placement follows, as kept by a long-lived process: railyard.conf, and the files named in
// its [placement]: the fabric and the hosts' health. Read once at start, and again when they change; a broken
// file never replaces a good one.
//
// A separate thread looks at the files once a second, so that the scheduler never waits for a disk. Used
// inside a scheduler's daemon: nothing is thrown, and one line is logged for each change of state, not for
// each look. What failed for lack of memory, here or in a callback, is repeated at the next look.
#pragma once

#include "base/conf.hpp"
#include "base/file.hpp"
#include "base/host_health.hpp"
#include "topo/fabric.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace sched {

class PlacementFiles {
public:
    enum class Level { info, error };
    // They run in the constructor and later in the thread. After an exception a callback is called again at
    // the next look.
    struct Callbacks {
        std::string manager; // the resource manager's name in the log: without a fabric it decides alone
        std::function<void(Level, const std::string&)> log;
        // Each good fabric and the configuration that named it. False: it is useless, which has been logged.
        std::function<bool(topo::Fabric&&, const base::Conf&)> fabric;
        // The hosts to avoid if there is a choice, whenever they change. A file that is missing, or was not
        // rewritten in time (base::health_lapses), counts as naming none. Empty: health is not followed.
        std::function<void(base::HealthMap&&)> health;
        // The learned number of hosts to keep free for restarts, whenever it changes; none: as configured.
        // Empty: it is not followed.
        std::function<void(const std::optional<base::SpareFloor>&)> spares{};
        // When each job was last saved, whenever that changes. Empty: it is not followed.
        std::function<void(base::SavedMap&&)> saved{};
    };

    // Reads configuration and files before it returns, then watches.
    explicit PlacementFiles(Callbacks callbacks,
                            std::chrono::milliseconds interval = std::chrono::seconds(1));
    ~PlacementFiles();
    PlacementFiles(const PlacementFiles&) = delete;
    PlacementFiles& operator=(const PlacementFiles&) = delete;

    // Reads all files again now, changed or not; and starts watching if no thread could be created before.
    void reload() noexcept;

private:
    struct Watched {
        std::filesystem::path path;
        base::FileStamp stamp; // of the state last read, good or broken
        bool fresh = true;     // must be read, changed or not
        std::string said;      // the last line logged about it

        // Whether the file differs from the one at the last call.
        bool changed();
    };

    void start() noexcept; // with mutex_ held
    void look(bool reload) noexcept;
    void complain(std::string_view what) noexcept;
    void find_paths();
    void look_at_fabric();
    void look_at_health();
    void take_health(base::HealthFile file);
    bool take_hosts(base::HealthMap hosts); // whether they changed
    void take_spares(const std::optional<base::SpareFloor>& spares);
    void take_saved(base::SavedMap saved);
    void say(Watched& about, Level level, std::string text);
    void watch() noexcept;

    const Callbacks callbacks_;
    const std::chrono::milliseconds interval_;
    base::Conf conf_;
    Watched conf_file_, fabric_,
        health_;                  // the latter's paths are empty until there is a good configuration
    bool have_fabric_ = false;    // a good one was passed on
    base::Time health_written_{}; // of the health last passed on
    base::HealthMap avoided_;     // as last passed on
    std::optional<base::SpareFloor> spares_;
    base::SavedMap saved_;

    std::mutex mutex_; // guards stop_ and reload_
    std::condition_variable wake_;
    bool stop_ = false, reload_ = false;
    bool failed_ = false; // the last look failed
    std::thread thread_;
};

} // namespace sched
