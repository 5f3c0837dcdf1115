#include "probe/kernel_lines.hpp"

#include "base/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace probe {
namespace {

constexpr std::size_t most_text = 200; // of a driver's explanation

bool is_pci(std::string_view text) {
    return text.size() >= 7 && text.size() <= 16 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
                      c == ':' || c == '.';
           });
}

// Removes the process: its owner and name are not for everyone who can see the host.
std::string without_process(std::string_view text) {
    std::string kept;
    while (!text.empty()) {
        const auto end = std::min(text.find(", "), text.size());
        const auto part = text.substr(0, end);
        text.remove_prefix(std::min(end + 2, text.size()));
        if (part.starts_with("pid=") || part.starts_with("name=")) continue;
        kept += (kept.empty() ? "" : ", ") + std::string(part);
    }
    return kept;
}

// The process of a line that names its channel. Other lines name whichever process was in the driver at that
// moment, such as nodewatchd.
std::uint32_t pid_of(std::string_view text) {
    if (text.find("channel 0x") == std::string_view::npos && text.find(", Ch ") == std::string_view::npos)
        return 0;
    constexpr std::string_view mark = "pid=";
    const auto at = text.find(mark);
    if (at == std::string_view::npos) return 0;
    std::uint32_t pid = 0;
    const auto [end, failed] =
        std::from_chars(text.data() + at + mark.size(), text.data() + text.size(), pid);
    return failed == std::errc{} ? pid : 0;
}

std::string lower_case(std::string_view pci) {
    std::string out(pci);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

bool take(std::string_view& text, std::string_view start) {
    if (!text.starts_with(start)) return false;
    text.remove_prefix(start.size());
    return true;
}

std::optional<std::uint32_t> take_number(std::string_view& text) {
    std::uint32_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// "DRIVER 0000:14:00.0: TEXT": returns the address and leaves TEXT in `text`.
std::string_view take_device(std::string_view& text) {
    const auto begin = text.find(' ');
    if (begin == std::string_view::npos) return {};
    const auto end = text.find(": ", begin);
    if (end == std::string_view::npos) return {};
    const auto device = text.substr(begin + 1, end - begin - 1);
    if (!is_pci(device)) return {};
    text.remove_prefix(end + 2);
    return device;
}

std::optional<DriverLine> parse_pcie(std::string_view message) {
    const auto device = take_device(message);
    if (device.empty()) return std::nullopt;
    constexpr std::string_view aer = "AER: ", bus = "PCIe Bus Error: severity=";
    if (!message.starts_with(aer) && !message.starts_with(bus) && !message.starts_with("DPC: ") &&
        !message.starts_with("pciehp: "))
        return std::nullopt;
    DriverLine said{Driver::pcie, lower_case(device), base::printable(message, most_text, ' ')};
    // The port's line names the device that reported the error.
    for (const std::string_view mark : {" error received: ", " error message received from "})
        if (const auto at = message.find(mark); message.starts_with(aer) && at != std::string_view::npos) {
            auto other = message.substr(at + mark.size());
            other = other.substr(0, other.find(' '));
            if (is_pci(other)) said.device = lower_case(other);
        }
    return said;
}

std::optional<DriverLine> parse_nvswitch(std::string_view message) {
    constexpr std::string_view driver = "nvidia-";
    if (!message.starts_with("nvidia-nvswitch")) return std::nullopt;
    const auto name = message.substr(driver.size(), message.find(':') - driver.size());
    if (name.size() > 16) return std::nullopt;
    message.remove_prefix(driver.size() + name.size());
    const auto close = message.find("): ");
    if (!message.starts_with(": SXid (PCI:") || close == std::string_view::npos) return std::nullopt;
    message.remove_prefix(close + 3);
    const auto code = take_number(message);
    if (!code || !take(message, ", ")) return std::nullopt;
    if (!message.starts_with("Fatal") && !message.starts_with("Non-fatal")) return std::nullopt;
    return DriverLine{Driver::nvswitch, base::printable(name, 16),
                      fmt::format("SXid {}, {}", *code, base::printable(message, most_text, ' '))};
}

std::optional<DriverLine> parse_nvidia(std::string_view message) {
    if (!message.starts_with("NVRM: GPU ") && !message.starts_with("nvidia ")) return std::nullopt;
    take(message, "NVRM: ");
    const auto device = take_device(message);
    if (device.empty()) return std::nullopt;
    return DriverLine{Driver::nvidia, lower_case(device), base::printable(message, most_text, ' ')};
}

std::optional<DriverLine> parse_mlx5(std::string_view message) {
    if (!take(message, "mlx5_core")) return std::nullopt;
    DriverLine said;
    if (take(message, " ")) {
        auto device = message.substr(0, message.find(' '));
        if (device.ends_with(':')) device.remove_suffix(1);
        if (is_pci(device)) {
            said.device = device;
            message.remove_prefix(device.size());
        }
    }
    // A module's name in other messages.
    if (said.device.empty() && !message.starts_with(": ")) return std::nullopt;
    while (message.starts_with(':') || message.starts_with(' '))
        message.remove_prefix(1);
    said.text = base::printable(message, most_text, ' ');
    return said;
}

} // namespace

std::string_view message_of(std::string_view line) {
    constexpr std::string_view digits = "0123456789";
    const auto number = line.find_first_not_of(digits);
    if (const auto text = line.find(';'); number != 0 && number != std::string_view::npos &&
                                          line[number] == ',' && text != std::string_view::npos) {
        line.remove_prefix(text + 1);
    } else {
        constexpr std::string_view kernel = " kernel: ";
        if (const auto at = line.find(kernel); at != std::string_view::npos)
            line.remove_prefix(at + kernel.size());
        for (const auto& [open, close] : {std::pair{'<', '>'}, std::pair{'[', ']'}})
            if (line.starts_with(open)) {
                line.remove_prefix(std::min(line.find(close), line.size() - 1) + 1);
                take(line, " ");
            }
    }
    return line.substr(0, line.find('\n'));
}

std::optional<XidEvent> parse_xid(std::string_view message) {
    if (!take(message, "NVRM: Xid (")) return std::nullopt;
    take(message, "PCI:");
    const auto close = message.find("): ");
    if (close == std::string_view::npos) return std::nullopt;
    auto device = message.substr(0, close);
    std::string_view instance; // of MIG: "GPU-I:05 GPU-CI:02"
    if (const auto blank = device.find(" GPU-"); blank != std::string_view::npos) {
        instance = device.substr(blank + 1);
        device = device.substr(0, blank);
    }
    if (!is_pci(device)) return std::nullopt;
    message.remove_prefix(close + 3);
    const auto code = take_number(message);
    if (!code || *code == 0 || *code > 9999) return std::nullopt;
    take(message, ", ");
    auto text = without_process(message);
    if (!instance.empty()) text = fmt::format("{}{}{}", instance, text.empty() ? "" : ", ", text);
    XidEvent event{lower_case(device), *code, base::printable(text, most_text, ' ')};
    event.pid = pid_of(message);
    return event;
}

std::optional<DriverLine> parse_driver_line(std::string_view message) {
    for (const auto parse : {parse_pcie, parse_nvswitch, parse_nvidia, parse_mlx5})
        if (auto said = parse(message)) return said;
    return std::nullopt;
}

} // namespace probe
