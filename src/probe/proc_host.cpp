#include "probe/proc_host.hpp"

#include "base/utf8.hpp"
#include "probe/kernel_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>
#include <sys/statvfs.h>

namespace probe {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr base::Duration walk_every = 1min;
// A host with a hanging shared file system has thousands of sleepers, so the number of stacks read is
// limited.
constexpr int most_stacks = 64;
constexpr std::size_t most_controllers = 64;

double milliseconds(const timespec& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

ClockSource source_of(std::string_view name) {
    if (name == "tsc" || name == "tsc-early") return ClockSource::tsc;
    if (name == "hpet") return ClockSource::hpet;
    if (name == "acpi_pm") return ClockSource::acpi_pm;
    if (name == "jiffies" || name == "refined-jiffies") return ClockSource::jiffies;
    return ClockSource::other;
}

// The device of the default route with the lowest metric; empty: there is none. Columns: Iface Destination
// Gateway Flags RefCnt Use Metric Mask …
std::string default_device(const std::string& routes) {
    std::istringstream lines(routes);
    std::string line, device, best;
    std::uint64_t least = 0;
    std::getline(lines, line); // the heading
    while (std::getline(lines, line)) {
        std::istringstream columns(line);
        std::string destination, gateway, flags, references, use, metric, mask;
        columns >> device >> destination >> gateway >> flags >> references >> use >> metric >> mask;
        const auto cost = whole_number(metric);
        if (!columns || destination != "00000000" || mask != "00000000" || !cost) continue;
        if (!best.empty() && *cost >= least) continue;
        best = device;
        least = *cost;
    }
    return is_name(best) ? best : std::string();
}

struct Mount {
    bool read_only = false; // the file system, not this view of it
    bool hidden = false;    // hidden by systemd
};

// The mount that contains a path, from proc(5)'s mountinfo: "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG …]
// - TYPE SOURCE OPTIONS". If several have the same mount point, the last one is on top.
std::optional<Mount> mount_of(const std::string& path, const fs::path& mountinfo) {
    std::ifstream lines(mountinfo);
    std::optional<Mount> found;
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string id, parent, device, root, point, view, field, type, source, options;
        fields >> id >> parent >> device >> root >> point >> view;
        while (fields >> field && field != "-")
            continue;
        fields >> type >> source >> options;
        if (!fields) continue;
        for (std::size_t at = 0; (at = point.find("\\040", at)) != std::string::npos; ++at)
            point.replace(at, 4, " ");
        const bool is_in =
            point == "/" || path == point ||
            (path.starts_with(point) && path.size() > point.size() && path[point.size()] == '/');
        if (!is_in || point.size() < longest) continue;
        longest = point.size();
        found = Mount{("," + options + ",").find(",ro,") != std::string::npos,
                      root.find("/systemd/inaccessible/") != std::string::npos};
    }
    return found;
}

} // namespace

Clocks read_clocks() {
    Clocks best;
    double least = 1e9;
    // We may be preempted between two readings: use the closest pair of three.
    for (int i = 0; i < 3; ++i) {
        timespec before{}, wall{}, after{};
        ::clock_gettime(CLOCK_BOOTTIME, &before);
        ::clock_gettime(CLOCK_REALTIME, &wall);
        ::clock_gettime(CLOCK_BOOTTIME, &after);
        const auto apart = milliseconds(after) - milliseconds(before);
        if (apart >= least) continue;
        least = apart;
        best.wall_ms = milliseconds(wall);
        best.since_boot = base::Duration(std::llround(milliseconds(before)));
    }
    best.close = least < 10;
    return best;
}

ProcHost::ProcHost(fs::path proc, fs::path sys, std::function<Clocks()> clocks)
    : proc_(std::move(proc)), sys_(std::move(sys)), clocks_(std::move(clocks)) {}

void ProcHost::read_memory(HostSample& into) {
    for (const auto& controller : memory_) {
        MemorySample sample;
        sample.name = controller.name;
        const auto read = [](const base::UniqueFd& fd) -> std::optional<std::uint64_t> {
            const auto line = fd ? first_line(fd.get()) : std::nullopt;
            return line ? whole_number(*line) : std::nullopt;
        };
        sample.corrected = read(controller.corrected);
        sample.uncorrected = read(controller.uncorrected);
        into.memory.push_back(std::move(sample));
    }
}

void ProcHost::read_clock(const Clocks& now, HostSample& into) {
    if (const auto name = clock_source_ ? first_line(clock_source_.get()) : std::nullopt) {
        into.clock_source_name = base::printable(*name, 32);
        into.clock_source = source_of(*name);
    }
    if (!now.close) return;
    const auto offset = now.wall_ms - static_cast<double>(now.since_boot.count());
    // Both clocks run at the rate set by NTP: only a step changes their difference.
    if (offset_ms_) into.clock_step_ms = std::abs(offset - *offset_ms_);
    offset_ms_ = offset;
}

// Judged by its name or by its kernel stack: the stack shows the modules, but reading it takes CAP_SYS_ADMIN,
// which nodewatchd's unit does not grant.
bool ProcHost::is_in_driver(const fs::path& process, const std::string& name) {
    if (name.find("nvidia") != std::string::npos || name.starts_with("nv-")) return true;
    if (stacks_ >= most_stacks) return false;
    ++stacks_;
    const auto stack = start_of(process / "stack", 4096);
    return stack.find("[nvidia") != std::string::npos;
}

void ProcHost::read_process(const std::string& number, const Clocks& now, Sleepers& found) {
    const auto pid = whole_number(number);
    if (!pid) return;
    const auto text = start_of(proc_ / number / "stat", 1024);
    // "PID (COMMAND) STATE …": the command may contain spaces and parentheses, the fields after it cannot.
    const auto open = text.find('('), close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) return;
    const auto name = text.substr(open + 1, close - open - 1);
    if (name == "nv-fabricmanage") fabric_manager_ = true; // the kernel truncates its name
    std::istringstream fields(text.substr(close + 1));
    std::string state, field;
    fields >> state;
    if (state != "D" || !is_in_driver(proc_ / number, name)) return;
    // The start time is field 22; the state is field 3.
    for (int at = 4; at <= 22; ++at)
        fields >> field;
    const auto started = whole_number(field).value_or(0);
    const auto before = blocked_.find(*pid);
    const bool same = before != blocked_.end() && before->second.started == started;
    found[*pid] = {started, same ? before->second.since : now.since_boot, base::printable(name, 16)};
}

void ProcHost::read_processes(const Clocks& now) {
    Sleepers found;
    fabric_manager_ = false;
    stacks_ = 0;
    std::error_code failed;
    for (fs::directory_iterator at(proc_, failed), end; !failed && at != end; at.increment(failed))
        read_process(at->path().filename().string(), now, found);
    blocked_ = std::move(found);
}

// Devices and files that come and go with drivers and services.
void ProcHost::find_devices() {
    has_switches_ = !entries(proc_ / "driver/nvidia-nvswitch/devices").empty();
    has_gpus_ = !entries(proc_ / "driver/nvidia/gpus").empty();
    has_hcas_ = !entries(sys_ / "class/infiniband").empty();
    if (auto device = default_device(start_of(proc_ / "net/route", 65536)); device != net_device_) {
        net_device_ = std::move(device);
        carrier_changes_ = {};
    }
    if (!net_device_.empty() && !carrier_changes_)
        carrier_changes_ = open_file(sys_ / "class/net" / net_device_ / "carrier_changes");
    if (!clock_source_)
        clock_source_ = open_file(sys_ / "devices/system/clocksource/clocksource0/current_clocksource");
    if (!memory_.empty()) return;
    for (const auto& name : entries(sys_ / "devices/system/edac/mc")) {
        if (!is_name(name) || !name.starts_with("mc") || memory_.size() >= most_controllers) continue;
        const auto path = sys_ / "devices/system/edac/mc" / name;
        Controller controller{name, open_file(path / "ce_count"), open_file(path / "ue_count")};
        if (controller.corrected || controller.uncorrected) memory_.push_back(std::move(controller));
    }
}

HostSample ProcHost::sample() {
    const auto now = clocks_();
    HostSample taken;
    if (!walked_ || now.since_boot - *walked_ >= walk_every) {
        walked_ = now.since_boot;
        find_devices();
        if (has_gpus_ || has_switches_)
            read_processes(now);
        else
            blocked_.clear();
    }
    read_memory(taken);
    read_clock(now, taken);
    if (has_switches_) taken.fabric_manager = fabric_manager_;
    std::error_code ignored;
    if (has_gpus_ && has_hcas_)
        taken.peer_memory = fs::exists(sys_ / "module/nvidia_peermem", ignored) ||
                            fs::exists(sys_ / "module/nv_peer_mem", ignored);
    if (const auto line = carrier_changes_ ? first_line(carrier_changes_.get()) : std::nullopt) {
        taken.net_device = net_device_;
        taken.carrier_changes = whole_number(*line);
    }
    if (has_gpus_ || has_switches_) taken.blocked_s = 0;
    const auto longest = std::min_element(blocked_.begin(), blocked_.end(), [](const auto& a, const auto& b) {
        return a.second.since < b.second.since;
    });
    if (longest != blocked_.end()) {
        // As of the last walk: there was no look since.
        taken.blocked_s = std::chrono::duration<double>(*walked_ - longest->second.since).count();
        taken.blocked_name = longest->second.name;
    }
    return taken;
}

bool runs(std::string_view name, const fs::path& proc) {
    const auto all = entries(proc);
    return std::any_of(all.begin(), all.end(), [&](const std::string& entry) {
        return whole_number(entry) && start_of(proc / entry / "comm", 64) == std::string(name) + '\n';
    });
}

MountSample look_at_mount(const std::string& path, const fs::path& mountinfo) {
    MountSample sample;
    sample.path = path;
    struct statvfs about {};
    if (::statvfs(path.c_str(), &about) != 0) {
        sample.failed = errno;
        return sample;
    }
    std::error_code failed;
    const auto mount = mount_of(fs::canonical(path, failed).string(), mountinfo);
    if (mount && mount->hidden) {
        sample.failed = EACCES;
        return sample;
    }
    sample.answered = true;
    if (mount) sample.read_only = mount->read_only;
    // Without the blocks reserved for root, as in df(1). A file system without blocks (/proc) has no
    // percentage.
    const auto used = about.f_blocks - std::min(about.f_blocks, about.f_bfree);
    const auto usable = used + about.f_bavail;
    if (about.f_blocks > 0 && usable > 0)
        sample.free_percent = 100.0 * static_cast<double>(about.f_bavail) / static_cast<double>(usable);
    return sample;
}

} // namespace probe
