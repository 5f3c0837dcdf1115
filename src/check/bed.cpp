#include "check/bed.hpp"

#include "base/unique_fd.hpp"
#include "probe/ucx_datagram_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <system_error>
#include <tuple>
#include <unistd.h>

namespace check {
namespace {

namespace fs = std::filesystem;

// Counters of the transport have a folder of their own (Documentation/ABI/stable/sysfs-class-infiniband).
std::string counter_file(const std::string& name) {
    constexpr std::array hardware{"local_ack_timeout_err", "rnr_nak_retry_err", "roce_slow_restart",
                                  "out_of_sequence",       "packet_seq_err",    "implied_nak_seq_err"};
    const bool one = std::find(hardware.begin(), hardware.end(), name) != hardware.end();
    return (one ? "hw_counters/" : "counters/") + name;
}

probe::Guid guid_of(std::uint32_t hca) {
    return 0x946dae0000010010 + 0x10 * static_cast<probe::Guid>(hca);
}

std::string colons(probe::Guid guid) {
    const auto text = fmt::format("{:016x}", guid);
    return fmt::format("{}:{}:{}:{}", text.substr(0, 4), text.substr(4, 4), text.substr(8, 4),
                       text.substr(12));
}

// In place, as the kernel's files keep their inode: the probe holds them open. Some file systems write a
// truncated or replaced file to the disk at once.
base::Expected<void> put(const fs::path& path, std::string text) {
    text += '\n';
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!file || ::pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
        ::ftruncate(file.get(), static_cast<off_t>(text.size())) != 0)
        return base::system_error(path.string(), errno);
    return {};
}

// Files of the host itself. It has NVSwitches, so that its fabric manager runs.
std::map<std::string, std::string> sound_files() {
    const auto count = fmt::format("{}", Bed::counted);
    return {{"sys/devices/system/edac/mc/mc0/ce_count", count},
            {"sys/devices/system/edac/mc/mc0/ue_count", count},
            {"sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"},
            {"sys/module/nvidia_peermem/refcnt", "0"},
            {"sys/class/net/eth0/carrier_changes", count},
            {"proc/driver/nvidia-nvswitch/devices/0", ""},
            {"proc/driver/nvidia/gpus/0000:14:00.0/information", ""},
            {Bed::fabric_manager, "400 (nv-fabricmanage) S 1 400 400 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0"},
            {"proc/net/route", "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
                               "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0"}};
}

} // namespace

Bed::Bed(fs::path folder) : folder_(std::move(folder)) {}

std::string Bed::port_name(std::uint32_t hca) {
    return fmt::format("mlx5_{}:1", hca);
}

std::string Bed::gpu_name(std::uint32_t gpu) {
    return fmt::format("gpu{}", gpu);
}

std::string Bed::hca_pci(std::uint32_t hca) {
    return fmt::format("0000:{:02x}:00.0", 0x13 + 28 * hca);
}

std::string Bed::pci_of(std::uint32_t gpu) {
    return fmt::format("0000:{:02x}:00", 0x14 + 28 * gpu);
}

fs::path Bed::port(std::uint32_t hca) const {
    return folder_ / fmt::format("sys/class/infiniband/mlx5_{}/ports/1", hca);
}

base::Expected<std::unique_ptr<Bed>> Bed::make(const fs::path& folder, const std::string& nvml) {
    std::unique_ptr<Bed> bed(new Bed(folder));
    bed->nvml_ = nvml;
    ::setenv("RAIL_NVML_STATE", (folder / "nvml").c_str(), 1);
    if (auto opened = bed->open_gpus(); !opened) return std::move(opened).error();
    return bed;
}

// Opened again it knows nothing of earlier samples.
base::Expected<void> Bed::open_gpus() {
    gpus_.reset();
    if (!has_gpus()) return {};
    if (auto written = write_gpus(); !written) return written;
    auto opened = probe::NvmlGpus::open(nvml_);
    if (!opened) return std::move(opened).error();
    gpus_ = *std::move(opened);
    return {};
}

base::Expected<void> Bed::write_sound() {
    std::error_code failed;
    for (const auto* tree : {"sys", "proc"}) {
        fs::remove_all(folder_ / tree, failed);
        if (failed) return base::system_error((folder_ / tree).string(), failed.value());
    }
    for (const auto& [file, text] : sound_files())
        if (auto done = set_file(file, text); !done) return done;
    for (std::uint32_t hca = 0; hca < devices; ++hca)
        if (auto done = make_hca(hca); !done) return done;
    if (auto done = put(folder_ / "kmsg", ""); !done) return done;
    gpu_state_ = {{"count", devices}};
    for (std::uint32_t gpu = 0; gpu < devices; ++gpu)
        for (const auto& [key, value] : std::map<std::string, std::uint64_t>{
                 {"links", nvlinks}, {"links_up", nvlinks}, {"fabric", 3}, {"rcv", 0}})
            gpu_state_[fmt::format("{}.{}", gpu, key)] = value;
    return open_gpus();
}

base::Expected<void> Bed::make_hca(std::uint32_t hca) {
    std::map<std::string, std::string> files{
        {"ports/1/state", "4: ACTIVE"},
        {"ports/1/phys_state", "5: LinkUp"},
        {"ports/1/rate", "400 Gb/sec (4X NDR)"},
        {"ports/1/link_layer", "InfiniBand"},
        {"ports/1/gids/0", "fe80:0000:0000:0000:" + colons(guid_of(hca))},
        {"node_guid", colons(guid_of(hca))},
        {"node_type", "1: CA"},
        {"node_desc", "n001"}};
    for (const auto& name : counters_)
        files["ports/1/" + counter_file(name)] = fmt::format("{}", counted);
    for (const auto& [file, text] : files)
        if (auto done = put(port(hca).parent_path().parent_path() / file, text); !done) return done;
    const auto pci = folder_ / "sys/devices" / hca_pci(hca);
    for (const auto* most : {"current", "max"}) {
        const auto file = [&](std::string_view what) {
            return pcie_file(hca, fmt::format("{}_link_{}", most, what));
        };
        if (auto done = set_file(file("width"), "16"); !done) return done;
        if (auto done = set_file(file("speed"), "32.0 GT/s PCIe"); !done) return done;
    }
    for (const auto& [number, label, celsius, critical] :
         {std::tuple{1, "asic", 55, asic_critical}, std::tuple{2, "Module0", 45, module_critical}})
        for (const auto& [what, value] :
             std::map<std::string, std::string>{{"label", label},
                                                {"input", fmt::format("{}", 1000 * celsius)},
                                                {"crit", fmt::format("{}", 1000 * critical)}})
            if (auto done = set_file(sensor_file(hca, number, what), value); !done) return done;
    std::error_code failed;
    if (const auto link = port(hca).parent_path().parent_path() / "device"; !fs::exists(link))
        fs::create_directory_symlink(pci, link, failed);
    if (failed) return base::system_error(pci.string(), failed.value());
    return {};
}

std::string Bed::pcie_file(std::uint32_t hca, std::string_view name) {
    return fmt::format("sys/devices/{}/{}", hca_pci(hca), name);
}

std::string Bed::sensor_file(std::uint32_t hca, int number, std::string_view what) {
    return fmt::format("sys/devices/{}/hwmon/hwmon{}/temp{}_{}", hca_pci(hca), hca, number, what);
}

base::Expected<void> Bed::write_gpus() {
    std::string text;
    for (const auto& [key, value] : gpu_state_)
        text += fmt::format("{}={}\n", key, value);
    return put(folder_ / "nvml", text);
}

base::Expected<void> Bed::begin(const restart::RuleSet& rules, base::Duration interval) {
    counters_ = restart::RuleBook::counters(rules);
    if (auto done = write_sound(); !done) return done;
    restart::Limits limits;
    limits.interval = interval;
    host_.emplace(folder_ / "proc", folder_ / "sys", [this] {
        return probe::Clocks{std::chrono::duration_cast<base::Duration>(now_.time_since_epoch()), wall_ms_,
                             true};
    });
    clock_jump_ms = 0;
    blocked_s.reset();
    slurmd.reset();
    mount = {.path = "/scratch", .answered = true, .free_percent = 50};
    process_.reset(); // before the book that they refer to
    intake_.reset();
    ucx_book_.emplace();
    process_.emplace(jobs_, *ucx_book_, 1000);
    ucx = {};
    ucx.job = base::JobId(12);
    ucx.rank = 3;
    ucx.devices = port_name(1);
    ucx.paths = {{"rc_mlx5/" + port_name(1), ucx_endpoints}};
    if (auto said = say_ucx(); !said) return said;
    const restart::JobKey job{ucx.job, 0, 1000};
    if (auto joined = ucx_book_->join(job); !joined) return joined;
    intake_.emplace(*ucx_book_, job);
    statistics = {"n001:4711", {{"eth0", {}}, {port_name(1), {}}}};
    send_statistics();
    interval_ = interval;
    judge_.emplace(limits, rules);
    ib_.emplace(folder_ / "sys", counters_);
    auto log = probe::Kmsg::open(folder_ / "kmsg");
    if (!log) return std::move(log).error();
    kmsg_ = *std::move(log);
    now_ = base::Time(std::chrono::hours(480'000));
    listing = {"made up", {}, {}};
    for (std::uint32_t hca = 0; hca < devices; ++hca)
        listing.ports.push_back({guid_of(hca), 0, 1, true, port_name(hca)});
    return {};
}

base::Expected<std::vector<restart::Finding>> Bed::look() {
    now_ += interval_;
    wall_ms_ += static_cast<double>(interval_.count()) + std::exchange(clock_jump_ms, 0);
    restart::Sample sample;
    sample.now = now_;
    sample.ib = ib_->sample(probe::SysfsIb::Depth::judged);
    if (gpus_) sample.gpus = gpus_->sample(probe::NvmlGpus::Ask::all);
    sample.host = host_->sample();
    if (blocked_s) sample.host->blocked_s = blocked_s;
    sample.slurmd = slurmd;
    sample.mounts = {mount};
    sample.ucx = ucx_book_->jobs();
    sample.listed = listing;
    auto lines = kmsg_->drain();
    sample.xids = std::move(lines.xids);
    for (auto& xid : sample.xids)
        xid.user = next_user_++;
    sample.driver_lines = std::move(lines.drivers);
    return judge_->judge(sample);
}

base::Expected<void> Bed::set_gpu(std::uint32_t gpu, const std::string& key, std::uint64_t value) {
    gpu_state_[fmt::format("{}.{}", gpu, key)] = value;
    return write_gpus();
}

base::Expected<void> Bed::set_port(std::uint32_t hca, const std::string& file, const std::string& text) {
    return put(port(hca) / file, text);
}

base::Expected<void> Bed::set_counter(std::uint32_t hca, const std::string& name, std::uint64_t value) {
    return set_port(hca, counter_file(name), fmt::format("{}", value));
}

base::Expected<void> Bed::set_file(const std::string& path, const std::string& text) {
    return put(folder_ / path, text);
}

base::Expected<void> Bed::say_ucx() {
    return restart::read_done(process_->answer(restart::to_line(ucx), base::now()));
}

void Bed::send_statistics() {
    for (const auto& datagram : probe::ucx_datagrams(probe::ucx_message(statistics), ++messages_))
        intake_->take(40'000, datagram, base::now());
}

base::Expected<void> Bed::remove(const std::string& path) {
    std::error_code failed;
    fs::remove_all(folder_ / path, failed);
    if (failed) return base::system_error(path, failed.value());
    return {};
}

base::Expected<void> Bed::remove_hca(std::uint32_t hca) {
    std::error_code failed;
    fs::remove_all(port(hca).parent_path().parent_path(), failed);
    if (failed) return base::system_error(port(hca).string(), failed.value());
    return {};
}

base::Expected<void> Bed::log(std::string_view text) {
    std::ofstream out(folder_ / "kmsg", std::ios::app);
    out << text << '\n';
    out.flush();
    if (!out) return base::system_error((folder_ / "kmsg").string(), errno);
    return {};
}

} // namespace check
