// Whole files, read with a size limit and written atomically: a reader sees the old or the new text, never
// part of it.
#pragma once

#include "base/expected.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace base {

// The file's bytes; "-" is standard input. A file larger than `most` bytes is refused (Code::input).
Expected<std::string> read_file(const std::filesystem::path& path, std::size_t most = std::size_t{1} << 30);

// Identifies one version of a file; all 0 when it does not exist. Take it before reading the file: a change
// in between is then noticed the next time.
struct FileStamp {
    std::int64_t seconds = 0, nanoseconds = 0; // of its last change
    std::uint64_t size = 0, inode = 0, device = 0;
    bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::filesystem::path& path);

// Writes next to it, fsyncs, renames over it and fsyncs the directory. On any error the old file is unchanged
// and no temporary file is left. The mode of an existing file is kept; a new one gets `mode`.
Expected<void> write_file(const std::filesystem::path& path, std::string_view bytes, unsigned mode = 0644);

// Like write_file, but does nothing if the file already holds exactly these bytes (its mtime is kept). True:
// written.
Expected<bool> write_file_if_changed(const std::filesystem::path& path, std::string_view bytes,
                                     unsigned mode = 0644);

} // namespace base
