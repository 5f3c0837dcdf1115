// railcheck disk: a file is written past the cache, read back and compared, and small writes are made safe.
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

// A file that nobody else sees and that is gone when its process ends, however that is.
class BlockFile {
public:
    virtual ~BlockFile() = default;
    // Whole blocks; 0 or the errno.
    virtual int write(std::span<const std::byte> block, std::uint64_t at) = 0;
    virtual int read(std::span<std::byte> block, std::uint64_t at) = 0;
    virtual int sync() = 0;          // what was written is safe
    virtual void forget_cache() = 0; // what is read next comes from the device, where the system can say so
    virtual bool past_cache() const = 0;
};

// In the folder, by O_TMPFILE where the file system has it, else unlinked at once; by O_DIRECT where it can.
// Errors: Code::io and Code::denied, "PATH: …".
base::Expected<std::unique_ptr<BlockFile>> make_block_file(const std::string& folder);

struct DiskPlan {
    std::uint64_t most_bytes = 0;  // of the file
    base::Duration most_time{};    // of each of writing and reading
    int syncs = 0;                 // small writes
    std::size_t block = 4UL << 20; // bytes, a multiple of 4096
};
DiskPlan disk_plan(int level, std::uint64_t free_bytes);

// Monotonic, in seconds.
using Stopwatch = std::function<double()>;

// disk.write, disk.read and disk.fsync of the file, without verdicts but that of an error or of bytes that
// came back as others (bad). `begin` hears each test before it starts.
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
