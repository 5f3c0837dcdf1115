#include "restart/watch/sources.hpp"

#include "base/units.hpp"
#include "probe/kmsg_log.hpp"
#include "probe/nvml_gpus.hpp"
#include "probe/pci_tree.hpp"
#include "probe/proc_host.hpp"
#include "probe/sysfs_ib.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace restart {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A driver may be loaded, a log may appear, after we have started.
constexpr base::Duration look_again = 30s;

// A source that has not answered for this long is reported as not watched.
base::Duration patience(base::Duration interval) {
    return std::max<base::Duration>(15s, 5 * interval);
}

std::string age(Clock::time_point came) {
    return base::human_duration(std::chrono::duration_cast<base::Duration>(Clock::now() - came));
}

std::string no_ports(const SourceSettings& settings) {
    return fmt::format("infiniband: no ports under {}", (settings.sysfs / "class/infiniband").string());
}

// A bridge of a large host has some hundred devices below it, and logs several lines for one fault.
constexpr std::size_t most_driver_lines = 1024;

constexpr std::string_view switched_off = "switched off by the configuration";

} // namespace

struct Sources::Ib {
    probe::SysfsIb sysfs; // used by the task only
    base::Duration interval;
    probe::SysfsIb::Depth depth;
    Latest<IbSample> latest;
    std::mutex mutex;
    std::optional<std::vector<std::string>> fresh_counters; // to be used from the next sample on

    Clock::time_point look() {
        {
            const std::lock_guard lock(mutex);
            if (fresh_counters) sysfs.judge(*std::exchange(fresh_counters, std::nullopt));
        }
        latest.put(sysfs.sample(depth));
        return next_beat(interval);
    }
};

struct Sources::Gpu {
    std::string library;
    base::Duration interval;
    Latest<std::vector<GpuSample>> latest;
    std::mutex mutex; // of the members below
    std::shared_ptr<probe::NvmlGpus> gpus;
    std::optional<std::string> failure; // why `gpus` is null
    std::vector<XidEvent> xids;
    std::vector<XidEvent> of_whom; // those whose user is not known yet
    std::filesystem::path sysfs{};
    std::vector<std::string> on_bus{};        // GPUs, from the kernel
    std::atomic<bool> silent = false;         // NVML must be restarted once its users have released it
    base::Duration again{};                   // minimum time between restarts
    Clock::time_point started{};              // when NVML was started
    std::weak_ptr<probe::NvmlGpus> leaving{}; // the previous instance

    std::shared_ptr<probe::NvmlGpus> opened() {
        const std::lock_guard lock(mutex);
        return gpus;
    }

    void open() {
        started = Clock::now();
        auto fresh = probe::NvmlGpus::open(library);
        // Without the library, GPUs without a driver are not in use.
        auto found = probe::gpus_on_bus(sysfs, fresh || fresh.error().code != base::Code::not_found);
        const std::lock_guard lock(mutex);
        on_bus = std::move(found);
        failure.reset();
        if (fresh)
            gpus = std::make_shared<probe::NvmlGpus>(*std::move(fresh));
        else
            failure = fresh.error().text;
    }

    void close_when_silent() {
        std::shared_ptr<probe::NvmlGpus> old; // destroyed outside the lock, as this may hang
        const std::lock_guard lock(mutex);
        if (!gpus || !gpus->has_silent() || Clock::now() - started < again) return;
        old = std::move(gpus);
        leaving = old;
    }

    Clock::time_point look() {
        close_when_silent();
        if (!opened()) {
            // NVML restarts only when the old instance is gone; the XID thread releases it soon.
            if (!leaving.expired()) return next_beat(interval);
            open();
        }
        const auto there = opened();
        if (!there) return next_beat(look_again);
        latest.put(there->sample());
        silent = there->has_silent();
        return next_beat(interval);
    }

    // The driver may not answer, so the events were reported without users first; with users they are
    // reported again, as the same event.
    Clock::time_point ask_users() {
        std::vector<XidEvent> of;
        {
            const std::lock_guard lock(mutex);
            std::swap(of, of_whom);
        }
        const auto there = opened();
        std::map<std::string, std::optional<std::uint32_t>> users;
        for (auto& event : of)
            if (auto [user, first] = users.try_emplace(event.pci); first && there)
                user->second = there->only_user(event.pci);
        std::erase_if(of, [&](auto& event) { return !(event.user = users.at(event.pci)); });
        const std::lock_guard lock(mutex);
        xids.insert(xids.end(), of.begin(), of.end());
        return Clock::time_point::max();
    }

    // Receives XIDs at once, even while a query hangs: that is when they explain it.
    void hear(const std::stop_token& stop, base::Duration longest, TaskLoop::Task& users) {
        while (!stop.stop_requested()) {
            const auto began = Clock::now();
            auto there = opened();
            if (!there) { // being restarted
                if (!pause(stop, 1s)) return;
                continue;
            }
            const auto fresh = there->wait_xids(silent ? std::min<base::Duration>(longest, 1s) : longest);
            if (!fresh.empty()) {
                {
                    const std::lock_guard lock(mutex);
                    xids.insert(xids.end(), fresh.begin(), fresh.end());
                    of_whom.insert(of_whom.end(), fresh.begin(), fresh.end());
                }
                users.now();
            } else if (!there->has_xid_events()) {
                there.reset(); // released for the restart of NVML; the next instance may have them
                if (!pause(stop, longest)) return;
            } else if (Clock::now() - began < 50ms && !pause(stop, 1s)) {
                return; // waiting is impossible while a GPU is lost
            }
        }
    }
};

struct Sources::Log {
    std::optional<probe::Kmsg> kmsg;
    std::uint64_t lost = 0; // gaps, at the last look
    std::string failure;
    Clock::time_point next_try{};
    probe::PciTree tree; // the earlier state: events may concern devices that have left the bus
    Clock::time_point next_tree{};

    std::vector<std::string> at_and_below(const std::string& pci, const std::filesystem::path& sysfs) {
        if (!tree.knows(pci) && Clock::now() >= next_tree) {
            next_tree = Clock::now() + look_again;
            tree = probe::PciTree(sysfs);
        }
        return tree.with_below(pci);
    }
};

struct Sources::Host {
    probe::ProcHost proc; // used by the task only
    base::Duration interval;
    Latest<HostSample> latest;

    Clock::time_point look() {
        latest.put(proc.sample());
        return next_beat(interval);
    }
};

base::Duration task_patience(base::Duration interval) {
    return std::clamp<base::Duration>(interval / 2, 100ms, 1s);
}

Sources::Sources(SourceSettings settings, TaskLoop* loop)
    : settings_(std::move(settings)),
      own_loop_(loop ? nullptr : std::make_unique<TaskLoop>(task_patience(settings_.interval))),
      loop_(loop ? *loop : *own_loop_), log_(std::make_unique<Log>()) {
    ib_ = std::shared_ptr<Ib>(
        new Ib{probe::SysfsIb(settings_.sysfs, settings_.counters, settings_.ignored_devices),
               settings_.interval,
               settings_.every_counter ? probe::SysfsIb::Depth::all : probe::SysfsIb::Depth::judged,
               {},
               {},
               {}});
    tasks_.push_back(loop_.add([ib = ib_] { return ib->look(); }));
    host_ = std::shared_ptr<Host>(
        new Host{probe::ProcHost(settings_.proc, settings_.sysfs), settings_.host_interval, {}});
    tasks_.push_back(loop_.add([host = host_] { return host->look(); }));
    mounts_ =
        std::make_unique<MountLooks>(loop_, settings_.mounts, settings_.mount_interval,
                                     [](const std::string& path) { return probe::look_at_mount(path); });
    look_at_fabric(settings_.fabric);
    gpu_ = std::shared_ptr<Gpu>(new Gpu{settings_.nvml, settings_.interval, {}, {}, {}, {}, {}, {}});
    gpu_->sysfs = settings_.sysfs;
    gpu_->again = settings_.nvml_again;
    if (!settings_.nvml.empty()) tasks_.push_back(loop_.add([gpu = gpu_] { return gpu->look(); }));
}

Sources::~Sources() {
    if (gpu_events_) gpu_events_->stop(); // its wait ends while those of the loop do
    own_loop_.reset();
}

void Sources::read_counters(std::vector<std::string> counters) {
    const std::lock_guard lock(ib_->mutex);
    ib_->fresh_counters = std::move(counters);
}

void Sources::look_at_fabric(const std::string& path) {
    if (path.empty())
        fabric_.reset();
    else if (fabric_)
        fabric_->look(path);
    else
        fabric_ = std::make_unique<ListingFile>(loop_, path, settings_.host, settings_.folder);
}

void Sources::await_first(base::Duration longest) {
    const auto answered = [&] {
        if (!ib_->latest.get() || !host_->latest.get() || (fabric_ && !fabric_->listing())) return false;
        if (settings_.nvml.empty() || gpu_->latest.get()) return true;
        const std::lock_guard lock(gpu_->mutex);
        return gpu_->failure.has_value();
    };
    for (const auto end = Clock::now() + longest; !answered() && Clock::now() < end;) {
        std::this_thread::sleep_for(5ms);
        loop_.relieve();
    }
}

void Sources::read_ib(Reading& into) {
    auto& watching = into.watching["infiniband"] = false;
    auto entry = ib_->latest.get();
    if (!entry) {
        into.not_watching.emplace_back("infiniband: not read yet");
        return;
    }
    if (Clock::now() - entry->came > patience(settings_.interval)) {
        into.not_watching.push_back("infiniband: reading has hung for " + age(entry->came));
        return;
    }
    for (const auto& why : entry->value.left_out)
        into.not_watching.push_back("infiniband: " + why);
    had_ports_ = had_ports_ || !entry->value.ports.empty();
    if (!had_ports_) into.not_watching.push_back(no_ports(settings_));
    watching = had_ports_;
    into.sample.ib = std::move(entry->value);
}

void Sources::read_gpus(Reading& into) {
    auto& watching = into.watching["nvml"] = false;
    if (settings_.nvml.empty()) {
        into.not_watching.push_back(fmt::format("nvml: {}", switched_off));
        return;
    }
    if (!gpu_events_ && gpu_->opened()) {
        gpu_users_ = std::make_shared<TaskLoop::Task>(loop_.add([gpu = gpu_] { return gpu->ask_users(); }));
        gpu_events_ = std::make_unique<Background>(
            [gpu = gpu_, longest = settings_.event_wait, users = gpu_users_](const std::stop_token& stop) {
                gpu->hear(stop, longest, *users);
            });
    }
    auto entry = gpu_->latest.get();
    const std::lock_guard lock(gpu_->mutex);
    std::swap(into.sample.xids, gpu_->xids);
    into.sample.gpus_on_bus = gpu_->on_bus;
    into.sample.gpus_ignored = settings_.ignored_devices;
    if (gpu_->failure) into.sample.no_nvml = *gpu_->failure;
    if (!entry || gpu_->failure) {
        into.not_watching.push_back("nvml: " + gpu_->failure.value_or("not read yet"));
        return;
    }
    if (Clock::now() - entry->came > patience(settings_.interval)) {
        into.not_watching.push_back("nvml: has not answered for " + age(entry->came));
        return;
    }
    if (gpu_->gpus && !gpu_->gpus->has_xid_events())
        into.not_watching.emplace_back("nvml: this driver reports no XIDs; the kernel log may");
    watching = true;
    into.sample.gpus = std::move(entry->value);
}

void Sources::read_log(Reading& into) {
    auto& watching = into.watching["kmsg"] = false;
    if (settings_.kmsg.empty()) {
        into.not_watching.push_back(fmt::format("kmsg: {}", switched_off));
        return;
    }
    if (!log_->kmsg && Clock::now() >= log_->next_try) {
        log_->next_try = Clock::now() + look_again;
        if (auto opened = probe::Kmsg::open(settings_.kmsg))
            log_->kmsg = *std::move(opened);
        else
            log_->failure = opened.error().text;
        if (log_->kmsg) log_->tree = probe::PciTree(settings_.sysfs);
    }
    if (!log_->kmsg) {
        into.not_watching.push_back("kmsg: " + log_->failure);
        return;
    }
    auto lines = log_->kmsg->drain();
    // Reported at this look; watched again at the next.
    const auto lost = log_->kmsg->lost();
    watching = lost == std::exchange(log_->lost, lost);
    if (!watching)
        into.not_watching.emplace_back(
            "kmsg: lines were overwritten before they were read, XIDs perhaps among them");
    into.sample.xids.insert(into.sample.xids.end(), lines.xids.begin(), lines.xids.end());
    for (auto& line : lines.drivers) {
        if (line.driver != probe::Driver::pcie) {
            into.sample.driver_lines.push_back(std::move(line));
            continue;
        }
        // A port reports for all devices below it.
        for (auto& device : log_->at_and_below(line.device, settings_.sysfs))
            if (into.sample.driver_lines.size() < most_driver_lines)
                into.sample.driver_lines.push_back({line.driver, std::move(device), line.text});
    }
}

void Sources::read_host(Reading& into) {
    auto& watching = into.watching["host"] = false;
    into.sample.mounts = mounts_->samples();
    auto entry = host_->latest.get();
    if (!entry) {
        into.not_watching.emplace_back("host: not read yet");
        return;
    }
    if (Clock::now() - entry->came > patience(settings_.host_interval)) {
        into.not_watching.push_back("host: reading has hung for " + age(entry->came));
        return;
    }
    watching = true;
    into.sample.host = std::move(entry->value);
}

void Sources::read_fabric(Reading& into) {
    if (!fabric_) {
        into.sample.listed.emplace();
        return;
    }
    into.sample.listed = fabric_->listing();
    const auto why_not = into.sample.listed ? into.sample.listed->why_not : "not read yet";
    into.watching["fabric"] = why_not.empty();
    if (!why_not.empty()) into.not_watching.push_back("fabric: " + why_not);
}

Reading Sources::read(base::Time now) {
    loop_.relieve();
    Reading reading;
    reading.sample.now = now;
    read_ib(reading);
    read_gpus(reading);
    read_log(reading);
    read_host(reading);
    read_fabric(reading);
    auto record = base::read_slurmd_record(settings_.folder);
    if (record)
        reading.sample.slurmd = true;
    else if (record.error().code == base::Code::not_found) // or without spank_rail
        reading.sample.slurmd = probe::runs("slurmd", settings_.proc);
    if (record) reading.slurmd = *std::move(record);
    return reading;
}

} // namespace restart
