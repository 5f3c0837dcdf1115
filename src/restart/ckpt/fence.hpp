// Fencing: who may publish in a checkpoint directory.
//
// A node that was cut off may continue to run an incarnation of a job that was restarted elsewhere. DIR/epoch
// records who owns the directory: its first line is the highest epoch, each further line "JOB BASE [CLUSTER]"
// is a job that has owned it, the last one the owner. An epoch is BASE + the job's restart count, so the
// first job's epochs are its restart counts, and the next job (a chain of jobs over one directory) continues
// above them.
//
// A restart count below the owner's is fenced off permanently. Another job becomes the owner only if the
// owner has ended (squeue.hpp, bjobs.hpp), or if it names the owner to take over; that job is then fenced off
// permanently, too. Work outside of any job (JOB 0) has no identity that could be checked: any job may follow
// it, and it may follow a job only by naming it.
//
// A job whose step is restarted inside its allocation (railrun(1)) keeps its restart count. railrun gives
// each such launch its own epoch by raising the job's BASE, and passes the epoch to the launch
// (RAIL_CKPT_LAUNCH): a launch before the last is fenced off like an earlier start.
//
// The file is replaced by rename(2) under DIR/.lock, so that a claim and the publication of a checkpoint
// exclude each other. If the file system has no locks, a claim is read again after it was written, and a
// publisher checks again after its rename and reverts it: in either order, one of the two sees the other.
#pragma once

#include "base/expected.hpp"
#include "restart/ckpt/work.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart::ckpt {

struct Owner {
    Work job{};
    std::uint32_t base = 0;
    std::string cluster{}; // Slurm's; "" if unknown
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

// The process that wants to own a directory.
struct Claimant {
    Work job{};
    std::uint32_t restart = 0; // restart count
    std::string cluster{};
    std::optional<Work> take_over{};       // the owner to fence off, named by the user
    std::optional<std::uint32_t> launch{}; // its launch's epoch, from railrun
    bool next_launch = false;              // it is railrun, and its launch gets a new epoch
    bool lsf = false;                      // ask LSF, not Slurm, whether the owner has ended
};

// Whether this job owns it. An unknown cluster matches any.
bool owns(const Owner& owner, const Claimant& who);

// Whether `who` may replace the owner, the last of `claims`, which is a different one. `over`: the owner is
// known to have ended; `why_not` completes a refusal. Pure. Errors (Code::denied) name the owner and the ways
// out.
base::Expected<void> may_follow(const Claims& claims, const Claimant& who, bool over,
                                std::string_view why_not);

// The claims after `who`, which is allowed to, has claimed the directory; `above`: the highest epoch among
// its checkpoints, for a directory whose epoch file was lost. Pure. Errors: Code::denied for an older restart
// count or launch, naming the owner's; Code::unfit when the epochs (0..9999) are used up.
base::Expected<Claims> claim(Claims claims, const Claimant& who, std::optional<std::uint32_t> above);

// A claim on a directory, to be checked again before anything is published there.
class Fence {
public:
    // Asks Slurm or LSF about the owner if it is another job (squeue.hpp, bjobs.hpp), then takes DIR/.lock
    // while it reads, claims and writes DIR/epoch. Errors: those of may_follow() and claim(), Code::input for
    // a damaged file, Code::unavailable for a lock that is not released within longest_lease or if others
    // keep claiming it, Code::io.
    static base::Expected<Fence> raise(const std::filesystem::path& dir, const Claimant& who);

    // What raise() would do now, for people; nothing is changed. Errors: raise()'s.
    static base::Expected<std::string> foresee(const std::filesystem::path& dir, const Claimant& who);

    // Notes on the claim for the user: which job it followed, a file system without locks. "": none.
    const std::string& notice() const { return notice_; }

    std::uint32_t epoch() const { return claims_.epoch; }
    std::uint32_t base() const { return claims_.owners.back().base; } // the job's first epoch

    // Whether it is still the owner, as far as can be seen without the lock; yes if the file is gone. Errors:
    // Code::denied, Code::input, Code::io.
    base::Expected<void> check() const;

    // The same, and reliable while the caller holds DIR/.lock; rewrites a missing file.
    base::Expected<void> renew() const;

private:
    Fence(std::filesystem::path file, Claims claims) : file_(std::move(file)), claims_(std::move(claims)) {}
    std::filesystem::path file_;
    Claims claims_;
    std::string notice_{};
};

// Names of the two locks of a directory: for the epoch file and each publication (held briefly), and for
// writing one checkpoint (held from begin to commit). The second is per epoch, because a later incarnation
// must not wait for one that hangs.
std::filesystem::path lock_file(const std::filesystem::path& dir);
std::filesystem::path writer_lock_file(const std::filesystem::path& dir, std::uint32_t epoch);
inline constexpr std::string_view writer_lock_prefix = ".writer-E";

} // namespace restart::ckpt
