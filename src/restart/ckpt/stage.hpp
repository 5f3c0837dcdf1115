// The writing side of a checkpoint directory: one checkpoint from its empty staging directory to its final
// name.
//
// Order of commit: every file is read, summed and fsynced, then every directory, then the manifest is written
// and fsynced, then under DIR/.lock the fence is checked and the staging directory renamed, then DIR is
// fsynced. A crash before the rename leaves a .stage-… that the next writer removes; a crash after it leaves
// a complete checkpoint.
//
// Races. A second writer of the same incarnation is refused by the writer lock, which a stage holds for its
// lifetime; so every other .stage-… of this epoch belongs to a dead writer. One of an older epoch may still
// be written by a node that was cut off: it may be removed while it is written, as it can never be published.
// If the file system has no locks, a writer keeps the stages of others in its epoch.
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

// The cost of a checkpoint in addition to the time from open to publication, during which the job is stopped
// unless `blocked` is set.
struct Spent {
    std::chrono::duration<double> before{};                 // how long the job was stopped before open
    std::optional<std::chrono::duration<double>> blocked{}; // in total; the rest was concurrent with its work
};

class Stage {
public:
    using Clock = std::chrono::steady_clock;

    // Removes leftovers of dead writers, creates the staging directory, starts the clock. The fence must
    // outlive the stage. Errors: Code::denied (fenced), Code::unavailable (another writer), Code::unfit (this
    // step is committed), Code::usage (step too large), Code::io.
    static base::Expected<Stage> open(const std::filesystem::path& dir, const Fence& fence,
                                      std::uint64_t step);

    Stage(Stage&& other) noexcept
        : dir_(std::move(other.dir_)), path_(std::exchange(other.path_, {})), fence_(other.fence_),
          writer_(std::move(other.writer_)), id_(other.id_), begun_(other.begun_) {}
    Stage& operator=(Stage&&) = delete;
    ~Stage(); // an unpublished stage is removed

    const std::filesystem::path& path() const { return path_; }
    Clock::time_point begun() const { return begun_; }

    // Publishes under `job`. `linked`: names of files with one additional link, which the caller removes; any
    // other file with several links is copied first, since it could be written through its other name. On an
    // error nothing is published and the staging directory is gone. Errors: as open, and Code::usage for a
    // link, a special file or a bad name in it, Code::not_found if it has vanished.
    base::Expected<Published> publish(const Work& job, const Spent& spent,
                                      const std::set<std::string>& linked = {});

    // Removes the staging directory. Error: Code::io, something is left.
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
