// The kernel log, read for the NVIDIA driver's XID lines: /dev/kmsg (Documentation/ABI/testing/dev-kmsg: one
// record a read, "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT"), or a file that grows, such as a saved log.
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

// The XID in one log line, with or without the record's prefix or a time in brackets. Forms, of the drivers
// since 2012: "NVRM: Xid (PCI:0000:14:00): 79, pid=…, GPU has fallen off the bus." and, older, "NVRM: Xid
// (0000:14:00): 79, …". Absent for every other line.
std::optional<XidEvent> parse_xid(std::string_view line);

class Kmsg {
public:
    // Errors: Code::io naming the file and, without permission, what is needed.
    static base::Expected<Kmsg> open(const std::filesystem::path& path);

    // The XIDs logged since the last call; never waits. Records that the kernel has overwritten in between
    // (EPIPE) and a truncated file are skipped: `lost` counts such gaps.
    std::vector<XidEvent> drain();
    std::uint64_t lost() const { return lost_; }

private:
    Kmsg(base::UniqueFd fd, bool device) : fd_(std::move(fd)), device_(device) {}
    void drain_device(std::vector<XidEvent>& into);
    void drain_file(std::vector<XidEvent>& into);

    base::UniqueFd fd_;
    bool device_;             // records; otherwise a plain file
    std::int64_t offset_ = 0; // of a plain file
    std::string partial_;     // its last line, not yet ended
    std::uint64_t lost_ = 0;
};

} // namespace probe
