// Collects the readings of a host: InfiniBand, GPUs, the host itself, each file system and the fabric file in
// tasks of one loop, since a faulty device makes its driver hang; the kernel log between two looks. A source
// that is missing or does not answer is reported; it never blocks the others. Only NVML's events have their
// own thread, which sleeps until one comes.
#pragma once

#include "base/slurmd_record.hpp"
#include "restart/watch/background.hpp"
#include "restart/watch/listing_file.hpp"
#include "restart/watch/mount_looks.hpp"
#include "restart/watch/rules/rule_book.hpp"
#include "restart/watch/sample.hpp"
#include "restart/watch/task_loop.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace restart {

struct SourceSettings {
    std::filesystem::path sysfs = "/sys";
    std::vector<std::string> ignored_devices;
    std::string nvml = "libnvidia-ml.so.1"; // empty: do not watch
    std::string kmsg = "/dev/kmsg";         // empty: do not watch
    base::Duration event_wait{30'000};      // for one wait for an NVML event; destruction waits for it
    base::Duration nvml_again{300'000}; // minimum time between restarts of NVML while a GPU gives no answers
    std::filesystem::path proc = "/proc";
    base::Duration interval{1'000};
    base::Duration host_interval{10'000};  // between samples of the host itself, whose state changes slowly
    std::vector<std::string> mounts;       // file systems to check
    base::Duration mount_interval{30'000}; // between these checks
    std::vector<std::string> counters = RuleBook::counters({}); // of each port, for the rules
    bool every_counter = false;                                 // read all counters of each port
    std::string fabric;                                         // path; empty: none
    std::string host;                                           // its name in the file
    std::string folder; // for a copy of this host's part of the fabric file; empty: none
    bool operator==(const SourceSettings&) const = default;
};

// One look. The caller sets `sample.now`.
struct Reading {
    Sample sample;
    std::map<std::string, bool> watching;     // "infiniband", "nvml", "kmsg", "host", "fabric"
    std::vector<std::string> not_watching;    // reasons, and devices left out; one sentence each
    std::optional<base::SlurmdRecord> slurmd; // none: it does not run, or has no spank_rail
};

// After this time a task no longer blocks the others.
base::Duration task_patience(base::Duration interval);

class Sources {
public:
    // Uses its own loop if none is given; `loop` must outlive this. read() relieves the own loop.
    explicit Sources(SourceSettings settings, TaskLoop* loop = nullptr);
    ~Sources();
    Sources(const Sources&) = delete;
    Sources& operator=(const Sources&) = delete;

    // The current readings; takes the XIDs since the last call. Never waits.
    Reading read(base::Time now);

    // Waits, at most this long, until each task has a first result.
    void await_first(base::Duration longest);

    // Sets the counters to read for each port from now on.
    void read_counters(std::vector<std::string> counters);

    // Changes the fabric file, and reads it now.
    void look_at_fabric(const std::string& path);

private:
    struct Ib;
    struct Gpu;
    struct Log;
    struct Host;
    void read_ib(Reading& into);
    void read_gpus(Reading& into);
    void read_log(Reading& into);
    void read_host(Reading& into);
    void read_fabric(Reading& into);

    SourceSettings settings_;
    std::unique_ptr<TaskLoop> own_loop_;
    TaskLoop& loop_;
    bool had_ports_ = false;
    std::unique_ptr<Log> log_;
    std::unique_ptr<ListingFile> fabric_; // null: none
    // Shared with the tasks, which may outlive us while a driver holds them.
    std::shared_ptr<Ib> ib_;
    std::shared_ptr<Gpu> gpu_;
    std::shared_ptr<Host> host_;
    std::unique_ptr<MountLooks> mounts_;
    std::vector<TaskLoop::Task> tasks_;
    std::shared_ptr<TaskLoop::Task> gpu_users_;
    std::unique_ptr<Background> gpu_events_; // receives NVML's events; null: before NVML is open
};

} // namespace restart
