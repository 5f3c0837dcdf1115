// railcheck disk: writes a file past the cache, reads it back and compares it, and times small synchronous
// writes.
#pragma once

#include "base/clock.hpp"
#include "check/check.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace check {

// A file that no other process sees and that disappears when its process ends.
class BlockFile {
public:
    virtual ~BlockFile() = default;
    // Whole blocks; 0 or the errno.
    virtual int write(std::span<const std::byte> block, std::uint64_t at) = 0;
    virtual int read(std::span<std::byte> block, std::uint64_t at) = 0;
    virtual int sync() = 0;          // makes what was written durable
    virtual void forget_cache() = 0; // later reads come from the device, if the system supports that
    virtual bool past_cache() const = 0;
};

// Created in the folder, by O_TMPFILE where the file system supports it, else unlinked at once; with O_DIRECT
// where possible. Errors: Code::io and Code::denied, "PATH: …".
base::Expected<std::unique_ptr<BlockFile>> make_block_file(const std::string& folder);

struct DiskPlan {
    std::uint64_t most_bytes = 0;  // of the file
    base::Duration most_time{};    // for writing, and again for reading
    int syncs = 0;                 // small writes
    std::size_t block = 4UL << 20; // bytes, a multiple of 4096
};
DiskPlan disk_plan(int level, std::uint64_t free_bytes);

// Monotonic, in seconds.
using Stopwatch = std::function<double()>;

// disk.write, disk.read and disk.fsync of the file, with a verdict (bad) only for an error or bytes read back
// wrong. `begin` is called with each test before it starts.
std::vector<Result> measure_disk(BlockFile& file, const DiskPlan& plan, const Part& part,
                                 const Stopwatch& clock, const std::function<void(std::string_view)>& begin);

class Disk : public Check {
public:
    void add_options(base::Words& words) override;
    std::vector<Result> run(const Request& request) override;

private:
    std::vector<std::string> paths_;
};

} // namespace check
