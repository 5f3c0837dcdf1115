// The kernel log, read for XIDs, what drivers say of GPUs, NVSwitches, HCAs and the PCIe ports above them
// (kernel_lines.hpp), and a processor that does not leave mlx5's driver: /dev/kmsg
// (Documentation/ABI/testing/dev-kmsg: one record a read, "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT"), or a
// file that grows, such as a saved log.
//
// Reading begins at the end: what was logged before belongs to an earlier start, and its hardware may have
// been repaired since.
#pragma once

#include "base/expected.hpp"
#include "base/unique_fd.hpp"
#include "probe/sample.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace probe {

class Kmsg {
public:
    // Errors: Code::io naming the file and, without permission, what is needed.
    static base::Expected<Kmsg> open(const std::filesystem::path& path);

    struct Lines {
        std::vector<XidEvent> xids;
        std::vector<DriverLine> drivers; // at most 256: a driver that says more in one call repeats itself
    };
    // What was logged since the last call; never waits. Records that the kernel has overwritten in between
    // (EPIPE) and a truncated file are skipped: `lost` counts such gaps.
    Lines drain();
    std::uint64_t lost() const { return lost_; }

private:
    Kmsg(base::UniqueFd fd, bool device) : fd_(std::move(fd)), device_(device) {}
    void drain_device(Lines& into);
    void drain_file(Lines& into);
    void parse(std::string_view line, Lines& into);
    bool parse_lockup(std::string_view message, Lines& into);
    std::optional<DriverLine> parse_lost(std::string_view message);

    base::UniqueFd fd_;
    bool device_;             // records; otherwise a plain file
    std::int64_t offset_ = 0; // of a plain file
    std::string partial_;     // its last line, not yet ended
    std::uint64_t lost_ = 0;
    std::string lockup_;   // what was said of a processor that is stuck
    int lockup_lines_ = 0; // how many more may be of its stack
    std::string named_;    // the GPU that NVIDIA's driver began to speak of
    int named_lines_ = 0;  // how many more may be about it
};

} // namespace probe
