// Brings files that a program wrote elsewhere into a staging directory.
#pragma once

#include "base/expected.hpp"
#include "base/file.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace restart::ckpt {

// Whether the file is unchanged (size and time of the last change) since `info` was obtained. `info` must be
// taken after opening, which makes a network file system refresh its attributes.
bool is_unchanged(int fd, const struct stat& info);

// copy: the source stays and may change later; blocks are shared if the file system can. link: the source
// becomes the checkpoint's file. It is linked if it has no other name, can be removed, and no process has it
// open for writing, as far as the file system can report that; otherwise it is copied, because published
// files must not be written to. The caller removes the sources after the commit, so that a failure leaves
// them in place.
enum class Import { copy, link };

struct ImportedFile {
    std::filesystem::path path;
    std::string name; // in the checkpoint
    base::FileStamp stamp;
    bool linked = false;
};

struct Imported {
    std::filesystem::path root; // destination
    std::vector<ImportedFile> files;
    std::vector<std::filesystem::path> directories; // sources, deepest first
    std::set<std::string> linked() const;           // names in the checkpoint
};

// Imports everything in the directory `from`, under the same names. Errors: Code::not_found for no such
// directory, Code::usage for a symbolic link or special file, Code::io.
base::Expected<Imported> import_tree(const std::filesystem::path& from, const std::filesystem::path& to,
                                     Import how);

// Imports each file or directory under its last component. Errors as above, and Code::usage for two with the
// same name.
base::Expected<Imported> import_files(const std::vector<std::string>& from, const std::filesystem::path& to,
                                      Import how);

// Replaces `path`, a file in a staging directory, with a copy, so that its other names and processes that
// have it open for writing no longer reach it. Error: Code::io.
base::Expected<void> part(const std::filesystem::path& path);

// Removes the sources of the import, except those that were replaced or changed; directories only if empty.
// Returns what could not be removed.
std::vector<std::string> remove_sources(const Imported& imported);

} // namespace restart::ckpt
