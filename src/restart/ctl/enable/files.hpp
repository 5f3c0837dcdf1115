// Slurm's configuration files on this host: read whole with what they include, and replaced as root may
// replace them.
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

// That nobody but root, this user and `owner` (SlurmUser) can change the file or exchange it or a directory
// above it. Errors (Code::denied) name the one that others can write to.
base::Expected<void> only_ours(const std::filesystem::path& path, const std::string& owner);

// Replaces the file, or makes it, at one stroke: a reader sees the old text or the new. Owner, group and mode
// stay; a new file is root's and 0644. A link is not followed: give the path that it leads to. Refused
// (Code::unfit) when the file is not `before` any more; nothing stands for a file that is not there, and then
// for removing it.
base::Expected<void> replace_file(const std::filesystem::path& path, const std::optional<std::string>& before,
                                  const std::optional<std::string>& after);

// A copy beside the file, with its owner and mode; its name, with `kind` and the time in it.
base::Expected<std::filesystem::path> keep_copy(const std::filesystem::path& path, std::string_view kind,
                                                base::Time now);
// When the file was last kept before a change of this kind, by the names of the copies.
std::optional<base::Time> last_kept(const std::filesystem::path& path, std::string_view kind);
// Removes the copy of that time where the file has the same text again.
void forget_copy(const std::filesystem::path& path, std::string_view kind, base::Time when);
// The text of the copy of that time; nothing when there is none.
std::optional<std::string> kept_text(const std::filesystem::path& path, std::string_view kind,
                                     base::Time when);

} // namespace restart::enable
