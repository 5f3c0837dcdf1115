#include "probe/sysfs_ib.hpp"

#include "base/hostlist.hpp"
#include "probe/kernel_file.hpp"
#include "topo/guid.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace probe {
namespace {

namespace fs = std::filesystem;

// "4: ACTIVE" -> "ACTIVE".
std::string state_word(const std::string& line) {
    const auto colon = line.find(": ");
    auto word = colon == std::string::npos ? line : line.substr(colon + 2);
    std::replace_if(
        word.begin(), word.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
    word.resize(std::min<std::size_t>(word.size(), 32));
    return word;
}

// "400 Gb/sec (4X NDR)" -> 400.
double rate_gbps(std::string_view line) {
    double rate = 0;
    const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), rate);
    const std::string_view rest(end, static_cast<std::size_t>(line.data() + line.size() - end));
    return failed == std::errc{} && rest.starts_with(" Gb/sec") && rate >= 0 && rate < 1e6 ? rate : 0;
}

// "32.0 GT/s PCIe" -> 32; none for "Unknown".
std::optional<double> pcie_speed(const std::optional<std::string>& line) {
    double speed = 0;
    if (!line) return std::nullopt;
    const auto [end, failed] = std::from_chars(line->data(), line->data() + line->size(), speed);
    const std::string_view rest(end, static_cast<std::size_t>(line->data() + line->size() - end));
    const bool known = failed == std::errc{} && rest.starts_with(" GT/s") && speed > 0 && speed < 1e3;
    return known ? std::optional(speed) : std::nullopt;
}

// None for 0 and 255, which a device without its own link reports.
std::optional<std::uint32_t> pcie_width(const std::optional<std::string>& line) {
    const auto lanes = line ? whole_number(*line) : std::nullopt;
    const bool known = lanes && *lanes > 0 && *lanes <= 32;
    return known ? std::optional(static_cast<std::uint32_t>(*lanes)) : std::nullopt;
}

Guid guid_in(const fs::path& path) {
    const auto line = first_line(path);
    return line ? topo::parse_sysfs_guid(*line).value_or(0) : 0;
}

// The PCI address of an HCA, from the folder that its entry links to; empty: it is not a PCI device.
std::string pci_of(const fs::path& device) {
    std::error_code failed;
    const auto name = fs::canonical(device / "device", failed).filename().string();
    const bool address = name.size() >= 12 && name.size() <= 16 &&
                         name.find_first_not_of("0123456789abcdef:.") == std::string::npos;
    return !failed && address ? name : std::string();
}

// "47000" -> 47; none for impossible values: an absent sensor reports 0 or 255.
std::optional<double> celsius_in(const fs::path& path) {
    const auto line = first_line(path);
    const auto thousandths = line ? whole_number(*line) : std::nullopt;
    const bool known = thousandths && *thousandths > 0 && *thousandths < 200'000;
    return known ? std::optional(static_cast<double>(*thousandths) / 1000) : std::nullopt;
}

constexpr std::array counter_folders{"counters", "hw_counters"};

// Number of samples between readings of values that change only when a link retrains.
constexpr unsigned samples_between = 5;
constexpr unsigned samples_between_heat = 30;
constexpr unsigned readings_between_refusals = 120; // an hour at the default interval
constexpr std::size_t most_sensors = 64;            // in the register that the driver reads (MTCAP)

} // namespace

SysfsIb::SysfsIb(fs::path root, std::vector<std::string> judged, std::vector<std::string> ignored)
    : class_(std::move(root) / "class" / "infiniband"), folder_(class_), judged_(std::move(judged)),
      ignored_(std::move(ignored)) {}

void SysfsIb::judge(std::vector<std::string> counters) {
    if (counters == judged_) return;
    judged_ = std::move(counters);
    devices_.clear(); // all are opened again
}

void SysfsIb::open_ports(const std::string& device, const fs::path& path) {
    auto& ports = devices_[device];
    const auto node = guid_in(path / "node_guid");
    const auto pci = pci_of(path);
    std::error_code failed;
    const bool virtual_function = fs::exists(path / "device/physfn", failed);
    for (const auto& name : entries(path / "ports")) {
        const auto number = whole_number(name);
        if (!number || *number == 0 || *number > 255) continue;
        Port port;
        port.device = device;
        port.pci = pci;
        port.virtual_function = virtual_function;
        port.number = static_cast<std::uint32_t>(*number);
        port.path = path / "ports" / name;
        port.node = node;
        port.guid = guid_in(port.path / "gids" / "0");
        if (const auto layer = first_line(port.path / "link_layer"); layer && *layer != "InfiniBand") {
            left_out_[device] = {device + ": link layer " + state_word(*layer), {}};
            continue;
        }
        port.state = open_file(port.path / "state");
        port.phys_state = open_file(port.path / "phys_state");
        port.rate = open_file(port.path / "rate");
        port.pcie_width = open_file(path / "device/current_link_width");
        port.pcie_speed = open_file(path / "device/current_link_speed");
        port.last.pcie_width_max = pcie_width(first_line(path / "device/max_link_width"));
        port.last.pcie_speed_max = pcie_speed(first_line(path / "device/max_link_speed"));
        if (!port.state) continue; // going away, or not there yet: the next sample tries again
        for (const auto& counter : judged_)
            for (const auto* folder : counter_folders)
                if (auto fd = open_file(port.path / folder / counter)) {
                    port.judged.push_back({counter, std::move(fd)});
                    break;
                }
        // In the order of the sample's map, so that each is appended at its end.
        std::sort(port.judged.begin(), port.judged.end(),
                  [](const Counter& a, const Counter& b) { return a.name < b.name; });
        ports.push_back(std::move(port));
    }
}

void SysfsIb::look_around(IbSample& into) {
    if (folder_.look()) {
        const auto has_gone = [&](const auto& device) {
            return std::find(folder_.names().begin(), folder_.names().end(), device.first) ==
                   folder_.names().end();
        };
        std::erase_if(devices_, has_gone);
        std::erase_if(left_out_, has_gone);
    }
    for (const auto& device : folder_.names()) {
        if (!is_name(device)) continue;
        if (std::find(ignored_.begin(), ignored_.end(), device) != ignored_.end()) {
            const auto [known, fresh] = left_out_.try_emplace(device);
            if (!fresh) continue;
            known->second.why = device + ": ignored by the configuration";
            known->second.ignored.push_back(guid_in(class_ / device / "node_guid"));
            for (const auto& port : entries(class_ / device / "ports"))
                known->second.ignored.push_back(guid_in(class_ / device / "ports" / port / "gids" / "0"));
        } else if (const auto known = devices_.find(device);
                   (known == devices_.end() || known->second.empty()) && !left_out_.contains(device))
            open_ports(device, class_ / device);
    }
    for (const auto& [device, left] : left_out_) {
        into.left_out.push_back(left.why);
        into.ignored.insert(into.ignored.end(), left.ignored.begin(), left.ignored.end());
    }
}

// The driver adds the sensors after the device.
void SysfsIb::find_sensors(Port& port) const {
    const auto folder = class_ / port.device / "device/hwmon";
    for (const auto& chip : entries(folder)) {
        for (std::size_t number = 1; number <= most_sensors; ++number) {
            const auto sensor = (folder / chip / fmt::format("temp{}_", number)).string();
            const auto label = first_line(sensor + "label");
            if (!label) break;
            auto& sensors = port.sensors ? *port.sensors : port.sensors.emplace();
            if (*label == "asic")
                sensors.push_back({sensor, &PortSample::asic_celsius, &PortSample::asic_critical});
            else if (label->starts_with("Module"))
                sensors.push_back({sensor, &PortSample::module_celsius, &PortSample::module_critical});
        }
    }
}

void SysfsIb::read_sensors(Port& port) const {
    if (!port.sensors) find_sensors(port);
    if (!port.sensors) return;
    for (auto& sensor : *port.sensors) {
        if (sensor.rest > 0 && --sensor.rest > 0) continue;
        auto &celsius = port.last.*sensor.celsius, &critical = port.last.*sensor.critical;
        celsius = celsius_in(sensor.files + "input");
        if (celsius && !critical) critical = celsius_in(sensor.files + "crit");
        if (celsius && critical) continue;
        celsius.reset();
        critical.reset(); // another module may be inserted
        sensor.rest = readings_between_refusals;
    }
}

void SysfsIb::read_seldom(Port& port, bool trains) const {
    const bool due = samples_ % samples_between == 0;
    if (due || trains) {
        if (port.phys_state)
            port.last.phys_state = state_word(first_line(port.phys_state.get()).value_or(""));
        if (port.rate) port.last.rate_gbps = rate_gbps(first_line(port.rate.get()).value_or(""));
    }
    if (samples_ % samples_between_heat == 0) read_sensors(port);
    if (!due) return;
    if (port.pcie_width) port.last.pcie_width = pcie_width(first_line(port.pcie_width.get()));
    if (port.pcie_speed) port.last.pcie_speed = pcie_speed(first_line(port.pcie_speed.get()));
}

bool SysfsIb::read_port(Port& port, Depth depth, PortSample& into) const {
    const auto state = first_line(port.state.get());
    if (!state) return false;
    auto word = state_word(*state);
    read_seldom(port, word != "ACTIVE" || word != port.last.state);
    port.last.state = std::move(word);
    into = port.last;
    into.device = port.device;
    into.pci = port.pci;
    into.virtual_function = port.virtual_function;
    into.port = port.number;
    into.node = port.node;
    into.guid = port.guid;
    into.counters.reserve(port.judged.size());
    for (const auto& counter : port.judged)
        if (const auto line = first_line(counter.fd.get()))
            if (const auto value = whole_number(*line)) into.counters.emplace(counter.name, *value);
    if (depth == Depth::judged) return true;
    for (const auto* folder : counter_folders)
        for (const auto& name : entries(port.path / folder))
            if (is_name(name) && !into.counters.contains(name))
                if (const auto line = first_line(port.path / folder / name))
                    if (const auto value = whole_number(*line)) into.counters[name] = *value;
    return true;
}

IbSample SysfsIb::sample(Depth depth) {
    IbSample taken;
    look_around(taken);
    for (auto& [device, ports] : devices_) {
        for (auto& port : ports) {
            if (!read_port(port, depth, taken.ports.emplace_back())) {
                // The port is gone but its entry is still there: open it again next time.
                taken.ports.pop_back();
                ports.clear();
                break;
            }
        }
    }
    const auto in_order = [](const PortSample& a, const PortSample& b) {
        return a.device == b.device ? a.port < b.port : base::natural_less(a.device, b.device);
    };
    if (!std::is_sorted(taken.ports.begin(), taken.ports.end(), in_order))
        std::sort(taken.ports.begin(), taken.ports.end(), in_order);
    ++samples_;
    return taken;
}

} // namespace probe
