// The kernel log, read for XIDs, driver messages about GPUs, NVSwitches, HCAs and the PCIe ports above them
// (kernel_lines.hpp), and soft lockups in the mlx5 driver: /dev/kmsg (Documentation/ABI/testing/dev-kmsg: one
// record a read, "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT"), or a growing file, such as a saved log.
//
// Reading begins at the end: older messages belong to the time before this start, and the hardware may have
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
    // Errors: Code::io naming the file and, if permission is denied, what is needed.
    static base::Expected<Kmsg> open(const std::filesystem::path& path);

    struct Lines {
        std::vector<XidEvent> xids;
        std::vector<DriverLine> drivers; // at most 256: a driver that logs more in one call repeats itself
    };
    // The messages logged since the last call; never waits. Records that the kernel has overwritten in
    // between (EPIPE) and truncated files are skipped: `lost` counts these gaps.
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
    bool device_;             // device with records; otherwise a plain file
    std::int64_t offset_ = 0; // of a plain file
    std::string partial_;     // its last line, still incomplete
    std::uint64_t lost_ = 0;
    std::string lockup_;   // the text about a stuck processor
    int lockup_lines_ = 0; // how many more lines may belong to its stack
    std::string named_;    // the GPU named by the NVIDIA driver's first line
    int named_lines_ = 0;  // how many more lines may be about it
};

} // namespace probe
