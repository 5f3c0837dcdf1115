#include "check/disk.hpp"

#include "base/fnv.hpp"
#include "base/unique_fd.hpp"
#include "check/apart.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>

namespace check {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t page = 4096;
constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

struct Free {
    void operator()(std::byte* block) const { std::free(block); }
};
using Block = std::unique_ptr<std::byte, Free>;

Block make_block(std::size_t bytes) {
    return Block(static_cast<std::byte*>(std::aligned_alloc(page, bytes)));
}

// Words that encode their position in the file, so that a misplaced block is found, too. splitmix64.
std::uint64_t word_at(std::uint64_t at) {
    auto z = at + 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

void fill(std::span<std::byte> block, std::uint64_t at) {
    for (std::size_t i = 0; i < block.size(); i += sizeof(std::uint64_t)) {
        const auto word = word_at(at + i);
        std::memcpy(block.data() + i, &word, sizeof word);
    }
}

// The first byte that differs, as an offset in the file.
std::optional<std::uint64_t> first_wrong(std::span<const std::byte> block, std::uint64_t at) {
    for (std::size_t i = 0; i < block.size(); i += sizeof(std::uint64_t)) {
        const auto word = word_at(at + i);
        if (std::memcmp(block.data() + i, &word, sizeof word) != 0) return at + i;
    }
    return {};
}

class PosixFile : public BlockFile {
public:
    PosixFile(base::UniqueFd fd, bool direct) : fd_(std::move(fd)), direct_(direct) {}
    int write(std::span<const std::byte> block, std::uint64_t at) override {
        return whole(block.size(), [&](std::size_t done) {
            return ::pwrite(fd_.get(), block.data() + done, block.size() - done,
                            static_cast<off_t>(at + done));
        });
    }
    int read(std::span<std::byte> block, std::uint64_t at) override {
        return whole(block.size(), [&](std::size_t done) {
            return ::pread(fd_.get(), block.data() + done, block.size() - done,
                           static_cast<off_t>(at + done));
        });
    }
    int sync() override { return ::fdatasync(fd_.get()) == 0 ? 0 : errno; }
    void forget_cache() override { ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED); }
    bool past_cache() const override { return direct_; }

private:
    template <class Call> static int whole(std::size_t size, const Call& call) {
        for (std::size_t done = 0; done < size;) {
            const auto n = call(done);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return errno;
            if (n == 0) return EIO;
            done += static_cast<std::size_t>(n);
        }
        return 0;
    }
    base::UniqueFd fd_;
    bool direct_;
};

base::UniqueFd open_hidden(const std::string& folder, int flags) {
    base::UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600));
    if (fd || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
    auto name = folder + "/.railcheck-XXXXXX";
    base::UniqueFd named(::mkostemp(name.data(), O_CLOEXEC | flags));
    if (named) ::unlink(name.c_str());
    return named;
}

// An error by permission or lack of space says nothing about the disk.
Verdict verdict_of(int error) {
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EACCES:
    case EPERM:
    case EFBIG: return Verdict::not_run;
    default: return Verdict::bad;
    }
}

std::string words(int error) {
    return std::generic_category().message(error);
}

// Moves blocks until the byte or time limit is reached.
struct Moved {
    std::uint64_t bytes = 0;
    double seconds = 0;
    int error = 0;
    std::optional<std::uint64_t> wrong{};
};

double gigabytes_a_second(const Moved& moved) {
    return static_cast<double>(moved.bytes) / 1e9 / std::max(moved.seconds, 1e-9);
}

Moved write_all(BlockFile& file, const DiskPlan& plan, std::span<std::byte> block, const Stopwatch& clock) {
    Moved moved;
    while (moved.bytes < plan.most_bytes && moved.seconds < base::to_seconds(plan.most_time)) {
        fill(block, moved.bytes);
        const auto start = clock();
        moved.error = file.write(block, moved.bytes);
        moved.seconds += clock() - start;
        if (moved.error != 0) return moved;
        moved.bytes += block.size();
    }
    const auto start = clock();
    moved.error = file.sync();
    moved.seconds += clock() - start;
    return moved;
}

Moved read_all(BlockFile& file, const DiskPlan& plan, std::uint64_t bytes, std::span<std::byte> block,
               const Stopwatch& clock) {
    Moved moved;
    file.forget_cache();
    while (moved.bytes < bytes && moved.seconds < base::to_seconds(plan.most_time)) {
        const auto start = clock();
        moved.error = file.read(block, moved.bytes);
        moved.seconds += clock() - start;
        if (moved.error != 0) return moved;
        if (!moved.wrong) moved.wrong = first_wrong(block, moved.bytes);
        moved.bytes += block.size();
    }
    return moved;
}

} // namespace

base::Expected<std::unique_ptr<BlockFile>> make_block_file(const std::string& folder) {
    auto fd = open_hidden(folder, O_DIRECT);
    const bool direct = static_cast<bool>(fd);
    if (!fd && errno == EINVAL) fd = open_hidden(folder, 0);
    if (!fd) {
        const int failed = errno;
        auto error = base::system_error(folder, failed);
        if (verdict_of(failed) == Verdict::not_run || failed == ENOENT || failed == ENOTDIR)
            error.code = base::Code::denied;
        return error;
    }
    return std::unique_ptr<BlockFile>(std::make_unique<PosixFile>(std::move(fd), direct));
}

DiskPlan disk_plan(int level, std::uint64_t free_bytes) {
    DiskPlan plan;
    if (level == 1) plan = {64 * mebi, 400ms, 8};
    if (level == 2) plan = {4096 * mebi, 10s, 64};
    if (level == 3) plan = {65'536 * mebi, 60s, 256};
    // Leaves room for other users of the disk.
    plan.most_bytes = std::min(plan.most_bytes, free_bytes / 20);
    plan.most_bytes -= plan.most_bytes % plan.block;
    return plan;
}

std::vector<Result> measure_disk(BlockFile& file, const DiskPlan& plan, const Part& part,
                                 const Stopwatch& clock, const std::function<void(std::string_view)>& begin) {
    std::vector<Result> results;
    const auto add = [&](std::string_view test, std::string_view unit) -> Result& {
        return results.emplace_back(
            Result{.check = "disk", .test = std::string(test), .part = part, .unit = std::string(unit)});
    };
    const auto failed = [&](Result& result, int error) {
        result.verdict = verdict_of(error);
        result.says = words(error);
    };
    const auto memory = make_block(plan.block);
    const std::span<std::byte> block(memory.get(), plan.block);

    begin("disk.write");
    const auto written = write_all(file, plan, block, clock);
    auto& write = add("disk.write", "GB/s");
    if (written.error != 0) {
        failed(write, written.error);
        return results;
    }
    write.value = gigabytes_a_second(written);
    if (!file.past_cache()) write.says = "through the cache: this file system has no O_DIRECT";

    begin("disk.read");
    const auto seen = read_all(file, plan, written.bytes, block, clock);
    auto& read = add("disk.read", "GB/s");
    if (seen.error != 0) {
        failed(read, seen.error);
        return results;
    }
    read.value = gigabytes_a_second(seen);
    if (seen.wrong) {
        read.verdict = Verdict::bad;
        read.says =
            fmt::format("byte {} of {} came back as another than was written", *seen.wrong, seen.bytes);
    }

    begin("disk.fsync");
    std::vector<double> times;
    int error = 0;
    for (int i = 0; i < plan.syncs && error == 0; ++i) {
        const auto at = static_cast<std::uint64_t>(i) * page;
        const auto small = block.first(page);
        fill(small, at);
        const auto start = clock();
        error = file.write(small, at);
        if (error == 0) error = file.sync();
        times.push_back(1000 * (clock() - start));
    }
    auto& sync = add("disk.fsync", "ms");
    if (error != 0) {
        failed(sync, error);
        return results;
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                     times.end());
    sync.value = times[times.size() / 2];
    return results;
}

void Disk::add_options(base::Words& words) {
    words
        .add_option("path", paths_,
                    "Folders to try; without: [agent] mounts of railyard.conf(5), else TMPDIR")
        ->type_name("PATH");
}

std::vector<Result> Disk::run(const Request& request) {
    auto paths = paths_.empty() ? request.mounts : paths_;
    if (paths.empty()) {
        const char* temporary = std::getenv("TMPDIR");
        paths.emplace_back(temporary != nullptr && *temporary == '/' ? temporary : "/tmp");
    }
    std::vector<Result> all;
    // One after the other: several paths may be on the same disk.
    for (const auto& path : paths) {
        const Part part{.name = path};
        Task task{.work = {},
                  .deadline = request.level == 1   ? 10s
                              : request.level == 2 ? 60s
                                                   : 300s,
                  .part = part,
                  .test = "disk.open"};
        task.work = [&](Sink& sink) {
            const auto not_run = [&](Verdict verdict, std::string_view test, std::string says) {
                Result result{.check = "disk", .test = std::string(test), .part = part, .verdict = verdict};
                result.says = std::move(says);
                sink.add(result);
            };
            struct statvfs room {};
            if (::statvfs(path.c_str(), &room) != 0)
                return not_run(errno == ENOENT || errno == EACCES ? Verdict::not_run : Verdict::bad,
                               "disk.open", words(errno));
            const auto plan = disk_plan(request.level, std::uint64_t{room.f_bavail} * room.f_frsize);
            if (plan.most_bytes == 0)
                return not_run(Verdict::not_run, "disk.open",
                               "less than 80 MiB are free: too little to try it");
            const auto file = make_block_file(path);
            if (!file)
                return not_run(file.error().code == base::Code::denied ? Verdict::not_run : Verdict::bad,
                               "disk.open", file.error().text);
            const auto seconds = [] {
                return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
                    .count();
            };
            for (auto& one : measure_disk(**file, plan, part, seconds,
                                          [&](std::string_view test) { sink.begin(part, test); })) {
                if (one.verdict == Verdict::measured)
                    judge(one, request.expected, std::vector<std::string>{path});
                sink.add(one);
            }
        };
        auto outcome = std::move(run_apart("disk", {std::move(task)}, request).front());
        std::move(outcome.results.begin(), outcome.results.end(), std::back_inserter(all));
    }
    return all;
}

} // namespace check
