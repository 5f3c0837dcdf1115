// What the slurmd that runs on this host has loaded. slurm.conf says only what it will have once it is
// started anew: spank_rail, inside it, writes the record, and nodewatchd reads it.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace base {

struct SlurmdRecord {
    std::vector<std::string> plugins; // those of Railyard that are mapped, sorted: "select_rail"
    bool operator==(const SlurmdRecord&) const = default;
};

// Of a process with these mapped files: the text of /proc/PID/maps.
SlurmdRecord slurmd_record(std::string_view maps);

// Writes the record as slurmd.json into `folder`, which is made when it is missing (private_folder), and
// keeps a lock on the file for as long as this process, or the daemon that it becomes by fork, lives. Errors:
// Code::io.
Expected<void> write_slurmd_record(const std::string& folder, const SlurmdRecord& record);

// The record of a slurmd that still runs. Errors: Code::not_found when that slurmd is over, as when the one
// that came after it has no spank_rail; Code::io when there is no file; Code::input when it is not one of
// ours.
Expected<SlurmdRecord> read_slurmd_record(const std::string& folder);

} // namespace base
