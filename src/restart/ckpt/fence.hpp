// Fencing: who may publish in a checkpoint directory.
//
// A node that was cut off may go on running an incarnation of a job that was restarted elsewhere. DIR/epoch
// records who owns the directory: its first line is the highest epoch, each further line "JOB BASE" is a job
// that has owned it, the last one the owner. An epoch is BASE + the job's restart count, so the first job's
// epochs are its restart counts, and the next job (a chain of jobs over one directory) goes on above them.
// A job that was followed by another, or a restart count below the owner's, is fenced off for good; work
// outside of any job (job 0) has no identity to be told apart by and always counts as new.
//
// The file is replaced by rename(2) under DIR/.lock, so that a claim and the publishing of a checkpoint
// exclude each other.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart::ckpt {

struct Owner {
    std::int64_t job = 0;
    std::uint32_t base = 0;
    bool operator==(const Owner&) const = default;
};

struct Claims {
    std::uint32_t epoch = 0;
    std::vector<Owner> owners; // oldest first; the last one owns the directory
    bool operator==(const Claims&) const = default;
};

std::string to_text(const Claims& claims);

// Errors (Code::input) name the line.
base::Expected<Claims> parse_claims(std::string_view text);

// The claims after `job` in its `restart`-th incarnation has claimed the directory; `above`: the highest
// epoch among its checkpoints, for a directory whose epoch file was lost. Pure. Errors: Code::denied, naming
// the owner; Code::unfit when the epochs (0..9999) are used up.
base::Expected<Claims> claim(Claims claims, std::int64_t job, std::uint32_t restart,
                             std::optional<std::uint32_t> above);

// A claim made in a directory, to be checked again before anything is published there.
class Fence {
public:
    // Takes DIR/.lock while it reads, claims and writes DIR/epoch. Errors: those of claim(), Code::input for
    // a damaged file, Code::unavailable for a lock that is not released in 10 s, Code::io.
    static base::Expected<Fence> raise(const std::filesystem::path& dir, std::int64_t job,
                                       std::uint32_t restart);

    std::uint32_t epoch() const { return claims_.epoch; }

    // Still the owner, as far as can be seen without the lock? A file that has vanished says nothing against
    // it. Errors: Code::denied, Code::input, Code::io.
    base::Expected<void> check() const;

    // The same for good, as long as the caller holds DIR/.lock; a file that has vanished is written again.
    base::Expected<void> renew() const;

private:
    Fence(std::filesystem::path file, Claims claims) : file_(std::move(file)), claims_(std::move(claims)) {}
    std::filesystem::path file_;
    Claims claims_;
};

// Names of the two locks of a directory: around the epoch file and each publishing (held for moments), and
// around the writing of one checkpoint (held from begin to commit). The second is per epoch, because a later
// incarnation must not wait for one that hangs.
std::filesystem::path lock_file(const std::filesystem::path& dir);
std::filesystem::path writer_lock_file(const std::filesystem::path& dir, std::uint32_t epoch);
inline constexpr std::string_view writer_lock_prefix = ".writer-E";

} // namespace restart::ckpt
