#include "restart/ckpt/fence.hpp"

#include "base/file.hpp"
#include "base/units.hpp"
#include "restart/ckpt/lock.hpp"
#include "restart/ckpt/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <system_error>

namespace restart::ckpt {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::size_t remembered_owners = 1000;
constexpr std::size_t largest_file = 1 << 20;

// The number at the start of `text`, which then begins after it and one separator.
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

Error fenced(const Claims& claims, std::int64_t job, std::uint32_t restart) {
    const auto& owner = claims.owners.back();
    if (owner.job != job)
        return {Code::denied,
                fmt::format("fenced off: job {} has taken this checkpoint directory over from job {}; "
                            "give each job that runs at the same time its own directory",
                            owner.job, job)};
    return {Code::denied, fmt::format("fenced off: restart {} of job {} owns this checkpoint directory, this "
                                      "is restart {}: end this process",
                                      claims.epoch - owner.base, job, restart)};
}

} // namespace

std::string to_text(const Claims& claims) {
    std::string text = fmt::format("{}\n", claims.epoch);
    for (const auto& owner : claims.owners)
        text += fmt::format("{} {}\n", owner.job, owner.base);
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
        const auto job = take_number(text, ' ');
        const auto base = job ? take_number(text, '\n') : std::nullopt;
        if (!base || *job > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
            *base > claims.epoch)
            return bad(line, "\"JOB BASE\" is wanted, with BASE at most the epoch");
        claims.owners.push_back({static_cast<std::int64_t>(*job), static_cast<std::uint32_t>(*base)});
    }
    if (claims.owners.empty()) return bad(2, "the owner is missing");
    return claims;
}

Expected<Claims> claim(Claims claims, std::int64_t job, std::uint32_t restart,
                       std::optional<std::uint32_t> above) {
    auto& owners = claims.owners;
    const auto known =
        std::find_if(owners.begin(), owners.end(), [&](const Owner& o) { return o.job == job; });
    const bool owns = !owners.empty() && owners.back().job == job;
    if (known != owners.end() && !owns && job != 0) return fenced(claims, job, restart);
    if (!owns) {
        const bool fresh = owners.empty() && !above;
        const auto last = std::max(owners.empty() ? 0 : claims.epoch, above.value_or(0));
        if (job == 0 && known != owners.end()) owners.erase(known);
        owners.push_back({job, fresh ? 0 : last + 1});
        if (owners.size() > remembered_owners) owners.erase(owners.begin());
    }
    const std::uint64_t epoch = std::uint64_t{owners.back().base} + restart;
    if (epoch > max_epoch)
        return Error{Code::unfit, fmt::format("epoch {} is beyond {}: go on in a new checkpoint directory",
                                              epoch, max_epoch)};
    if (owns && epoch < claims.epoch) return fenced(claims, job, restart);
    claims.epoch = static_cast<std::uint32_t>(epoch);
    return claims;
}

Expected<Fence> Fence::raise(const std::filesystem::path& dir, std::int64_t job, std::uint32_t restart) {
    const auto lock = FileLock::acquire(lock_file(dir), std::chrono::seconds(10));
    if (!lock) return lock.error();
    const auto file = dir / "epoch";
    auto old = read_claims(file);
    if (!old) return std::move(old).error();
    auto claims = claim(old->value_or(Claims{}), job, restart, *old ? std::nullopt : highest_epoch(dir));
    if (!claims) return std::move(claims).error().within(dir.string());
    if (*old != *claims)
        if (auto done = base::write_file(file, to_text(*claims)); !done) return std::move(done).error();
    return Fence(file, std::move(*claims));
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
