// The fabric file as a long-lived process keeps it: read once at start, read again when it changes, and a
// broken file never replaces a good one.
//
// A thread of its own looks at the file once a second, so that nobody who schedules ever waits for a disk.
// The path is [placement] fabric of railyard.conf. Used inside slurmctld: nothing is thrown, and one line is
// logged for each change of state, not for each look.
#pragma once

#include "base/conf.hpp"
#include "topo/fabric.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace sched {

class FabricFile {
public:
    enum class Level { info, error };
    using Log = std::function<void(Level, const std::string&)>;
    // Gets each good fabric and the configuration that named it, at first from the constructor, later from
    // the thread.
    using Use = std::function<void(topo::Fabric&&, const base::Conf&)>;

    // Reads configuration and file before it returns, then watches. Neither callback may throw.
    FabricFile(Log log, Use use, std::chrono::milliseconds interval = std::chrono::seconds(1));
    ~FabricFile();
    FabricFile(const FabricFile&) = delete;
    FabricFile& operator=(const FabricFile&) = delete;

    // Read railyard.conf and the file again at the next look.
    void reload();

private:
    // What tells one state of a file from another; all 0 when it is not there.
    struct Stamp {
        std::int64_t seconds = 0, nanoseconds = 0;
        std::uint64_t size = 0, inode = 0;
        bool operator==(const Stamp&) const = default;
    };

    void find_path();
    void look();
    void say(Level level, std::string text);
    void watch();
    static Stamp stamp_of(const std::filesystem::path& path);

    const Log log_;
    const Use use_;
    const std::chrono::milliseconds interval_;
    base::Conf conf_;
    std::filesystem::path path_;
    Stamp stamp_;       // of the state last read, good or broken
    bool fresh_ = true; // nothing was read since find_path()
    bool have_ = false; // a good fabric was handed over
    std::string said_;  // the last line logged

    std::mutex mutex_; // guards stop_ and reload_
    std::condition_variable wake_;
    bool stop_ = false, reload_ = false;
    std::thread thread_;
};

} // namespace sched
