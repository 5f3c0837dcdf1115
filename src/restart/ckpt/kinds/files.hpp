// Reads a directory of checkpoints without trusting its content: names, sizes and times, and the text of the
// small files that point to the newest checkpoint. Nothing else is read.
//
// Names are relative to the directory, without "." and ".."; "" is the directory itself. No symbolic link is
// followed; what is behind one counts as absent. Every call counts against a limit, so that a directory with
// a million files costs at most `most_looks` requests to its file system.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/unique_fd.hpp"
#include "restart/ckpt/safe_open.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace restart::ckpt::kinds {

inline constexpr unsigned most_looks = 4096;       // of one Files
inline constexpr std::size_t most_names = 100'000; // of one folder
inline constexpr std::size_t most_pointer_bytes = 4096;

struct Entry {
    enum class Type { file, folder, link, other };
    Type type = Type::other;
    std::uint64_t bytes = 0, inode = 0;
    base::Time modified{};
    std::optional<base::Time> born{}; // not on every file system
    bool operator==(const Entry&) const = default;

    bool is_file() const { return type == Type::file; }
    bool is_folder() const { return type == Type::folder; }
    base::Time begun() const { return born && *born < modified ? *born : modified; }
};

// The four queries return nothing if it does not exist. Errors: Code::io, the directory could not be read
// (ESTALE, EIO, EACCES); Code::unavailable, the limit was reached or a folder has more than `most_names`
// entries.
class Files {
public:
    explicit Files(std::string dir, unsigned bound = most_looks) : dir_(std::move(dir)), left_(bound) {}
    virtual ~Files() = default;
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    base::Expected<std::optional<std::vector<std::string>>> names(const std::string& folder); // sorted
    base::Expected<std::optional<Entry>> entry(const std::string& name);
    // Also Code::input: longer than `most_pointer_bytes`, or not a regular file.
    base::Expected<std::optional<std::string>> text(const std::string& file);
    base::Expected<std::optional<std::string>> target(const std::string& link);
    // Whether a process writes to the file; unknown if only this host's processes could be seen.
    Writers writers(const std::string& file);

    const std::string& dir() const { return dir_; }
    std::string path(const std::string& name) const { return name.empty() ? dir_ : dir_ + '/' + name; }
    unsigned looked() const { return looked_; }
    unsigned left() const { return left_; }

protected:
    virtual base::Expected<std::optional<std::vector<std::string>>> read_names(const std::string& folder) = 0;
    virtual base::Expected<std::optional<Entry>> read_entry(const std::string& name) = 0;
    virtual base::Expected<std::optional<std::string>> read_text(const std::string& file) = 0;
    virtual base::Expected<std::optional<std::string>> read_target(const std::string& link) = 0;
    virtual Writers read_writers(const std::string& file) = 0;

private:
    base::Expected<void> count();

    std::string dir_;
    unsigned left_, looked_ = 0;
};

class FilesOnDisk final : public Files {
public:
    // `dir` itself may be a link, as its user named it. Errors: Code::not_found, Code::io.
    static base::Expected<std::unique_ptr<FilesOnDisk>> open(const std::string& dir,
                                                             unsigned bound = most_looks);
    // Whether all writers use this host's kernel, so that its events (inotify(7)) and leases cover every
    // change. False for unknown file systems, by statfs(2).
    bool is_local() const { return local_; }

private:
    FilesOnDisk(std::string dir, unsigned bound, base::UniqueFd root, bool local)
        : Files(std::move(dir), bound), root_(std::move(root)), local_(local) {}

    base::Expected<std::optional<std::vector<std::string>>> read_names(const std::string& folder) override;
    base::Expected<std::optional<Entry>> read_entry(const std::string& name) override;
    base::Expected<std::optional<std::string>> read_text(const std::string& file) override;
    base::Expected<std::optional<std::string>> read_target(const std::string& link) override;
    Writers read_writers(const std::string& file) override;
    base::Expected<std::optional<int>> folder_of(const std::string& name);

    base::UniqueFd root_;
    bool local_;
    std::string kept_; // the folder queried last
    base::UniqueFd kept_fd_;
};

} // namespace restart::ckpt::kinds
