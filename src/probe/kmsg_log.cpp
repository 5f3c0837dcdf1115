#include "probe/kmsg_log.hpp"

#include "base/utf8.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace probe {
namespace {

constexpr std::size_t largest_record = 8192; // CONSOLE_EXT_LOG_MAX
constexpr int most_records = 10'000;         // a call; a flood must not hold up the agent
constexpr std::size_t most_text = 200;       // of a driver's explanation

bool is_pci(std::string_view text) {
    return text.size() >= 7 && text.size() <= 16 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
                      c == ':' || c == '.';
           });
}

// Without the process that was there: whose it is and what it is called is not for all who see the host.
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

constexpr std::size_t most_hca_lines = 256;

// The lines of one dump: registers, modules and stack; NVSentinel takes as many.
constexpr int lockup_dump = 150;

// The function of mlx5's drivers that a line of a stack names: " mlx5e_napi_poll+0x1a/0x6c0 [mlx5_core]".
// None of a list of modules, nor of an entry that the kernel doubts: " ? mlx5e_napi_poll+0x…".
std::string_view frame_of_mlx5(std::string_view line) {
    for (auto at = line.find("mlx5"); at != std::string_view::npos; at = line.find("mlx5", at + 4)) {
        const auto end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.", at);
        const bool begins = at > 0 && (line[at - 1] == ' ' || line[at - 1] == ':' || line[at - 1] == ';');
        const bool doubted = at >= 2 && line.substr(at - 2, 2) == "? ";
        if (end != std::string_view::npos && line.substr(end, 3) == "+0x" && begins && !doubted)
            return line.substr(at, std::min<std::size_t>(end - at, 60));
    }
    return {};
}

} // namespace

bool Kmsg::parse_lockup(std::string_view line, Lines& into) {
    constexpr std::string_view mark = "BUG: soft lockup - CPU#";
    if (const auto at = line.find(mark); at != std::string_view::npos) {
        const auto said = line.substr(at + 5, line.find('!', at) - at - 5);
        lockup_ = base::printable(said, most_text, ' ');
        lockup_lines_ = lockup_dump;
        return true;
    }
    if (lockup_lines_ == 0) return false;
    --lockup_lines_;
    const auto frame = frame_of_mlx5(line);
    if (frame.empty() || into.hcas.size() >= most_hca_lines) return false;
    lockup_lines_ = 0; // once a dump
    into.hcas.push_back({{}, fmt::format("{} in {}", lockup_, frame)});
    return true;
}

void Kmsg::parse(std::string_view line, Lines& into) {
    if (auto event = parse_xid(line)) {
        into.xids.push_back(*std::move(event));
        return;
    }
    if (parse_lockup(line, into) || into.hcas.size() >= most_hca_lines) return;
    if (auto said = parse_hca_line(line)) into.hcas.push_back(*std::move(said));
}

std::optional<HcaLine> parse_hca_line(std::string_view line) {
    constexpr std::string_view mark = "mlx5_core";
    const auto found = line.find(mark);
    if (found == std::string_view::npos) return std::nullopt;
    line.remove_prefix(found + mark.size());
    line = line.substr(0, line.find('\n'));
    HcaLine said;
    if (line.starts_with(' ')) {
        line.remove_prefix(1);
        auto device = line.substr(0, line.find(' '));
        if (device.ends_with(':')) device.remove_suffix(1);
        if (is_pci(device)) {
            said.pci = device;
            line.remove_prefix(device.size());
        }
    }
    if (said.pci.empty() && !line.starts_with(": ")) return std::nullopt; // a module's name in other words
    while (line.starts_with(':') || line.starts_with(' '))
        line.remove_prefix(1);
    said.text = base::printable(line, most_text, ' ');
    return said;
}

std::optional<XidEvent> parse_xid(std::string_view line) {
    constexpr std::string_view mark = "NVRM: Xid (";
    const auto found = line.find(mark);
    if (found == std::string_view::npos) return std::nullopt;
    line.remove_prefix(found + mark.size());
    if (line.starts_with("PCI:")) line.remove_prefix(4);
    const auto close = line.find("): ");
    if (close == std::string_view::npos || !is_pci(line.substr(0, close))) return std::nullopt;
    XidEvent event;
    event.pci = line.substr(0, close);
    std::transform(event.pci.begin(), event.pci.end(), event.pci.begin(),
                   [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
    line.remove_prefix(close + 3);
    const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), event.code);
    if (failed != std::errc{} || event.code == 0 || event.code > 9999) return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (line.starts_with(", ")) line.remove_prefix(2);
    event.text = base::printable(without_process(line.substr(0, line.find('\n'))), most_text, ' ');
    return event;
}

base::Expected<Kmsg> Kmsg::open(const std::filesystem::path& path) {
    base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!fd) {
        const auto number = errno;
        auto error = base::system_error(path.string(), number);
        if (number == EPERM || number == EACCES)
            error.text += " (reading the kernel log needs root or CAP_SYSLOG)";
        return error;
    }
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) return base::system_error(path.string(), errno);
    const bool device = S_ISCHR(about.st_mode);
    if (!device && !S_ISREG(about.st_mode))
        return base::Error{base::Code::io,
                           fmt::format("{}: neither a kernel log device nor a file", path.string())};
    Kmsg kmsg(std::move(fd), device);
    if (device && ::lseek(kmsg.fd_.get(), 0, SEEK_END) < 0) return base::system_error(path.string(), errno);
    if (!device) kmsg.offset_ = about.st_size;
    return kmsg;
}

Kmsg::Lines Kmsg::drain() {
    Lines lines;
    if (device_)
        drain_device(lines);
    else
        drain_file(lines);
    return lines;
}

void Kmsg::drain_device(Lines& into) {
    std::array<char, largest_record> record;
    for (int i = 0; i < most_records; ++i) {
        const auto n = ::read(fd_.get(), record.data(), record.size());
        if (n > 0) {
            parse({record.data(), static_cast<std::size_t>(n)}, into);
        } else if (n < 0 && errno == EPIPE) {
            ++lost_; // the ring went round; the next read is of the oldest record that is left
        } else if (!(n < 0 && errno == EINTR)) {
            return; // EAGAIN: that was all
        }
    }
}

void Kmsg::drain_file(Lines& into) {
    struct stat about {};
    if (::fstat(fd_.get(), &about) == 0 && about.st_size < offset_) { // cut off: begin at its new start
        offset_ = 0;
        partial_.clear();
        ++lost_;
    }
    std::array<char, 65536> block;
    for (int i = 0; i < most_records; ++i) {
        const auto n = ::pread(fd_.get(), block.data(), block.size(), offset_);
        if (n <= 0) return;
        offset_ += n;
        partial_.append(block.data(), static_cast<std::size_t>(n));
        std::size_t begin = 0;
        for (std::size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1)
            parse(std::string_view(partial_).substr(begin, end - begin), into);
        partial_.erase(0, begin);
        if (partial_.size() > largest_record) partial_.clear(); // no line of a kernel
    }
}

} // namespace probe
