// The writing side of a checkpoint directory: one checkpoint from its empty staging directory to its name.
//
// Order of commit: every file is read, summed and fsynced, then every directory, then the manifest is written
// and fsynced, then under DIR/.lock the fence is checked and the staging directory renamed, then DIR is
// fsynced. A crash before the rename leaves a .stage-… that the next writer removes; a crash after it leaves
// a whole checkpoint.
//
// Races. A second writer of the same incarnation is refused by the writer lock, which a stage holds as long
// as it lives; so every other .stage-… of this epoch is a dead one's. One of an older epoch may still be
// written by a node that was cut off: it may be removed under its writer's feet, for it can never be
// published. Where the file system has no locks, a writer spares what others of its epoch stage.
#pragma once

#include "base/expected.hpp"
#include "restart/ckpt/fence.hpp"
#include "restart/ckpt/lock.hpp"
#include "restart/ckpt/manifest.hpp"
#include "restart/ckpt/published.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace restart::ckpt {

// What a checkpoint cost the job beside the time from open to its publishing, in which the job stands still
// unless `blocked` says otherwise.
struct Spent {
    std::chrono::duration<double> before{};                 // it stood still for this long before open
    std::optional<std::chrono::duration<double>> blocked{}; // in all; the rest was written beside its work
};

class Stage {
public:
    using Clock = std::chrono::steady_clock;

    // Removes what dead writers left, makes the staging directory, starts the clock. The fence must outlive
    // the stage. Errors: Code::denied (fenced), Code::unavailable (another writer), Code::unfit (this step is
    // committed), Code::usage (step too large), Code::io.
    static base::Expected<Stage> open(const std::filesystem::path& dir, const Fence& fence,
                                      std::uint64_t step);

    Stage(Stage&& other) noexcept
        : dir_(std::move(other.dir_)), path_(std::exchange(other.path_, {})), fence_(other.fence_),
          writer_(std::move(other.writer_)), id_(other.id_), begun_(other.begun_) {}
    Stage& operator=(Stage&&) = delete;
    ~Stage(); // an unpublished stage is removed

    const std::filesystem::path& path() const { return path_; }
    Clock::time_point begun() const { return begun_; }

    // Publishes under `job`. `linked`: names of files that have one more link, which the caller removes; any
    // other file of several links is copied first, for it could be written to by its other name. On an error
    // nothing is published and the staging directory is gone. Errors: as open, and Code::usage for a link, a
    // special file or a bad name in it, Code::not_found when it has vanished.
    base::Expected<Published> publish(const Work& job, const Spent& spent,
                                      const std::set<std::string>& linked = {});

    // Removes it. Error: Code::io, something is left.
    base::Expected<void> remove();

private:
    Stage(std::filesystem::path dir, const Fence& fence, FileLock writer, Id id);
    base::Expected<Published> seal_and_rename(const Work& job, const Spent& spent,
                                              const std::set<std::string>& linked);

    std::filesystem::path dir_, path_;
    const Fence* fence_;
    FileLock writer_;
    Id id_;
    Clock::time_point begun_;
};

} // namespace restart::ckpt
