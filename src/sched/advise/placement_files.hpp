// The files that placement follows, as a long-lived process keeps them: railyard.conf, and what its
// [placement] names, the fabric and the hosts' health. Read once at start, read again when they change; a
// broken file never replaces a good one.
//
// A thread of its own looks at the files once a second, so that nobody who schedules ever waits for a disk.
// Used inside a scheduler's daemon: nothing is thrown, and one line is logged for each change of state, not
// for each look. What memory was too short for, here or in a callback, is done again at the next look.
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
    // They run in the constructor and later in the thread. One that throws is called again at the next look.
    struct Callbacks {
        std::string manager; // the resource manager's name in the log: it chooses while there is no fabric
        std::function<void(Level, const std::string&)> log;
        // Each good fabric and the configuration that named it. False: it is of no use, which was logged.
        std::function<bool(topo::Fabric&&, const base::Conf&)> fabric;
        // The hosts to avoid where there is a choice, whenever they change. A file that is not there, or was
        // not written again in time (base::health_lapses), names none. Empty: health is not followed.
        std::function<void(base::HealthMap&&)> health;
        // How many hosts to keep free for restarts, as learned, whenever that changes; none: as the
        // configuration says. Empty: it is not followed.
        std::function<void(const std::optional<base::SpareFloor>&)> spares{};
        // When jobs were saved, whenever that changes. Empty: it is not followed.
        std::function<void(base::SavedMap&&)> saved{};
    };

    // Reads configuration and files before it returns, then watches.
    explicit PlacementFiles(Callbacks callbacks,
                            std::chrono::milliseconds interval = std::chrono::seconds(1));
    ~PlacementFiles();
    PlacementFiles(const PlacementFiles&) = delete;
    PlacementFiles& operator=(const PlacementFiles&) = delete;

    // Read all of them again now, changed or not; and watch, if there was no thread to be had before.
    void reload() noexcept;

private:
    struct Watched {
        std::filesystem::path path;
        base::FileStamp stamp; // of the state last read, good or broken
        bool fresh = true;     // to be read, changed or not
        std::string said;      // the last line logged about it

        // Whether the file is another one than at the last call.
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
        health_;                  // the paths of the latter are empty until there is a good configuration
    bool have_fabric_ = false;    // a good one was handed over
    base::Time health_written_{}; // of the health last handed over
    base::HealthMap avoided_;     // as last handed over
    std::optional<base::SpareFloor> spares_;
    base::SavedMap saved_;

    std::mutex mutex_; // guards stop_ and reload_
    std::condition_variable wake_;
    bool stop_ = false, reload_ = false;
    bool failed_ = false; // the last look
    std::thread thread_;
};

} // namespace sched
