#include "restart/ckpt/stage.hpp"

#include "base/clock.hpp"
#include "base/unique_fd.hpp"
#include "restart/ckpt/digest.hpp"
#include "restart/ckpt/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

namespace restart::ckpt {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Error;
using base::Expected;
using base::UniqueFd;

struct Tree {
    std::vector<std::string> files;    // relative names, sorted
    std::vector<fs::path> directories; // deepest first, the root last
};

// The content of a staging directory. Errors: Code::usage for what a checkpoint cannot hold.
Expected<Tree> walk(const fs::path& root) {
    Tree tree;
    std::error_code failed;
    if (!fs::is_directory(fs::symlink_status(root, failed)))
        return Error{
            Code::not_found,
            fmt::format(
                "{}: the staging directory has vanished: was it removed, or taken over by a restarted job?",
                root.string())};
    tree.directories.push_back(root);
    for (fs::recursive_directory_iterator entry(root, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const auto& path = entry->path();
        const auto name = path.lexically_relative(root).generic_string();
        const auto type = entry->symlink_status(failed).type();
        if (failed) break;
        if (is_nfs_leftover(path.filename().string())) continue;
        if (auto ok = check_file_name(name); !ok)
            return Error{Code::usage, fmt::format("{}: {}", root.string(), ok.error().text)};
        if (name == manifest_name)
            return Error{Code::usage,
                         fmt::format("{}: this name is Railyard's: call your file otherwise", path.string())};
        if (type == fs::file_type::directory)
            tree.directories.push_back(path);
        else if (type == fs::file_type::regular)
            tree.files.push_back(name);
        else
            return Error{Code::usage,
                         fmt::format("{}: is {}: a checkpoint holds regular files and directories only",
                                     path.string(),
                                     type == fs::file_type::symlink ? "a symbolic link" : "a special file")};
    }
    if (failed) return base::system_error(root.string(), failed.value());
    std::sort(tree.files.begin(), tree.files.end());
    std::reverse(tree.directories.begin(), tree.directories.end());
    return tree;
}

UniqueFd open_to_read(const fs::path& path, int more = O_NOFOLLOW | O_NONBLOCK) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | more));
}

Expected<void> sync_directory(const fs::path& path) {
    const auto fd = open_to_read(path, O_DIRECTORY);
    if (!fd || ::fsync(fd.get()) != 0) return base::system_error(path.string(), errno);
    return {};
}

Expected<ManifestFile> seal_file(const fs::path& root, const std::string& name) {
    const auto path = root / name;
    const auto fd = open_to_read(path);
    if (!fd) return base::system_error(path.string(), errno);
    // First: a network file system may change the file's time when it is written out.
    if (::fsync(fd.get()) != 0) return base::system_error(path.string(), errno);
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return base::system_error(path.string(), errno);
    auto sum = digest_file(fd.get(), path.string());
    if (!sum) return std::move(sum).error();
    if (static_cast<std::uint64_t>(info.st_size) != sum->bytes || !is_unchanged(fd.get(), info))
        return Error{Code::usage,
                     fmt::format("{}: is still being written: all writers must be done before the commit",
                                 path.string())};
    return ManifestFile{name, sum->bytes, std::move(sum->xxh3_128)};
}

// `expected`: one additional link, which its creator removes.
Expected<void> part_if_shared(const fs::path& path, bool expected) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return base::system_error(path.string(), errno);
    return info.st_nlink > (expected ? 2 : 1) ? part(path) : Expected<void>{};
}

Expected<void> write_manifest(const fs::path& path, std::string_view text) {
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!fd) return base::system_error(path.string(), errno);
    while (!text.empty()) {
        const auto n = ::write(fd.get(), text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return base::system_error(path.string(), errno);
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    if (::fsync(fd.get()) != 0) return base::system_error(path.string(), errno);
    return {};
}

// Removes leftovers of dead writers of this and older epochs; see the head of stage.hpp. `alone`: no other
// writer of this epoch can be alive, otherwise its stages are kept. Best effort.
void remove_leftovers(const fs::path& dir, std::uint32_t epoch, bool alone) {
    std::vector<fs::path> dead;
    std::error_code failed;
    const auto own_lock = writer_lock_file(dir, epoch).filename().string();
    for (fs::directory_iterator entry(dir, failed), end; !failed && entry != end; entry.increment(failed)) {
        const auto name = entry->path().filename().string();
        auto id = parse_name(stage_prefix, name);
        if (id && id->epoch == epoch && !alone) continue;
        if (!id) id = parse_name(trash_prefix, name);
        const bool old_lock =
            name.starts_with(writer_lock_prefix) && name.size() == own_lock.size() && name < own_lock;
        if ((id && id->epoch <= epoch) || old_lock) dead.push_back(entry->path());
    }
    for (const auto& path : dead)
        remove_tree(path);
}

// Whether this checkpoint may be published. A damaged one with its name does not prevent it; one that cannot
// be checked does, as it may be good. Errors: Code::unfit if it is already committed, Code::io.
Expected<void> check_room(const fs::path& dir, const Id& id) {
    const auto there = load_published(dir, id, Depth::sizes);
    const auto path = dir / to_name(published_prefix, id);
    if (there) return Error{Code::unfit, path.string() + ": is committed already"};
    std::error_code ignored;
    if (there.error().code == Code::input || !fs::exists(fs::symlink_status(path, ignored))) return {};
    return there.error();
}

} // namespace

Expected<Stage> Stage::open(const fs::path& dir, const Fence& fence, std::uint64_t step) {
    const auto begun = Clock::now();
    if (step > max_step) return Error{Code::usage, fmt::format("step {} is beyond {}", step, max_step)};
    const Id id{fence.epoch(), step};
    if (auto ours = fence.check(); !ours) return std::move(ours).error();
    auto writer = FileLock::acquire(writer_lock_file(dir, id.epoch), base::Duration(0));
    if (!writer && writer.error().code == Code::unavailable)
        return Error{Code::unavailable,
                     fmt::format("{}: another process is writing a checkpoint of the same job: "
                                 "one process begins and commits, the others only write files",
                                 dir.string())};
    if (!writer) return std::move(writer).error();
    remove_leftovers(dir, id.epoch, writer->held());
    if (auto ok = check_room(dir, id); !ok) return std::move(ok).error();
    Stage stage(dir, fence, std::move(*writer), id);
    stage.begun_ = begun;
    if (::mkdir(stage.path_.c_str(), 0777) != 0) {
        const int failed = errno;
        const auto path = std::exchange(stage.path_, {});
        if (failed == EEXIST)
            return Error{
                Code::unavailable,
                fmt::format("{}: another process is writing it, or left it: this file system has no locks "
                            "that could show which; remove it if no other process writes it",
                            path.string())};
        return base::system_error(path.string(), failed);
    }
    return stage;
}

Stage::Stage(fs::path dir, const Fence& fence, FileLock writer, Id id)
    : dir_(std::move(dir)), path_(dir_ / to_name(stage_prefix, id)), fence_(&fence),
      writer_(std::move(writer)), id_(id) {}

Stage::~Stage() {
    if (!path_.empty()) remove_tree(path_);
}

Expected<void> Stage::remove() {
    const auto path = std::exchange(path_, {});
    if (path.empty() || remove_tree(path)) return {};
    return Error{Code::io, fmt::format("{}: could not be removed whole; the next checkpoint tries again",
                                       path.string())};
}

Expected<Published> Stage::publish(const Work& job, const Spent& spent, const std::set<std::string>& linked) {
    auto done = seal_and_rename(job, spent, linked);
    if (done) {
        path_.clear();
        return done;
    }
    static_cast<void>(remove()); // the first error is the one to report,
    // unless a later incarnation has taken the files away: then that is the reason.
    if (auto ours = fence_->check(); !ours && ours.error().code == Code::denied)
        return std::move(ours).error();
    return done;
}

Expected<Published> Stage::seal_and_rename(const Work& job, const Spent& spent,
                                           const std::set<std::string>& linked) {
    if (auto ours = fence_->check(); !ours) return std::move(ours).error(); // avoids useless reads
    const auto tree = walk(path_);
    if (!tree) return tree.error();
    for (const auto& name : tree->files)
        if (auto ok = part_if_shared(path_ / name, linked.contains(name)); !ok) return std::move(ok).error();
    // Start writing all files to the disk before waiting for the first one.
    for (const auto& name : tree->files)
        if (const auto fd = open_to_read(path_ / name))
            ::sync_file_range(fd.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    Manifest manifest;
    manifest.id = id_;
    manifest.job = job;
    for (const auto& name : tree->files) {
        auto file = seal_file(path_, name);
        if (!file) return std::move(file).error();
        manifest.files.push_back(std::move(*file));
    }
    for (const auto& directory : tree->directories)
        if (directory != path_)
            if (auto ok = sync_directory(directory); !ok) return std::move(ok).error();
    manifest.time_s = base::to_seconds(base::now());
    manifest.cost_s = spent.blocked.value_or(Clock::now() - begun_ + spent.before).count();
    if (auto ok = write_manifest(path_ / manifest_name, to_text(manifest)); !ok) return std::move(ok).error();
    if (auto ok = sync_directory(path_); !ok) return std::move(ok).error();

    const auto lock = FileLock::acquire(lock_file(dir_), longest_lease);
    if (!lock) return lock.error();
    if (auto ours = fence_->renew(); !ours) return std::move(ours).error();
    const auto target = dir_ / to_name(published_prefix, id_);
    const auto trash = dir_ / to_name(trash_prefix, id_);
    if (auto ok = check_room(dir_, id_); !ok) return std::move(ok).error();
    remove_tree(trash);
    // A damaged one of the same step is moved away, and removed when its successor is durable.
    const bool replaces = ::rename(target.c_str(), trash.c_str()) == 0;
    const auto withdraw = [&](Error error) {
        if (::rename(target.c_str(), path_.c_str()) != 0)
            path_ = target; // remove it there
        else if (replaces)
            static_cast<void>(::rename(trash.c_str(), target.c_str()));
        return error;
    };
    if (::rename(path_.c_str(), target.c_str()) != 0) {
        auto failed = base::system_error(target.string(), errno);
        if (replaces) static_cast<void>(::rename(trash.c_str(), target.c_str()));
        return failed;
    }
    if (auto ok = sync_directory(dir_); !ok) return withdraw(std::move(ok).error());
    // Without a lock another job may have claimed the directory since the fence was checked.
    if (!lock->held())
        if (auto ours = fence_->check(); !ours) return withdraw(std::move(ours).error());
    if (replaces) remove_tree(trash);
    return Published{target, std::move(manifest)};
}

} // namespace restart::ckpt
