#include "restart/ckpt/published.hpp"

#include "base/unique_fd.hpp"
#include "restart/ckpt/digest.hpp"
#include "restart/ckpt/safe_open.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace restart::ckpt {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::UniqueFd;

constexpr std::size_t largest_manifest = std::size_t{256} << 20;

UniqueFd open_directory(const std::filesystem::path& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

Error damaged(const std::filesystem::path& path, std::string_view name, std::string_view what) {
    return {Code::input, fmt::format("{}/{}: {}", path.string(), name, what)};
}

Error cannot_open(const std::filesystem::path& path, std::string_view name, int number) {
    if (number == ENOENT) return damaged(path, name, "is missing");
    if (number == ELOOP || number == ENOTDIR)
        return damaged(path, name, "is reached through a symbolic link or a file");
    return base::system_error((path / name).string(), number);
}

Expected<std::string> read_manifest(int root, const std::filesystem::path& path) {
    int failed = 0;
    const auto fd = open_beneath(root, manifest_name, failed);
    if (!fd) return cannot_open(path, manifest_name, failed);
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return base::system_error((path / manifest_name).string(), errno);
    if (!S_ISREG(info.st_mode)) return damaged(path, manifest_name, "is not a regular file");
    if (static_cast<std::size_t>(info.st_size) > largest_manifest)
        return damaged(path, manifest_name, fmt::format("is larger than {} bytes", largest_manifest));
    std::string text(static_cast<std::size_t>(info.st_size), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const auto n = ::read(fd.get(), text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return base::system_error((path / manifest_name).string(), errno);
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    text.resize(done);
    return text;
}

Expected<void> verify_file(int root, const std::filesystem::path& path, const ManifestFile& file,
                           Depth depth) {
    int failed = 0;
    const auto fd = open_beneath(root, file.name, failed);
    if (!fd) return cannot_open(path, file.name, failed);
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return base::system_error((path / file.name).string(), errno);
    if (!S_ISREG(info.st_mode)) return damaged(path, file.name, "is not a regular file");
    if (static_cast<std::uint64_t>(info.st_size) != file.bytes)
        return damaged(path, file.name,
                       fmt::format("has {} bytes, the manifest says {}", info.st_size, file.bytes));
    if (depth == Depth::sizes) return {};
    const auto found = digest_file(fd.get(), (path / file.name).string());
    if (!found) return found.error();
    if (found->xxh3_128 != file.xxh3_128)
        return damaged(path, file.name, "its checksum differs from the manifest's");
    return {};
}

} // namespace

Expected<std::vector<Id>> list_published(const std::filesystem::path& dir) {
    std::vector<Id> ids;
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(dir, failed), end; !failed && entry != end;
         entry.increment(failed))
        if (const auto id = parse_name(published_prefix, entry->path().filename().string()))
            ids.push_back(*id);
    if (failed) return base::system_error(dir.string(), failed.value());
    std::sort(ids.begin(), ids.end(), std::greater<>());
    return ids;
}

Expected<Published> load_published(const std::filesystem::path& dir, const Id& id, Depth depth) {
    auto path = dir / to_name(published_prefix, id);
    const auto root = open_directory(path);
    if (!root) {
        if (errno == ELOOP || errno == ENOTDIR)
            return Error{Code::input, path.string() + ": is not a directory"};
        return base::system_error(path.string(), errno);
    }
    const auto text = read_manifest(root.get(), path);
    if (!text) return text.error();
    auto manifest = parse_manifest(*text);
    if (!manifest) return std::move(manifest).error().within((path / manifest_name).string());
    if (manifest->id != id)
        return damaged(path, manifest_name, "belongs to another checkpoint: " + to_name("", manifest->id));
    for (const auto& file : manifest->files)
        if (auto ok = verify_file(root.get(), path, file, depth); !ok) return std::move(ok).error();
    return Published{std::move(path), std::move(*manifest)};
}

Expected<Latest> find_latest(const std::filesystem::path& dir, Depth depth, Wanted wanted) {
    auto ids = list_published(dir);
    if (!ids) return std::move(ids).error();
    const auto further = [](const Id& a, const Id& b) {
        return std::pair(a.step, a.epoch) > std::pair(b.step, b.epoch);
    };
    if (wanted == Wanted::furthest) std::sort(ids->begin(), ids->end(), further);
    Latest latest;
    std::optional<Error> unread;
    auto id = ids->begin();
    for (; id != ids->end() && !latest.newest; ++id) {
        auto found = load_published(dir, *id, depth);
        if (found) {
            latest.newest = std::move(*found);
            continue;
        }
        std::error_code failed;
        const auto there = std::filesystem::symlink_status(dir / to_name(published_prefix, *id), failed);
        if (there.type() == std::filesystem::file_type::not_found) continue;
        latest.skipped.push_back(found.error().text);
        if (found.error().code == Code::input)
            latest.damaged.insert(*id);
        else if (!unread)
            unread = found.error();
    }
    // It may be complete: reporting none would make the job start at its first step.
    if (!latest.newest && unread) return *std::move(unread);
    for (; id != ids->end(); ++id)
        if (id->step > latest.newest->manifest.id.step)
            if (auto found = load_published(dir, *id, Depth::sizes))
                latest.ahead.push_back(std::move(*found));
    std::sort(latest.ahead.begin(), latest.ahead.end(),
              [&](const Published& a, const Published& b) { return further(a.manifest.id, b.manifest.id); });
    return latest;
}

std::string ahead_sentence(const Latest& latest) {
    if (latest.ahead.empty()) return {};
    const auto& best = latest.ahead.front();
    const auto& now = latest.newest->manifest.id;
    return fmt::format(
        "{}: step {} of job {} is further than the newest checkpoint, step {}: a job that did not "
        "resume, or was begun again on purpose, goes on from there; railckpt latest --furthest "
        "names the further one, which is kept until it is passed",
        best.path.string(), best.manifest.id.step, to_string(best.manifest.job), now.step);
}

bool remove_tree(const std::filesystem::path& path) {
    std::error_code failed;
    std::filesystem::remove_all(path, failed);
    return !failed;
}

} // namespace restart::ckpt
