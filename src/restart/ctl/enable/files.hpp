// Slurm's configuration files on this host: read in full with what they include, and replaced as root may do.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/ctl/enable/slurm_text.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart::enable {

// slurm.conf, then the files that it includes; paths without links. Errors: one of them cannot be read, or
// includes itself.
base::Expected<std::vector<TextFile>> read_slurm_conf(const std::filesystem::path& path);

// That only root, this user and `owner` (SlurmUser) can change the file or replace it or a directory above
// it. Errors (Code::denied) name the one that others can write to.
base::Expected<void> only_ours(const std::filesystem::path& path, const std::string& owner);

// Replaces the file, or makes it, atomically: a reader sees the old text or the new. Owner, group and mode
// stay; a new file is root's and 0644. A link is not followed: pass the path that it leads to. Refused
// (Code::unfit) when the file is not `before` any more; none means that the file does not exist, or is to be
// removed.
base::Expected<void> replace_file(const std::filesystem::path& path, const std::optional<std::string>& before,
                                  const std::optional<std::string>& after);

// A copy next to the file, with its owner and mode; returns its name, with `kind` and the time in it.
base::Expected<std::filesystem::path> keep_copy(const std::filesystem::path& path, std::string_view kind,
                                                base::Time now);
// When the file was last kept before a change of this kind, by the names of the copies.
std::optional<base::Time> last_kept(const std::filesystem::path& path, std::string_view kind);
// Removes the copy of that time if the file has the same text again.
void forget_copy(const std::filesystem::path& path, std::string_view kind, base::Time when);
// The text of the copy of that time; none if it does not exist.
std::optional<std::string> kept_text(const std::filesystem::path& path, std::string_view kind,
                                     base::Time when);

} // namespace restart::enable
