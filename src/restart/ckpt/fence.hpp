// Fencing: who may publish in a checkpoint directory.
//
// A node that was cut off may go on running an incarnation of a job that was restarted elsewhere. DIR/epoch
// records who owns the directory: its first line is the highest epoch, each further line "JOB BASE [CLUSTER]"
// is a job that has owned it, the last one the owner. An epoch is BASE + the job's restart count, so the
// first job's epochs are its restart counts, and the next job (a chain of jobs over one directory) goes on
// above them.
//
// A restart count below the owner's is fenced off for good. Another job becomes the owner only when the owner
// has ended (squeue.hpp, bjobs.hpp), or when it names the owner to be taken over; then that one is fenced off
// for good, too. Work outside of any job (JOB 0) has no identity that could be checked: any job may follow
// it, and it follows a job only by name.
//
// A job whose step is started again inside its allocation (railrun(1)) keeps its restart count. railrun gives
// each such launch an epoch of its own by raising the job's BASE, and tells the launch which one it is
// (RAIL_CKPT_LAUNCH): a launch before the last is fenced off like an earlier start.
//
// The file is replaced by rename(2) under DIR/.lock, so that a claim and the publishing of a checkpoint
// exclude each other. Where the file system has no locks, a claim is read again after it was written, and a
// publisher looks again after its rename and takes it back: in either order, one of the two sees the other.
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
    std::string cluster{}; // Slurm's; "" when it is not known
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
    std::uint32_t restart = 0; // how often it was restarted
    std::string cluster{};
    std::optional<Work> take_over{};       // the owner to fence off, by name
    std::optional<std::uint32_t> launch{}; // its launch's epoch, as railrun was given it
    bool next_launch = false;              // it is railrun, and what it starts gets an epoch of its own
    bool lsf = false;                      // LSF knows whether the owner is over, not Slurm
};

// Does this job own it? A cluster that is not known agrees with any.
bool owns(const Owner& owner, const Claimant& who);

// May `who` become the owner in place of the last of `claims`, who is another? `over`: that one is known to
// have ended; `why_not` completes a refusal. Pure. Errors (Code::denied) name the owner and the ways out.
base::Expected<void> may_follow(const Claims& claims, const Claimant& who, bool over,
                                std::string_view why_not);

// The claims after `who` has claimed the directory, which it may; `above`: the highest epoch among its
// checkpoints, for a directory whose epoch file was lost. Pure. Errors: Code::denied for an older restart
// count or launch, naming the owner's; Code::unfit when the epochs (0..9999) are used up.
base::Expected<Claims> claim(Claims claims, const Claimant& who, std::optional<std::uint32_t> above);

// A claim made in a directory, to be checked again before anything is published there.
class Fence {
public:
    // Asks Slurm or LSF about the owner where it is another job (squeue.hpp, bjobs.hpp), then takes DIR/.lock
    // while it reads, claims and writes DIR/epoch. Errors: those of may_follow() and claim(), Code::input for
    // a damaged file, Code::unavailable for a lock that is not released within longest_lease or others that
    // claim it all the time, Code::io.
    static base::Expected<Fence> raise(const std::filesystem::path& dir, const Claimant& who);

    // What raise() would do now, for people; nothing is changed. Errors: raise()'s.
    static base::Expected<std::string> foresee(const std::filesystem::path& dir, const Claimant& who);

    // Notes on the claim for the user: which job it followed, a file system without locks. "": none.
    const std::string& notice() const { return notice_; }

    std::uint32_t epoch() const { return claims_.epoch; }
    std::uint32_t base() const { return claims_.owners.back().base; } // the job's first epoch

    // Whether it is still the owner, as far as can be seen without the lock; yes if the file has vanished.
    // Errors: Code::denied, Code::input, Code::io.
    base::Expected<void> check() const;

    // The same, and certain while the caller holds DIR/.lock; a file that has vanished is written again.
    base::Expected<void> renew() const;

private:
    Fence(std::filesystem::path file, Claims claims) : file_(std::move(file)), claims_(std::move(claims)) {}
    std::filesystem::path file_;
    Claims claims_;
    std::string notice_{};
};

// Names of the two locks of a directory: around the epoch file and each publishing (held for moments), and
// around the writing of one checkpoint (held from begin to commit). The second is per epoch, because a later
// incarnation must not wait for one that hangs.
std::filesystem::path lock_file(const std::filesystem::path& dir);
std::filesystem::path writer_lock_file(const std::filesystem::path& dir, std::uint32_t epoch);
inline constexpr std::string_view writer_lock_prefix = ".writer-E";

} // namespace restart::ckpt
