// Collects the readings of a host: InfiniBand, GPUs, the host itself, each file system and the fabric file in
// tasks of one loop, since a sick device makes its driver hang, the kernel log between two looks. A source
// that is missing or does not answer is said so; it never holds up the others. Only NVML's events have a
// thread of their own, which sleeps until one comes.
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
    base::Duration event_wait{30'000};      // for an event of NVML, at a time; who ends waits for it
    base::Duration nvml_again{300'000}; // NVML is started again so often while it answers nothing about a GPU
    std::filesystem::path proc = "/proc";
    base::Duration interval{1'000};
    base::Duration host_interval{10'000};  // of looks at the host itself, whose state changes slowly
    std::vector<std::string> mounts;       // file systems to look at
    base::Duration mount_interval{30'000}; // of looks at those
    std::vector<std::string> counters = RuleBook::counters({}); // of each port, that rules judge
    bool every_counter = false;                                 // of each port, not only those
    std::string fabric;                                         // file; empty: there is none
    std::string host;                                           // as the file calls it
    std::string folder; // of files for jobs, where its part of the fabric may be kept; empty: nowhere
    bool operator==(const SourceSettings&) const = default;
};

// One look. `sample.now` is the caller's.
struct Reading {
    Sample sample;
    std::map<std::string, bool> watching;     // "infiniband", "nvml", "kmsg", "host", "fabric"
    std::vector<std::string> not_watching;    // why not, and devices left out; a sentence each
    std::optional<base::SlurmdRecord> slurmd; // none: it does not run, or has no spank_rail
};

// A task that takes longer than this no longer holds up others.
base::Duration task_patience(base::Duration interval);

class Sources {
public:
    // The loop, which must outlive this, is one of its own where none is given. Reading relieves it.
    explicit Sources(SourceSettings settings, TaskLoop* loop = nullptr);
    ~Sources();
    Sources(const Sources&) = delete;
    Sources& operator=(const Sources&) = delete;

    // What is known now; takes the XIDs since the last call. Never waits.
    Reading read(base::Time now);

    // Waits, at most this long, until each task has a first result.
    void await_first(base::Duration longest);

    // These counters of each port are read from now on.
    void read_counters(std::vector<std::string> counters);

    // The fabric file is this one from now on; it is looked at once.
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
    std::unique_ptr<ListingFile> fabric_; // null: there is none
    // Shared with the tasks, which may outlive us while a driver holds them.
    std::shared_ptr<Ib> ib_;
    std::shared_ptr<Gpu> gpu_;
    std::shared_ptr<Host> host_;
    std::unique_ptr<MountLooks> mounts_;
    std::vector<TaskLoop::Task> tasks_;
    std::shared_ptr<TaskLoop::Task> gpu_users_;
    std::unique_ptr<Background> gpu_events_; // hears NVML's; null: before NVML is open
};

} // namespace restart
