#include "restart/ckpt/fence.hpp"

#include "base/file.hpp"
#include "base/units.hpp"
#include "restart/ckpt/bjobs.hpp"
#include "restart/ckpt/lock.hpp"
#include "restart/ckpt/name.hpp"
#include "restart/ckpt/squeue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace restart::ckpt {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::size_t remembered_owners = 1000;
constexpr std::size_t largest_file = 1 << 20;

// The number at the start of `text`; advances `text` past it and one separator.
std::optional<std::uint64_t> take_number(std::string_view& text, char separator) {
    const auto end = text.find(separator);
    if (end == std::string_view::npos) return {};
    const auto number = base::parse_count(text.substr(0, end));
    text.remove_prefix(end + 1);
    if (!number) return {};
    return *number;
}

Expected<std::optional<Claims>> read_claims(const std::filesystem::path& file) {
    std::error_code failed;
    const auto status = std::filesystem::symlink_status(file, failed);
    if (status.type() == std::filesystem::file_type::not_found) return std::optional<Claims>{};
    if (failed) return base::system_error(file.string(), failed.value());
    if (status.type() != std::filesystem::file_type::regular)
        return Error{Code::input, fmt::format("{}: is not a regular file: remove it", file.string())};
    const auto text = base::read_file(file, largest_file);
    if (!text) return text.error();
    auto claims = parse_claims(*text);
    if (!claims)
        return Error{Code::input,
                     fmt::format("{}: {}: remove the file if no other incarnation of the job runs",
                                 file.string(), claims.error().text)};
    return std::optional<Claims>(std::move(*claims));
}

// The highest epoch among the names of committed checkpoints.
std::optional<std::uint32_t> highest_epoch(const std::filesystem::path& dir) {
    std::optional<std::uint32_t> highest;
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(dir, failed), end; !failed && entry != end;
         entry.increment(failed))
        if (const auto id = parse_name(published_prefix, entry->path().filename().string()))
            highest = std::max(highest.value_or(0), id->epoch);
    return highest;
}

std::string name_of(const Work& work) {
    return work ? "job " + to_string(work) : "work outside of any job";
}

// Why an incarnation that owned the directory no longer does.
Error fenced(const Claims& claims, const Work& job, std::uint32_t restart) {
    const auto& owner = claims.owners.back();
    if (owner.job != job)
        return {Code::denied, fmt::format("fenced off: {} has taken this checkpoint directory over from {}; "
                                          "give each job that runs at the same time its own directory",
                                          name_of(owner.job), name_of(job))};
    if (claims.epoch - owner.base == restart)
        return {Code::denied,
                fmt::format("fenced off: job {} was started again inside its allocation, and that "
                            "launch owns this checkpoint directory: end this process",
                            to_string(job))};
    return {Code::denied, fmt::format("fenced off: restart {} of job {} owns this checkpoint directory, this "
                                      "is restart {}: end this process",
                                      claims.epoch - owner.base, to_string(job), restart)};
}

// Whether the owner's jobs belong to this user: Slurm may hide jobs of other users.
bool is_mine(const std::filesystem::path& file) {
    struct stat info {};
    return ::lstat(file.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

// Whether `who` may follow the owner. Asks Slurm or LSF if needed.
Expected<void> judge(const std::filesystem::path& file, const Claims& claims, const Claimant& who) {
    const auto& owner = claims.owners.back();
    if (!who.job || !owner.job || who.take_over == owner.job) return may_follow(claims, who, false, "");
    if (!owner.cluster.empty() && !who.cluster.empty() && owner.cluster != who.cluster)
        return may_follow(claims, who, false, fmt::format("it is of cluster {}", owner.cluster));
    if (!is_mine(file)) return may_follow(claims, who, false, "it is another user's");
    const auto state =
        who.lsf ? state_in_lsf(*owner.job.job, *who.job.job) : state_in_queue(*owner.job.job, *who.job.job);
    if (!state) return may_follow(claims, who, false, state.error().text);
    return may_follow(claims, who, state->empty(),
                      state->empty() ? "" : fmt::format("{} says {}", who.lsf ? "bjobs" : "squeue", *state));
}

} // namespace

std::string to_text(const Claims& claims) {
    std::string text = fmt::format("{}\n", claims.epoch);
    for (const auto& owner : claims.owners)
        text += fmt::format("{} {}{}{}\n", to_string(owner.job), owner.base, owner.cluster.empty() ? "" : " ",
                            owner.cluster);
    return text;
}

Expected<Claims> parse_claims(std::string_view text) {
    Claims claims;
    const auto bad = [](std::size_t line, std::string_view what) {
        return Error{Code::input, fmt::format("line {}: {}", line, what)};
    };
    const auto epoch = take_number(text, '\n');
    if (!epoch || *epoch > max_epoch) return bad(1, "an epoch of at most 9999 is wanted");
    claims.epoch = static_cast<std::uint32_t>(*epoch);
    for (std::size_t line = 2; !text.empty(); ++line) {
        const auto end = text.find('\n');
        std::string row(text.substr(0, end)); // an owner without a cluster ends with its base
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (std::count(row.begin(), row.end(), ' ') == 1) row += ' ';
        std::string_view rest = row;
        const auto job = parse_work(rest.substr(0, rest.find(' ')));
        rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
        const auto base = job ? take_number(rest, ' ') : std::nullopt;
        if (end == std::string_view::npos || !base || *base > claims.epoch ||
            rest.find(' ') != std::string_view::npos)
            return bad(line, "\"JOB BASE [CLUSTER]\" is wanted, with BASE at most the epoch");
        claims.owners.push_back({*job, static_cast<std::uint32_t>(*base), std::string(rest)});
    }
    if (claims.owners.empty()) return bad(2, "the owner is missing");
    return claims;
}

bool owns(const Owner& owner, const Claimant& who) {
    return owner.job == who.job &&
           (owner.cluster.empty() || who.cluster.empty() || owner.cluster == who.cluster);
}

Expected<void> may_follow(const Claims& claims, const Claimant& who, bool over, std::string_view why_not) {
    const auto& owner = claims.owners.back();
    if (who.take_over == owner.job) return {};
    const bool followed = std::any_of(claims.owners.begin(), claims.owners.end(),
                                      [&](const Owner& earlier) { return owns(earlier, who); });
    if (followed && who.job) return fenced(claims, who.job, who.restart);
    if (!owner.job || (over && who.job)) return {};
    const auto by_name = fmt::format("name it to fence it off: railckpt's --take-over={0}, or "
                                     "RAIL_CKPT_TAKE_OVER={0}",
                                     to_string(owner.job));
    if (!who.job)
        return Error{Code::denied,
                     fmt::format("job {} owns this checkpoint directory: use another one, or {}",
                                 to_string(owner.job), by_name)};
    return Error{
        Code::denied,
        fmt::format("job {} owns this checkpoint directory and is not known to be over ({}): give each "
                    "job and each task of an array a directory of its own, such as "
                    "$RAIL_CKPT_DIR/$SLURM_JOB_ID; if it is over, {}",
                    to_string(owner.job), why_not, by_name)};
}

Expected<Claims> claim(Claims claims, const Claimant& who, std::optional<std::uint32_t> above) {
    auto& owners = claims.owners;
    const bool again = !owners.empty() && owns(owners.back(), who);
    if (!again) {
        const bool fresh = owners.empty() && !above;
        const auto last = std::max(owners.empty() ? 0 : claims.epoch, above.value_or(0));
        std::erase_if(owners, [&](const Owner& earlier) { return owns(earlier, who); });
        owners.push_back({who.job, fresh ? 0 : last + 1, who.cluster});
        if (owners.size() > remembered_owners) owners.erase(owners.begin());
    }
    std::uint64_t epoch = std::uint64_t{owners.back().base} + who.restart;
    const bool present = again && epoch == claims.epoch;
    if (who.launch && present && *who.launch < epoch) return fenced(claims, who.job, who.restart);
    // The next launch; or one whose epoch is known, but missing from the file because that was lost.
    const auto wanted = present && who.next_launch ? epoch + 1 : std::uint64_t{who.launch.value_or(0)};
    if (wanted > epoch && wanted >= who.restart && (again || owners.size() == 1)) {
        epoch = wanted;
        owners.back().base =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted - who.restart, max_epoch));
    }
    if (epoch > max_epoch)
        return Error{Code::unfit, fmt::format("epoch {} is beyond {}: go on in a new checkpoint directory",
                                              epoch, max_epoch)};
    if (again && epoch < claims.epoch) return fenced(claims, who.job, who.restart);
    claims.epoch = static_cast<std::uint32_t>(epoch);
    return claims;
}

Expected<Fence> Fence::raise(const std::filesystem::path& dir, const Claimant& who) {
    const auto file = dir / "epoch";
    const auto another = [&](const std::optional<Claims>& claims) {
        return claims && !owns(claims->owners.back(), who);
    };
    for (int attempt = 0; attempt < 5; ++attempt) {
        // Asked without the lock; the answer is valid for the owner that was read.
        const auto before = read_claims(file);
        if (!before) return before.error();
        if (another(*before))
            if (auto ok = judge(file, **before, who); !ok) return std::move(ok).error().within(dir.string());
        const auto lock = FileLock::acquire(lock_file(dir), longest_lease);
        if (!lock) return lock.error();
        const auto old = read_claims(file);
        if (!old) return old.error();
        if (another(*old) && **old != before->value_or(Claims{})) continue;
        auto claims = claim(old->value_or(Claims{}), who, *old ? std::nullopt : highest_epoch(dir));
        if (!claims) return std::move(claims).error().within(dir.string());
        if (*old != *claims) {
            if (auto done = base::write_file(file, to_text(*claims)); !done) return std::move(done).error();
            const auto now = read_claims(file);
            if (!now) return now.error();
            if (*now != *claims) continue; // happens only without locks
        }
        Fence fence(file, std::move(*claims));
        if (another(*old)) {
            const auto before_us = (*old)->owners.back().job;
            const bool known_over = before_us && who.take_over != before_us;
            fence.notice_ = fmt::format("{}: taken over from {}{}", dir.string(), name_of(before_us),
                                        known_over ? ", which is over" : "");
        }
        if (!lock->held()) fence.notice_ += (fence.notice_.empty() ? "" : "; ") + lock->missing();
        return fence;
    }
    return Error{Code::unavailable,
                 fmt::format("{}: others claim this directory all the time", dir.string())};
}

Expected<std::string> Fence::foresee(const std::filesystem::path& dir, const Claimant& who) {
    const auto file = dir / "epoch";
    const auto old = read_claims(file);
    if (!old) return old.error();
    if (!*old) return std::string("no one owns the directory: the first that opens it claims it");
    const auto owner = (*old)->owners.back();
    if (!owns(owner, who))
        if (auto ok = judge(file, **old, who); !ok) return std::move(ok).error();
    auto claims = claim(**old, who, {});
    if (!claims) return std::move(claims).error();
    if (owns(owner, who))
        return fmt::format("{} owns the directory, at epoch {}", name_of(owner.job), claims->epoch);
    return fmt::format("{} owned the directory: {} would take it over", name_of(owner.job), name_of(who.job));
}

Expected<void> Fence::check() const {
    const auto now = read_claims(file_);
    if (!now) return now.error();
    if (!*now) return {};
    const auto& mine = claims_.owners.back();
    if ((*now)->owners.back() == mine && (*now)->epoch == claims_.epoch) return {};
    return fenced(**now, mine.job, claims_.epoch - mine.base).within(file_.parent_path().string());
}

Expected<void> Fence::renew() const {
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(file_, ignored))) return check();
    return base::write_file(file_, to_text(claims_));
}

std::filesystem::path lock_file(const std::filesystem::path& dir) {
    return dir / ".lock";
}

std::filesystem::path writer_lock_file(const std::filesystem::path& dir, std::uint32_t epoch) {
    return dir / fmt::format("{}{:04}", writer_lock_prefix, epoch);
}

} // namespace restart::ckpt
