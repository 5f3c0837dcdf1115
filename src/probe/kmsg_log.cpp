#include "probe/kmsg_log.hpp"

#include "base/utf8.hpp"
#include "probe/kernel_lines.hpp"
#include "probe/process_user.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace probe {
namespace {

constexpr std::size_t largest_record = 8192;  // CONSOLE_EXT_LOG_MAX
constexpr int most_records = 10'000;          // per call; a flood must not block the agent
constexpr std::size_t most_lockup_text = 200; // length of the text about a stuck processor

constexpr std::size_t most_driver_lines = 256;

// The lines of one dump: registers, modules and stack; as in NVSentinel.
constexpr int lockup_dump = 150;

// The function of the mlx5 drivers named by a line of a stack trace: " mlx5e_napi_poll+0x1a/0x6c0
// [mlx5_core]". None for a module list, or for an entry that the kernel marks as unreliable: " ?
// mlx5e_napi_poll+0x…".
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

bool Kmsg::parse_lockup(std::string_view message, Lines& into) {
    constexpr std::string_view mark = "BUG: soft lockup - CPU#";
    const auto at = message.find(mark);
    const auto before = message.substr(0, at);
    if (at != std::string_view::npos &&
        (before.empty() || before == "watchdog: " || before == "NMI watchdog: ")) {
        const auto said = message.substr(at + 5, message.find('!', at) - at - 5);
        lockup_ = base::printable(said, most_lockup_text, ' ');
        lockup_lines_ = lockup_dump;
        return true;
    }
    if (lockup_lines_ == 0) return false;
    --lockup_lines_;
    // A register or a stack entry; other messages in between may quote a user.
    if (!message.starts_with(' ') && !message.starts_with("RIP: ") && !message.starts_with("pc : "))
        return false;
    const auto frame = frame_of_mlx5(message);
    if (frame.empty() || into.drivers.size() >= most_driver_lines) return false;
    lockup_lines_ = 0; // once per dump
    into.drivers.push_back({Driver::mlx5, {}, fmt::format("{} in {}", lockup_, frame)});
    return true;
}

// "NVRM: The NVIDIA GPU 0000:30:00.0", "NVRM: (PCI ID: 10de:2330) installed in this system has", "NVRM:
// fallen off the bus and is not responding to commands.": one record, or three lines of a saved log.
std::optional<DriverLine> Kmsg::parse_lost(std::string_view message) {
    constexpr std::string_view begin = "NVRM: The NVIDIA GPU ", lost = "fallen off the bus";
    if (message.starts_with(begin)) {
        named_ = message.substr(begin.size(),
                                message.find_first_not_of("0123456789abcdef:.", begin.size()) - begin.size());
        named_lines_ = 3;
    }
    if (named_lines_ == 0) return std::nullopt;
    --named_lines_;
    if (!message.starts_with("NVRM: ") || message.find(lost) == std::string_view::npos) return std::nullopt;
    named_lines_ = 0;
    return DriverLine{Driver::nvidia, named_, "GPU has fallen off the bus and is not responding to commands"};
}

void Kmsg::parse(std::string_view line, Lines& into) {
    const auto message = message_of(line);
    if (auto event = parse_xid(message)) {
        event->user = user_of_process(event->pid);
        event->job = job_of_process(event->pid);
        into.xids.push_back(*std::move(event));
        return;
    }
    if (parse_lockup(message, into) || into.drivers.size() >= most_driver_lines) return;
    auto said = parse_lost(message);
    if (!said) said = parse_driver_line(message);
    if (said) into.drivers.push_back(*std::move(said));
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
            ++lost_; // overwritten; the next read returns the oldest record left
        } else if (!(n < 0 && errno == EINTR)) {
            return; // EAGAIN: no more records
        }
    }
}

void Kmsg::drain_file(Lines& into) {
    struct stat about {};
    if (::fstat(fd_.get(), &about) == 0 && about.st_size < offset_) { // truncated: start again
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
        if (partial_.size() > largest_record) partial_.clear(); // not a kernel line
    }
}

} // namespace probe
