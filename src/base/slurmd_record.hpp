// What the slurmd running on this host has loaded. slurm.conf only shows what it will load at its next
// restart. spank_rail, inside slurmd, writes this record, and nodewatchd reads it.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace base {

struct SlurmdRecord {
    std::vector<std::string> plugins; // the mapped plugins of Railyard, sorted: "select_rail"
    bool operator==(const SlurmdRecord&) const = default;
};

// The record for a process with these mapped files: the text of /proc/PID/maps.
SlurmdRecord slurmd_record(std::string_view maps);

// Writes the record as slurmd.json into `folder`, which is created if missing (private_folder). The file
// stays locked while this process, or the daemon that it becomes by fork, is alive. Errors: Code::io.
Expected<void> write_slurmd_record(const std::string& folder, const SlurmdRecord& record);

// Reads the record of a running slurmd. Errors: Code::not_found when that slurmd has ended, for example when
// its successor has no spank_rail; Code::io when there is no file; Code::input when it is not such a record.
Expected<SlurmdRecord> read_slurmd_record(const std::string& folder);

} // namespace base
